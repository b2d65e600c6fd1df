import { writeFileSync } from 'node:fs';
import { bundledPackages } from './licences/bundled-packages.ts';
import { licencesPage } from './licences/licences-page.ts';

writeFileSync('docs/licences.md', licencesPage(bundledPackages('cdk.out')));
