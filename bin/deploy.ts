import { join } from 'node:path';
import { cdkIn } from '../admin/deploy/cdk.ts';
import { runDeploy } from '../admin/deploy/deploy.ts';
import { processTerminal } from '../admin/terminal/terminal.ts';
import { readSettings } from '../lib/settings.ts';

// The AWS SDK's warning about old Node.js versions does not concern the operator.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const root = join(import.meta.dirname, '..');
process.exitCode = await runDeploy(process.argv.slice(2), {
  terminal: processTerminal,
  root,
  runCdk: cdkIn(root),
  checkSettings: readSettings,
});
