import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runDeploy } from '../admin/deploy/run.ts';
import { cdkJson } from '../admin/deploy/settings-file.ts';
import { processTerminal } from '../admin/terminal/terminal.ts';
import { executionPolicy } from '../lib/execution-policy.ts';
import { readSettings } from '../lib/settings.ts';

// The AWS SDK's warning about old Node.js versions does not concern the operator.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

if (process.platform === 'win32') {
  console.error('Nobody has tried this on Windows. If a step fails, use WSL or AWS CloudShell.');
}
const folder = join(import.meta.dirname, '..');
process.exitCode = await runDeploy(process.argv.slice(2), {
  terminal: processTerminal,
  app: { folder, cdk: createRequire(import.meta.url).resolve('aws-cdk/bin/cdk') },
  settingsFile: cdkJson(join(folder, 'cdk.json')),
  checkSettings: readSettings,
  executionPolicy: executionPolicy(),
});
