import { join } from 'node:path';
import { runCarillon } from '../admin/commands/run.ts';
import { prepareProcess, processTerminal } from '../admin/terminal/terminal.ts';

prepareProcess();
process.exitCode = await runCarillon(
  process.argv.slice(2),
  processTerminal,
  join(import.meta.dirname, '../.carillon/local.json'),
);
