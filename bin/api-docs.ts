import { readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '../contract/openapi/document.ts';
import { generatedDocuments, withGeneratedBlocks } from '../contract/openapi/reference.ts';
import { version } from '../package.json' with { type: 'json' };

writeFileSync('openapi.json', `${JSON.stringify(openApiDocument(version), null, 2)}\n`);
for (const file of generatedDocuments) {
  writeFileSync(file, withGeneratedBlocks(readFileSync(file, 'utf8')));
}
