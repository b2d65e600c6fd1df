import { writeFileSync } from 'node:fs';
import { executionPolicy } from '../lib/execution-policy.ts';

writeFileSync('execution-policy.json', `${JSON.stringify(executionPolicy(), null, 2)}\n`);
