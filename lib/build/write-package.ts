import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { zipSync } from 'fflate';
import ts from 'typescript';
import packageJson from '../../package.json' with { type: 'json' };
import { pack } from '../../sdk/build/write-package.ts';
import { type Assets, assetsFile } from '../service-function.ts';
import { bundleFunctions, filesIn } from './bundle-functions.ts';
import manifest from './package.json' with { type: 'json' };

/** The programs of the package, and where each starts. */
const entryPoints = {
  'index.js': 'lib/carillon.ts',
  'app.js': 'bin/package/app.ts',
  'carillon.js': 'bin/package/carillon.ts',
};

/**
 * Builds and packs `carillon-aws`, into a folder of its name and a tarball beside it.
 * @param root of the repository.
 * @param target absolute; must exist.
 */
export async function writeAwsPackage(root: string, target: string, version = packageJson.version) {
  const folder = join(target, 'carillon-aws');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const sources = await Promise.all([
    zipFunctions(root, join(folder, 'assets')),
    ...Object.entries(entryPoints).map(([file, entryPoint]) =>
      bundle(root, entryPoint, join(folder, file)),
    ),
  ]);
  emitTypes(root, folder);
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'NOTICES'), notices(root, sources.flat()));
  copyFileSync(join(root, 'lib/build/README.md'), join(folder, 'README.md'));
  return pack(folder, manifest, version);
}

/** The functions' bundles as ZIP files: a third of the size. @returns the paths of their sources. */
async function zipFunctions(root: string, folder: string): Promise<readonly string[]> {
  mkdirSync(folder);
  await bundleFunctions(root, folder);
  const list = join(folder, assetsFile);
  const assets: Assets = JSON.parse(readFileSync(list, 'utf8'));
  const sources: string[] = [];
  const zipped = Object.entries(assets).map(([name, { path, hash }]) => {
    const bundled = join(folder, path);
    sources.push(...JSON.parse(readFileSync(join(bundled, 'index.js.map'), 'utf8')).sources);
    // The date is fixed, so that each build has the same bytes.
    const zip = zipSync(contentsOf(bundled), { level: 9, mtime: '1980-01-01' });
    writeFileSync(`${bundled}.zip`, zip);
    rmSync(bundled, { recursive: true });
    return [name, { path: `${path}.zip`, hash }];
  });
  writeFileSync(list, `${JSON.stringify(Object.fromEntries(zipped), null, 2)}\n`);
  return sources;
}

function contentsOf(folder: string): Record<string, Uint8Array> {
  const files = filesIn(folder);
  return Object.fromEntries(files.map((file) => [relative(folder, file), readFileSync(file)]));
}

/** @returns the paths of its sources. */
async function bundle(
  root: string,
  entryPoint: string,
  outfile: string,
): Promise<readonly string[]> {
  const { metafile, outputFiles } = await build({
    metafile: true,
    write: false,
    absWorkingDir: root,
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    mainFields: ['module', 'main'],
    minify: true,
    // The names of constructs' classes are in the CDK's metadata, and those of errors are printed.
    keepNames: true,
    external: ['aws-cdk-lib', 'constructs'],
    define: { 'import.meta.dirname': '__dirname', IS_PACKAGE: 'true' },
    // So that all of it is in one line.
    supported: { 'template-literal': false },
    legalComments: 'none',
    ...(entryPoint.startsWith('bin/package/carillon') && { banner: { js: '#!/usr/bin/env node' } }),
    logLevel: 'warning',
  });
  const [, hashbang = '', code] = /^(#!.*\n)?(.*)/s.exec(outputFiles[0]!.text)!;
  writeFileSync(outfile, `${hashbang}${lineEnd}${code!.trimEnd()}//${notPrinted}\n`);
  return Object.keys(metafile.inputs);
}

/**
 * Before the message of an uncaught error, Node prints the line that has thrown it, here of 100 kB, unless the line has
 * this mark.
 */
const notPrinted = 'node-do-not-add-exception-line';

/**
 * ts-node, with which many apps of the CDK run, reads that line in the file. It finds none: this ends a line for V8, which
 * numbers them, and for no tool that splits a file into lines.
 */
const lineEnd = '\u2028';

/**
 * Writes index.d.ts. What the construct's declarations import from other files, names of functions and the like, is written
 * out: those files import packages that a consumer does not have.
 */
function emitTypes(root: string, folder: string): void {
  const entryPoint = join(root, entryPoints['index.js']);
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([entryPoint], {
    ...options,
    incremental: false,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
  });
  const source = program.getSourceFile(entryPoint)!;
  const checker = program.getTypeChecker();
  const imported = checker.getSymbolsInScope(source, ts.SymbolFlags.Alias);
  const { InTypeAlias, NoTruncation } = ts.TypeFormatFlags;
  function declarationOf(name: string): string {
    const symbol = imported.find((one) => one.name === name)!;
    const type = checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(symbol));
    return `type ${name} = ${checker.typeToString(type, undefined, InTypeAlias | NoTruncation)};`;
  }
  program.emit(source, (_, text) => {
    const whole = text.replaceAll(
      /^import (?:type )?\{ (.+) \} from '\..+';$/gm,
      (_line, names: string) =>
        names
          .split(', ')
          .map((name) => declarationOf(name.replace('type ', '')))
          .join('\n'),
    );
    ts.sys.writeFile(join(folder, 'index.d.ts'), whole);
  });
}

/**
 * The licences of the packages whose code is in the bundles, as they require it. A text that packages share is there
 * once.
 * @param root of the repository.
 * @param sources paths of bundled files in the repository.
 */
function notices(root: string, sources: readonly string[]): string {
  const folders = sources.flatMap(
    (source) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(source)?.[0] ?? [],
  );
  const names = new Map<string, string[]>();
  for (const folder of [...new Set(folders)].sort()) {
    const path = join(root, folder);
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry));
    const text =
      file === undefined ? `Licence: ${license}` : readFileSync(join(path, file), 'utf8');
    names.set(text, [...(names.get(text) ?? []), `${name} ${version}`]);
  }
  return [...names]
    .map(([text, owners]) => `${owners.join('\n')}\n\n${text.trim()}\n`)
    .join('\n---\n\n');
}
