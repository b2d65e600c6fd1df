import { readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '../contract/openapi/document.ts';
import { withGeneratedBlocks } from '../contract/openapi/reference.ts';
import { version } from '../package.json' with { type: 'json' };

writeFileSync('openapi.json', `${JSON.stringify(openApiDocument(version), null, 2)}\n`);
writeFileSync('docs/api.md', withGeneratedBlocks(readFileSync('docs/api.md', 'utf8')));
