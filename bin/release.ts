/** Keeps the API description and samples of slices, for comparison with later versions. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { sliceSamples } from './share-samples.ts';

copyFileSync('openapi.json', 'releases/openapi.json');
write('intended-api-changes', {});
write('slices', sliceSamples());

function write(name: string, value: object): void {
  writeFileSync(`releases/${name}.json`, `${JSON.stringify(value, null, 2)}\n`);
}
