import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useFolder } from '../../../test/fixtures/folder.ts';
import { type AssemblyInputs, digestOf, provideAssembly } from '../../template/assembly-cache.ts';

const folder = useFolder();
beforeEach(() => {
  for (const [name, content] of Object.entries(repository)) folder.write(name, content);
});

const repository = {
  'bin/app.ts': 'app',
  'console/page/main.tsx': 'page',
  'contract/routes.ts': 'routes',
  'lambdas/send/handler.ts': 'handler',
  'lib/carillon-stack.ts': 'stack',
  'sdk/common/error.ts': 'error',
  'sdk/server/project-client.ts': 'client',
  'aws-emulator/template/synthesize.ts': 'synthesize',
  'cdk.json': '{}',
  'package.json': '{}',
  'package-lock.json': '{}',
  'tsconfig.json': '{}',
  'node_modules/.package-lock.json': '{}',
};

const digest = (inputs: Partial<AssemblyInputs> = {}) =>
  digestOf({
    root: folder.path,
    context: { stage: 'dev' },
    parent: '/tmp',
    nodeVersion: 'v24.0.0',
    ...inputs,
  });

describe('the digest', () => {
  test('stays the same while nothing changes', async () => {
    const before = await digest();
    folder.write('lambdas/send/handler.ts', repository['lambdas/send/handler.ts']);
    folder.write('test/lambdas/send/send.test.ts', 'not an input');
    expect(await digest()).toBe(before);
  });

  const newFiles = ['bin/new.ts', 'lambdas/new/deep/new.txt', 'lib/new'];

  test.each([...Object.keys(repository), ...newFiles])('changes with %s', async (name) => {
    const before = await digest();
    // Even an empty file changes it.
    folder.write(name, '');
    expect(await digest()).not.toBe(before);
  });

  test('changes if content moves from one file to the next', async () => {
    folder.write('lib/a', 'xy');
    folder.write('lib/b', 'z');
    const before = await digest();
    folder.write('lib/a', 'x');
    folder.write('lib/b', 'yz');
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
  async function provide(app = writing('text'), context = {}): Promise<string> {
    const directory = mkdtempSync(join(folder.path, 'out-'));
    await provideAssembly({
      directory,
      context,
      root: folder.path,
      app: folder.write('app.mjs', app),
      onSynthesis: () => {
        syntheses += 1;
      },
    });
    return readFileSync(join(directory, 'output.txt'), 'utf8');
  }

  const writing = (text: string, more = '') => `
    import { mkdirSync, writeFileSync } from 'node:fs';
    const out = process.env.CDK_OUTDIR;
    const properties = { templateFile: 'T.json' };
    const artifacts = { Test: { type: 'aws:cloudformation:stack', properties } };
    writeFileSync(out + '/manifest.json', JSON.stringify({ artifacts }));
    writeFileSync(out + '/T.json', '{"Resources":{}}');
    writeFileSync(out + '/output.txt', ${JSON.stringify(text)});
    ${more}
  `;

  const cached = () => {
    const path = join(folder.path, '.carillon/assemblies');
    return existsSync(path) ? readdirSync(path) : [];
  };

  beforeEach(() => {
    syntheses = 0;
  });

  test('is synthesized once while its inputs stay the same, and replaces the previous one', async () => {
    expect(await provide(writing('first'))).toBe('first');
    expect(await provide(writing('second'))).toBe('first');
    expect(syntheses).toBe(1);
    const before = cached();
    folder.write('lib/carillon-stack.ts', 'other');
    expect(await provide(writing('second'))).toBe('second');
    expect(cached()).toHaveLength(1);
    expect(cached()).not.toEqual(before);
  });

  test('is not cached if the synthesis fails', async () => {
    const failing = `import { writeFileSync } from 'node:fs';
      writeFileSync(process.env.CDK_OUTDIR + '/output.txt', 'incomplete'); process.exit(1);`;
    await expect(provide(failing)).rejects.toThrow('The CDK app failed');
    expect(cached()).toEqual([]);
    expect(await provide(writing('complete'))).toBe('complete');
  });

  test('is not cached if an input changes during the synthesis', async () => {
    const source = join(folder.path, 'lambdas/send/handler.ts');
    const changing = writing('mixed', `writeFileSync(${JSON.stringify(source)}, 'changed');`);
    expect(await provide(changing)).toBe('mixed');
    expect(cached()).toEqual([]);
  });

  test('can be synthesized twice at the same time', async () => {
    expect(await Promise.all([provide(), provide()])).toEqual(['text', 'text']);
    expect(cached()).toHaveLength(1);
  });
});
