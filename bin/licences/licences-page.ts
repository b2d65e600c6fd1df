import type { BundledPackage } from './bundled-packages.ts';

/** The text of docs/licences.md: packages in the bundles, with their licences. */
export function licencesPage(packages: readonly BundledPackage[]): string {
  const rows = packages.map(
    ({ name, version, licence = 'none stated' }) => `| ${name} | ${version} | ${licence} |`,
  );
  return [
    '# Licences',
    '',
    'Carillon is licensed under [Apache 2.0](../LICENSE). The bundles of its functions also contain code of',
    'these packages. `npm run licences` generates this page from the bundles.',
    '',
    '| Package | Version | Licence |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
