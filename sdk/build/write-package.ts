import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import packageJson from '../../package.json' with { type: 'json' };
import { bundleSdk, entryPoints } from './bundle.ts';
import manifest from './package.json' with { type: 'json' };

/** The npm package. */
export interface WrittenPackage {
  readonly folder: string;
  readonly tarball: string;
}

/**
 * Builds and packs the npm package, into the folder `carillon` and a tarball beside it.
 * @param root of the repository.
 * @param target absolute. Whatever it contained is removed.
 */
export async function writePackage(
  root: string,
  target: string,
  version = packageJson.version,
): Promise<WrittenPackage> {
  const folder = join(target, 'carillon');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, contents } of await bundleSdk(root)) {
    writeFileSync(join(folder, name), contents);
  }
  emitTypes(root, folder);
  // No notices: the bundles contain no code of other packages.
  for (const file of ['LICENSE', 'sdk/README.md', 'openapi.json']) {
    copyFileSync(join(root, file), join(folder, file.replace('sdk/', '')));
  }
  return pack(folder, manifest, version);
}

/**
 * Writes the manifest of a package into its folder, and packs that into a tarball beside it.
 * @param manifest with what npm reads of it.
 */
export function pack(
  folder: string,
  { private: _, ...manifest }: { readonly private: boolean },
  version: string,
): WrittenPackage {
  // A release is built in the repository's workflow, which knows its name, and whether npm gets it.
  const { GITHUB_REPOSITORY: name = 'you/carillon', PUBLISH_TO_NPM } = process.env;
  const isPrivate = PUBLISH_TO_NPM !== 'true' && { private: true };
  const contents = JSON.stringify({ ...manifest, ...isPrivate, version }, null, 2).replace(
    'you/carillon',
    name,
  );
  writeFileSync(join(folder, 'package.json'), `${contents}\n`);
  const target = dirname(folder);
  const output = execFileSync('npm', ['pack', '--json', '--pack-destination', target], {
    cwd: folder,
    encoding: 'utf8',
  });
  const [{ filename }] = JSON.parse(output);
  return { folder, tarball: join(target, filename) };
}

/**
 * Writes the types of the SDK: a declaration file for each bundle, and the folder `types`. The service
 * worker has an empty one, so that TypeScript accepts its import.
 * @param root of the repository.
 * @param folder absolute; must exist.
 */
function emitTypes(root: string, folder: string): void {
  const isOfServer = (entryPoint: string) => entryPoint.startsWith('server/');
  const isWorker = (entryPoint: string) => entryPoint.startsWith('worker/');
  const all = Object.values(entryPoints).filter((entryPoint) => !isWorker(entryPoint));
  for (const [files, config] of [
    [all.filter((entryPoint) => !isOfServer(entryPoint)), 'sdk/tsconfig.json'],
    [all.filter(isOfServer), 'tsconfig.json'],
  ] as const) {
    const program = ts.createProgram(
      files.map((entryPoint) => join(root, 'sdk', entryPoint)),
      {
        ...compilerOptions(join(root, config)),
        incremental: false,
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: root,
        outDir: join(folder, 'types'),
      },
    );
    program.emit(undefined, (path, declarations, _mark, _onError, sources = []) => {
      const schemas = sources.find(
        ({ fileName, text }) => fileName.includes('/contract/wire/') && text.includes("from 'zod"),
      );
      ts.sys.writeFile(path, schemas === undefined ? declarations : plainTypes(program, schemas));
    });
  }
  for (const [file, entryPoint] of Object.entries(entryPoints)) {
    const module = `./types/sdk/${entryPoint.replace(/ts$/, 'js')}`;
    const text = isWorker(entryPoint) ? 'export {};\n' : `export * from '${module}';\n`;
    writeFileSync(join(folder, file.replace(/\.(m?)js$/, '.d.$1ts')), text);
  }
}

function compilerOptions(tsconfig: string): ts.CompilerOptions {
  const parsed = ts.getParsedCommandLineOfConfigFile(tsconfig, undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic({ messageText }) {
      throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
    },
  })!;
  return parsed.options;
}

/** Writes out the types that are inferred from schemas, so that users of the SDK do not need zod. */
function plainTypes(program: ts.Program, file: ts.SourceFile): string {
  const checker = program.getTypeChecker();
  const format = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias;
  return checker
    .getExportsOfModule(checker.getSymbolAtLocation(file)!)
    .filter(({ flags }) => flags & ts.SymbolFlags.TypeAlias)
    .map((symbol) => {
      const type = checker.getDeclaredTypeOfSymbol(symbol);
      return `export type ${symbol.name} = ${checker.typeToString(type, undefined, format)};\n`;
    })
    .join('');
}
