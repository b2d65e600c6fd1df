/** Writes the template of a release, and samples of its shares, with which the next versions are compared. */
import { readFileSync, writeFileSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };
import { releasedTemplate } from './release/released-template.ts';
import { shareSamples } from './release/share-samples.ts';

const template = JSON.parse(readFileSync('cdk.out/Carillon.template.json', 'utf8'));
write('template', { version: packageJson.version, ...releasedTemplate(template) });
write('shares', shareSamples());

function write(name: string, value: object): void {
  writeFileSync(`releases/${name}.json`, `${JSON.stringify(value, null, 2)}\n`);
}
