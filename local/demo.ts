import { processTerminal } from '../admin/terminal/terminal.ts';
import { runDemo } from './demo/run.ts';

// The SDK's own word about the age of Node is not for whoever watches the demo.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort());

const { signal } = interruption;
process.exitCode = await runDemo(process.argv.slice(2), processTerminal, { signal });
