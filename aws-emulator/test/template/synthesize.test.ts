import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { useFolder } from '../../../test/fixtures/folder.ts';
import { synthesize } from '../../template/synthesize.ts';

const folder = useFolder();

/** Runs a test app instead of the CDK app. */
const run = (source: string, options: { signal?: AbortSignal } = {}) =>
  synthesize({
    directory: join(folder.path, 'out'),
    context: { stage: 'dev' },
    app: folder.write('app.mjs', source),
    ...options,
  });

const writing = `
  import { mkdirSync, writeFileSync } from 'node:fs';
  const out = process.env.CDK_OUTDIR;
  mkdirSync(out);
  const properties = { templateFile: 'T.json' };
  const artifacts = { Test: { type: 'aws:cloudformation:stack', properties } };
  writeFileSync(out + '/manifest.json', JSON.stringify({ artifacts }));
  const Metadata = JSON.parse(process.env.CDK_CONTEXT_JSON);
  writeFileSync(out + '/T.json', JSON.stringify({ Resources: { A: { Type: 'X', Metadata } } }));
`;

test('does not pass other environment variables to the app', async () => {
  process.env.CARILLON_TEST_SETTING = 'x';
  const { template } = await run(
    writing.replace('process.env.CDK_CONTEXT_JSON', `JSON.stringify(Object.keys(process.env))`),
  );
  delete process.env.CARILLON_TEST_SETTING;
  const names = Object.values(template.Resources.A!.Metadata!);
  expect(names).toContain('CDK_OUTDIR');
  expect(names).not.toContain('CARILLON_TEST_SETTING');
});

test.each([
  [
    'prints',
    `console.error('carillon: setting x is wrong'); process.exit(1)`,
    'setting x is wrong',
  ],
  ['throws', `console.error('noise'); throw new TypeError('x is not y')`, 'x is not y'],
])('throws the message that a failing app %s', async (_, source, message) => {
  await expect(run(source)).rejects.toThrow(new Error(`The CDK app failed: ${message}`));
});

test('can be aborted', async () => {
  const abort = new AbortController();
  const running = run('setInterval(() => {}, 1000);', { signal: abort.signal });
  abort.abort();
  await expect(running).rejects.toMatchObject({ name: 'AbortError' });
  expect(existsSync(join(folder.path, 'out'))).toBe(false);
});
