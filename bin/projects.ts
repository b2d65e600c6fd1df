import { runProjects } from '../admin/commands/run.ts';
import { processTerminal } from '../admin/terminal/terminal.ts';

// The SDK's own word about the age of Node is not for whoever runs this command.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

process.exitCode = await runProjects(
  process.argv.slice(2),
  processTerminal,
  '.carillon/local.json',
);
