import { join } from 'node:path';
import { processTerminal } from '../admin/terminal/terminal.ts';
import { runConsole } from '../console/run-console.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interrupted.abort());
}
process.exitCode = await runConsole(
  process.argv.slice(2),
  processTerminal,
  join(import.meta.dirname, '..'),
  interrupted.signal,
);
