import { join } from 'node:path';
import { runCarillon } from '../admin/commands/run.ts';
import { processTerminal } from '../admin/terminal/terminal.ts';

// The AWS SDK's warning about old Node.js versions does not concern the operator.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

// `carillon list | head` closes the output before its end: that is no fault.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

process.exitCode = await runCarillon(
  process.argv.slice(2),
  processTerminal,
  join(import.meta.dirname, '../.carillon/local.json'),
);
