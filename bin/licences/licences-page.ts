import type { BundledPackage } from './bundled-packages.ts';

/** The page of the documentation that lists the licences of what is bundled. */
export function licencesPage(packages: readonly BundledPackage[]): string {
  const rows = packages.map(
    ({ name, version, licence = 'none stated' }) => `| ${name} | ${version} | ${licence} |`,
  );
  return [
    '# Licences',
    '',
    'Carillon is licensed under [Apache 2.0](../LICENSE). The bundles of its functions hold code of',
    'these packages besides. `npm run licences` writes this page from the bundles.',
    '',
    '| Package | Version | Licence |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
