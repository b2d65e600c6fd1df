import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AssemblyInputs, digestOf, provideAssembly, synthesize } from '../synthesis.ts';
import { useFolder } from './fixtures.ts';

const folder = useFolder();
/** Runs an app with this source, as the CDK's command would. */
const command = (source: string) => [process.execPath, folder.write('app.mjs', source)] as const;

/** An app that writes an assembly, and this text beside it. */
const writing = (text: string, more = '') => `
  import { mkdirSync, writeFileSync } from 'node:fs';
  const out = process.env.CDK_OUTDIR;
  mkdirSync(out, { recursive: true });
  const properties = { templateFile: 'T.json' };
  const artifacts = { Test: { type: 'aws:cloudformation:stack', properties } };
  writeFileSync(out + '/manifest.json', JSON.stringify({ artifacts }));
  writeFileSync(out + '/T.json', '{"Resources":{}}');
  writeFileSync(out + '/output.txt', ${text});
  ${more}
`;

describe('the synthesis', () => {
  async function run(source: string, options: { signal?: AbortSignal } = {}): Promise<string> {
    const directory = join(folder.path, 'out');
    await synthesize({
      directory,
      context: { stage: 'dev' },
      command: command(source),
      ...options,
    });
    return readFileSync(join(directory, 'output.txt'), 'utf8');
  }

  test('passes the settings, and no other environment variables, to the app', async () => {
    process.env.EMULATOR_TEST_SETTING = 'x';
    const names = await run(writing('Object.keys(process.env).join()'));
    delete process.env.EMULATOR_TEST_SETTING;
    expect(names).toContain('CDK_OUTDIR');
    expect(names).not.toContain('EMULATOR_TEST_SETTING');
    expect(JSON.parse(await run(writing('process.env.CDK_CONTEXT_JSON')))).toEqual({
      'aws:cdk:enable-asset-metadata': true,
      stage: 'dev',
    });
  });

  test.each([
    ['prints', `console.error('app: setting x is wrong'); process.exit(1)`, 'setting x is wrong'],
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
});

/** What the assembly of the tests depends on. */
const sources = ['bin', 'lambdas', 'cdk.json', 'package-lock.json'];
const files = {
  'bin/app.ts': 'app',
  'lambdas/send/handler.ts': 'handler',
  'cdk.json': '{}',
  'package-lock.json': '{}',
};

beforeEach(() => {
  for (const [name, content] of Object.entries(files)) folder.write(name, content);
});

const digest = (inputs: Partial<AssemblyInputs> = {}) =>
  digestOf({
    root: folder.path,
    sources,
    context: { stage: 'dev' },
    parent: '/tmp',
    nodeVersion: 'v24.0.0',
    ...inputs,
  });

describe('the digest', () => {
  test('stays the same while nothing changes', async () => {
    const before = await digest();
    folder.write('lambdas/send/handler.ts', files['lambdas/send/handler.ts']);
    folder.write('test/lambdas/send/send.test.ts', 'not an input');
    expect(await digest()).toBe(before);
  });

  const newFiles = ['bin/new.ts', 'lambdas/new/deep/new.txt'];

  test.each([...Object.keys(files), ...newFiles])('changes with %s', async (name) => {
    const before = await digest();
    // Even an empty file changes it.
    folder.write(name, '');
    expect(await digest()).not.toBe(before);
  });

  test('changes if content moves from one file to the next', async () => {
    folder.write('bin/a', 'xy');
    folder.write('bin/b', 'z');
    const before = await digest();
    folder.write('bin/a', 'x');
    folder.write('bin/b', 'yz');
    expect(await digest()).not.toBe(before);
  });

  test.each<[string, Partial<AssemblyInputs>]>([
    ['a setting', { context: { stage: 'prod' } }],
    ['the Node version', { nodeVersion: 'v24.0.1' }],
    ['the directory that source maps are relative to', { parent: '/var/tmp' }],
  ])('changes with %s', async (_, other) => {
    expect(await digest(other)).not.toBe(await digest());
  });
});

describe('an assembly', () => {
  let syntheses: number;

  /** Provides the assembly of a test app. @returns the text that the app wrote. */
  async function provide(app = writing(`'text'`), context = {}): Promise<string> {
    const directory = mkdtempSync(join(folder.path, 'out-'));
    await provideAssembly({
      directory,
      context,
      command: command(app),
      root: folder.path,
      sources,
      cache: join(folder.path, 'cache'),
      onSynthesis: () => {
        syntheses += 1;
      },
    });
    return readFileSync(join(directory, 'output.txt'), 'utf8');
  }

  const cached = () => {
    const path = join(folder.path, 'cache');
    return existsSync(path) ? readdirSync(path) : [];
  };

  beforeEach(() => {
    syntheses = 0;
  });

  test('is synthesized once while its inputs stay the same, and replaces the previous one', async () => {
    expect(await provide(writing(`'first'`))).toBe('first');
    expect(await provide(writing(`'second'`))).toBe('first');
    expect(syntheses).toBe(1);
    const before = cached();
    folder.write('lambdas/send/handler.ts', 'other');
    expect(await provide(writing(`'second'`))).toBe('second');
    expect(cached()).toHaveLength(1);
    expect(cached()).not.toEqual(before);
  });

  test('is not cached if the synthesis fails', async () => {
    const failing = `import { writeFileSync } from 'node:fs';
      writeFileSync(process.env.CDK_OUTDIR + '/output.txt', 'incomplete'); process.exit(1);`;
    await expect(provide(failing)).rejects.toThrow('The CDK app failed');
    expect(cached()).toEqual([]);
    expect(await provide(writing(`'complete'`))).toBe('complete');
  });

  test('is not cached if an input changes during the synthesis', async () => {
    const source = join(folder.path, 'lambdas/send/handler.ts');
    const changing = writing(`'mixed'`, `writeFileSync(${JSON.stringify(source)}, 'changed');`);
    expect(await provide(changing)).toBe('mixed');
    expect(cached()).toEqual([]);
  });

  test('can be synthesized twice at the same time', async () => {
    expect(await Promise.all([provide(), provide()])).toEqual(['text', 'text']);
    expect(cached()).toHaveLength(1);
  });
});
