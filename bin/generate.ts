/** Writes what is generated from the code. Its argument: `api-docs` or `licences`. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '../contract/wording/openapi/document.ts';
import {
  generatedDocuments,
  table,
  withGeneratedBlocks,
} from '../contract/wording/openapi/reference.ts';
import { settingNames } from '../lib/settings.ts';
import { version } from '../package.json' with { type: 'json' };
import { llmsText } from './llms.ts';

const generators: Readonly<Record<string, () => void>> = {
  /** openapi.json, blocks in docs/, and llms.txt. */
  'api-docs'() {
    writeJson('openapi.json', openApiDocument(version));
    for (const file of generatedDocuments) {
      writeFileSync(file, withGeneratedBlocks(readFileSync(file, 'utf8')));
    }
    for (const [file, withRows] of [
      ['docs/reliability.md', withPromises],
      ['docs/deploy.md', withSettings],
    ] as const) {
      writeFileSync(file, withRows(readFileSync(file, 'utf8')));
    }
    writeFileSync(
      'llms.txt',
      llmsText((file) => readFileSync(file, 'utf8')),
    );
  },
  /** docs/licences.md: the packages in the bundles of `cdk.out`, with their licences. */
  licences: () => writeFileSync('docs/licences.md', licencesPage(bundledPackages('cdk.out'))),
};

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Writes the tables of docs/reliability.md again: after `<!-- generated: promises of A B -->` the titles of the tests in
 * these two files of the suite.
 */
export function withPromises(markdown: string): string {
  const blocks = /<!-- generated: promises of (.+?) -->\n[\s\S]*?<!-- end -->/g;
  return markdown.replaceAll(blocks, (_, names: string) => {
    const promises = table(['Promise', 'Test'], names.split(' ').flatMap(promiseRows));
    return `<!-- generated: promises of ${names} -->\n${promises}\n<!-- end -->`;
  });
}

function promiseRows(name: string): readonly (readonly string[])[] {
  const path = `test/reliability/${name}.test.ts`;
  // Those at the top level.
  const titles = readFileSync(path, 'utf8').matchAll(/^(?:describe|test)\('(.+)', (?:async )?\(/gm);
  return [...titles].map(([, title = '']) => [
    `${title.charAt(0).toUpperCase()}${title.slice(1)}`,
    `[${name}](../${path})`,
  ]);
}

/**
 * Writes the tables of settings and of the construct's other props again, from the comments of `CarillonProps` and, for
 * `stage`, of the settings.
 */
export function withSettings(markdown: string): string {
  const [, props = ''] = /interface CarillonProps \{([\s\S]*?)^\}/m.exec(
    readFileSync('lib/carillon.ts', 'utf8'),
  )!;
  const rows = new Map(
    [...(readFileSync('lib/settings.ts', 'utf8') + props).matchAll(commented)].map(
      ([, comment = '', name = '', isOptional]) => {
        const [text, given = isOptional ? 'none' : 'required'] = comment
          .replaceAll(/\s+\*?\s*/g, ' ')
          .trim()
          .split(/ ?@default (?:- )?/);
        return [name, [`\`${name}\``, given, text!]];
      },
    ),
  );
  const propNames = [...props.matchAll(commented)].map(([, , name = '']) => name);
  const names: Readonly<Record<string, readonly string[]>> = {
    settings: settingNames,
    props: propNames.filter((name) => !(settingNames as readonly string[]).includes(name)),
  };
  return markdown.replaceAll(
    /<!-- generated: (settings|props) -->\n[\s\S]*?<!-- end -->/g,
    (_, block: string) => {
      const described = names[block]!.map((name) => rows.get(name)!);
      return `<!-- generated: ${block} -->\n${table(['Setting', 'Default', ''], described)}\n<!-- end -->`;
    },
  );
}

/** A member with its comment. */
const commented = /\/\*\*((?:(?!\*\/)[\s\S])+)\*\/\s+(?:readonly )?(\w+)(\??):/g;

/** A package whose code is in a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. Absent if the package has none. */
  readonly license?: string;
  /** Whether the lockfile marks it as a development dependency. */
  readonly dev?: boolean;
}

/**
 * The packages in the functions' bundles and in the console's page, sorted by folder, as the lockfile has them. Reads
 * the source maps, and the list of the page's sources.
 * @param assembly directory of a cloud assembly with bundles.
 */
export function bundledPackages(
  assembly: string,
  lockfile = 'package-lock.json',
): readonly BundledPackage[] {
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8'));
  const maps = readdirSync(assembly).filter((name) => name.startsWith('asset.'));
  const sources = maps.flatMap((name) =>
    ['index.js.map', 'page-sources.json']
      .map((file) => join(assembly, name, file))
      .filter((file) => existsSync(file))
      .flatMap((file) => JSON.parse(readFileSync(file, 'utf8')).sources),
  );
  // The lockfile names them so: `node_modules/a/node_modules/@b/c`.
  const folders = sources.flatMap(
    (source) => /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(source) ?? [],
  );
  return [...new Set(folders)].sort().map((folder) => {
    const { version, license, dev } = packages[folder];
    return { name: folder.replace(/.*node_modules\//, ''), version, license, dev };
  });
}

/** The text of docs/licences.md. */
export function licencesPage(packages: readonly BundledPackage[]): string {
  const rows = packages.map(({ name, version, license = 'none stated' }) => [
    name,
    version,
    license,
  ]);
  return `# Licences

Carillon is licensed under [Apache 2.0](../LICENSE). The bundles of its functions also contain code of
these packages. \`npm run licences\` generates this page from the bundles.

<!-- generated: licences -->
${table(['Package', 'Version', 'Licence'], rows)}
<!-- end -->
`;
}

if (process.argv[1] === import.meta.filename) generators[process.argv[2]!]!();
