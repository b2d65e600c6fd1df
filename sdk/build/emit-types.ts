import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** The modules, and the file of the SDK that each is bundled from. */
const modules = { carillon: 'client/carillon', 'carillon-server': 'server/carillon-server' };

/**
 * Writes the types of the SDK's modules: a declaration file for each module, and the folder `types`.
 * @param root of the repository.
 * @param folder absolute; must exist.
 */
export function emitTypes(root: string, folder: string): void {
  for (const project of ['sdk', 'sdk/server']) {
    const program = openProject(join(root, project, 'tsconfig.json'), {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: root,
      outDir: join(folder, 'types'),
    });
    program.emit(undefined, (path, text, _mark, _onError, sources = []) => {
      const schemas = sources.find(({ fileName }) => fileName.includes('/contract/schemas/'));
      ts.sys.writeFile(path, schemas === undefined ? text : plainTypes(program, schemas));
    });
  }
  for (const [name, path] of Object.entries(modules)) {
    writeFileSync(join(folder, `${name}.d.mts`), `export * from './types/sdk/${path}.js';\n`);
  }
}

function openProject(tsconfig: string, options: ts.CompilerOptions): ts.Program {
  const parsed = ts.getParsedCommandLineOfConfigFile(tsconfig, options, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic({ messageText }) {
      throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
    },
  })!;
  return ts.createProgram(parsed.fileNames, parsed.options);
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
