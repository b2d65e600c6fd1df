import { processTerminal } from '../admin/terminal/terminal.ts';
import { runDemo } from './demo/run.ts';

// The SDK's warning about the Node version would appear in the demo's output.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort());

const { signal } = interruption;
process.exitCode = await runDemo(process.argv.slice(2), processTerminal, { signal });
