import { type Output, outputs } from './outputs.ts';

/** Fields that the package's `package.json` takes from the repository's. */
interface Repository {
  readonly version: string;
  readonly license: string;
  readonly engines: object;
}

/** The `package.json` of the npm package. */
export function packageJson({ version, license, engines }: Repository): object {
  return {
    name: 'carillon',
    version,
    description: 'Web push from your own Carillon: clients for pages, service worker and servers.',
    license,
    // Until the owner of the name publishes it.
    private: true,
    type: 'module',
    // Files with side effects when a page imports them.
    sideEffects: outputs.flatMap(({ file }) => (isModule(file) ? [] : [`./${file}`])),
    exports: {
      ...Object.fromEntries(outputs.map((output) => [output.subpath, conditions(output)])),
      './openapi.json': './openapi.json',
      './package.json': './package.json',
    },
    engines,
  };
}

const conditions = ({ file }: Output) => ({
  types: `./${declarationFile(file)}`,
  default: `./${file}`,
});

const isModule = (file: string) => file.endsWith('.mjs');

/** The declaration file of a bundle: `carillon.d.mts` of `carillon.mjs`. */
export function declarationFile(file: string): string {
  return file.replace(/\.(m?)js$/, '.d.$1ts');
}
