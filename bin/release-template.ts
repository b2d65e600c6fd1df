/** Writes the template of a release, with which the next versions are compared. */
import { readFileSync, writeFileSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };
import { releasedTemplate } from './release/released-template.ts';

const template = JSON.parse(readFileSync('cdk.out/Carillon.template.json', 'utf8'));
const release = { version: packageJson.version, ...releasedTemplate(template) };
writeFileSync('releases/template.json', `${JSON.stringify(release, null, 2)}\n`);
