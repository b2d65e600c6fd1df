import { existsSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AssemblyInputs,
  digestOf,
  provideAssembly,
} from '../../../local/template/assembly-cache.ts';
import { type Folder, temporaryFolder } from '../../fixtures/folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = temporaryFolder();
  for (const [name, content] of Object.entries(repository)) folder.write(name, content);
});
afterEach(() => folder.remove());

const repository = {
  'bin/carillon.ts': 'app',
  'contract/routes.ts': 'routes',
  'lambdas/send/handler.ts': 'handler',
  'lib/carillon-stack.ts': 'stack',
  'local/template/synthesize.ts': 'synthesize',
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

  test.each(Object.keys(repository))('changes with %s', async (name) => {
    const before = await digest();
    folder.write(name, 'other');
    expect(await digest()).not.toBe(before);
  });

  test.each(['bin/new.ts', 'lambdas/new/deep/new.txt', 'lib/new'])(
    'changes with a new file %s, even an empty one',
    async (name) => {
      const before = await digest();
      folder.write(name, '');
      expect(await digest()).not.toBe(before);
    },
  );

  test('changes with what a link leads to', async () => {
    const target = folder.write('elsewhere.ts', 'one');
    symlinkSync(target, join(folder.path, 'lib/link.ts'));
    const before = await digest();
    folder.write('elsewhere.ts', 'two');
    expect(await digest()).not.toBe(before);
  });

  test('changes where content moves from one file to the next', async () => {
    folder.write('lib/a', 'xy');
    folder.write('lib/b', 'z');
    const before = await digest();
    folder.write('lib/a', 'x');
    folder.write('lib/b', 'yz');
    expect(await digest()).not.toBe(before);
  });

  test.each<[string, Partial<AssemblyInputs>]>([
    ['a setting', { context: { stage: 'prod' } }],
    ['Node’s version', { nodeVersion: 'v24.0.1' }],
    ['the place that source maps are relative to', { parent: '/var/tmp' }],
  ])('changes with %s', async (_, other) => {
    expect(await digest(other)).not.toBe(await digest());
  });
});

describe('an assembly', () => {
  let syntheses: number;

  /** Provides an assembly by a made-up app. @returns what the app wrote. */
  async function provide(app = writing('made'), context = {}): Promise<string> {
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
    return readFileSync(join(directory, 'made.txt'), 'utf8');
  }

  const writing = (text: string, more = '') => `
    import { mkdirSync, writeFileSync } from 'node:fs';
    const out = process.env.CDK_OUTDIR;
    const properties = { templateFile: 'T.json' };
    const artifacts = { Made: { type: 'aws:cloudformation:stack', properties } };
    writeFileSync(out + '/manifest.json', JSON.stringify({ artifacts }));
    writeFileSync(out + '/T.json', '{"Resources":{}}');
    writeFileSync(out + '/made.txt', ${JSON.stringify(text)});
    ${more}
  `;

  const kept = () => {
    const path = join(folder.path, '.carillon/assemblies');
    return existsSync(path) ? readdirSync(path) : [];
  };

  beforeEach(() => {
    syntheses = 0;
  });

  test('is synthesized once while its inputs stay the same', async () => {
    expect(await provide(writing('first'))).toBe('first');
    expect(await provide(writing('second'))).toBe('first');
    expect(syntheses).toBe(1);
  });

  test('is synthesized again once an input has changed, and the former one is removed', async () => {
    await provide(writing('first'));
    const before = kept();
    folder.write('lib/carillon-stack.ts', 'other');
    expect(await provide(writing('second'))).toBe('second');
    expect(kept()).toHaveLength(1);
    expect(kept()).not.toEqual(before);
  });

  test('is not kept where the synthesis fails or is broken off', async () => {
    const half = `import { writeFileSync } from 'node:fs';
      writeFileSync(process.env.CDK_OUTDIR + '/made.txt', 'half'); process.exit(1);`;
    await expect(provide(half)).rejects.toThrow('The CDK app failed');
    expect(kept()).toEqual([]);
    expect(await provide(writing('whole'))).toBe('whole');
  });

  test('is not kept where an input changed during the synthesis', async () => {
    const source = join(folder.path, 'lambdas/send/handler.ts');
    const changing = writing('mixed', `writeFileSync(${JSON.stringify(source)}, 'changed');`);
    expect(await provide(changing)).toBe('mixed');
    expect(kept()).toEqual([]);
  });

  test('may be synthesized twice at once', async () => {
    expect(await Promise.all([provide(), provide()])).toEqual(['made', 'made']);
    expect(kept()).toHaveLength(1);
  });
});
