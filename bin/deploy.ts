import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runDeploy } from '../admin/deploy/deploy.ts';
import { cdkJson } from '../admin/deploy/settings-file.ts';
import { prepareProcess, processTerminal } from '../admin/terminal/terminal.ts';
import { checkEach, readSettings, settingsOfStage } from '../lib/settings.ts';

prepareProcess();
const folder = join(import.meta.dirname, '..');
process.exitCode = await runDeploy(process.argv.slice(2), {
  terminal: processTerminal,
  findApp: () => ({ folder, cdk: createRequire(import.meta.url).resolve('aws-cdk/bin/cdk') }),
  settingsFile: cdkJson(join(folder, 'cdk.json')),
  checkEach,
  settingsOfStage,
  checkSettings: readSettings,
});
