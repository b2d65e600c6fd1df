import { readFileSync, writeFileSync } from 'node:fs';
import { withPromises } from './promises/with-promises.ts';

const page = 'docs/reliability.md';
writeFileSync(page, withPromises(readFileSync(page, 'utf8')));
