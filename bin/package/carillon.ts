/** The command `carillon` of the package `carillon-aws`, for the folder in which it is called. */
import { join } from 'node:path';
import { connect } from '../../admin/commands/connection.ts';
import { runCarillon } from '../../admin/commands/run.ts';
import { installedApp } from '../../admin/deploy/cdk.ts';
import { runDeploy } from '../../admin/deploy/deploy.ts';
import { carillonJson } from '../../admin/deploy/settings-file.ts';
import { prepareProcess, processTerminal } from '../../admin/terminal/terminal.ts';
import { stackNameOf } from '../../contract/infrastructure/stack-name.ts';
import { checkEach, readSettings, settingsOfStage } from '../../lib/settings.ts';

async function run(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args;
  const folder = process.cwd();
  const settingsFile = carillonJson(join(folder, 'carillon.json'));
  if (command === 'deploy') {
    process.exitCode = await runDeploy(rest, {
      terminal: processTerminal,
      findApp: () => installedApp(folder, join(import.meta.dirname, 'app.js')),
      settingsFile,
      checkEach,
      settingsOfStage,
      checkSettings: readSettings,
    });
    return;
  }
  const { stage = 'prod' } = await settingsFile.read();
  const stateFile = join(folder, '.carillon/local.json');
  const location = { stack: stackNameOf(String(stage)), region: await settingsFile.region() };
  process.exitCode = await runCarillon(args, processTerminal, stateFile, connect, location);
}

prepareProcess();
run(process.argv.slice(2)).catch(({ message }: Error) => {
  console.error(message);
  process.exitCode = 1;
});
