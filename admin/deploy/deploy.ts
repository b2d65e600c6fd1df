import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stackNameOf } from '../../contract/stack-name.ts';
import { programName } from '../calls.ts';
import { connect } from '../commands/connection.ts';
import { runCarillon } from '../commands/run.ts';
import {
  deployedStack,
  type StackState,
  stackAdvice,
  stackStateOf,
  type Template,
} from '../deployed-stack.ts';
import { type Finding, findingLine } from '../doctor/checks.ts';
import { CommandError } from '../errors.ts';
import type { Conversation } from '../terminal/ask.ts';
import { paintFor, type Terminal } from '../terminal/terminal.ts';
import { readLimits } from './account-limits.ts';
import type { AwsAccount } from './aws-account.ts';
import { type App, runCdk } from './cdk.ts';
import { destroy } from './destroy.ts';
import { createExecutionPolicy } from './execution-policy.ts';
import type { Settings, SettingsFile } from './settings-file.ts';
import { checkTables } from './table-changes.ts';

export interface Options {
  readonly stage?: string;
  readonly region?: string;
  /** Settings to write. */
  readonly set?: Settings;
  /** Id of the first project. */
  readonly project?: string;
  /** Whether to delete the stack instead. */
  readonly destroy?: true;
  readonly yes?: true;
}

export interface Deployment {
  readonly app: App;
  readonly settingsFile: SettingsFile;
  /** The settings with their defaults. @throws {Error} with a line for each mistake. */
  readonly checkSettings: (settings: Settings) => {
    readonly alarmEmail?: string | undefined;
    readonly eventsPerSecond: number;
  };
  /** What CloudFormation may do, if this deployment creates its role. */
  readonly executionPolicy: object;
  readonly terminal: Terminal;
  readonly account: AwsAccount;
  readonly conversation: Conversation;
}

/** Each step looks at what is there, so that the command can be repeated after a failure or an interruption. */
export async function deploy(options: Options, deployment: Deployment): Promise<void> {
  const { app, settingsFile, checkSettings, terminal, account, conversation } = deployment;
  const { accountId, region, cloudFormation } = account;
  const say = (text: string) => terminal.output.write(`${text}\n`);
  const report = (check: string, finding: Finding) =>
    terminal.output.write(findingLine({ check, ...finding }, paintFor(terminal.output)));

  const given = { ...(await settingsFile.read()), ...options.set };
  const stage = String(options.stage ?? given.stage ?? 'prod');
  const name = stackNameOf(stage);
  if (options.destroy) return destroy(name, deployment);
  const stack = deployedStack(cloudFormation, name);
  const { status } = (await stack.status()) ?? {};
  const state = stackStateOf(status);
  if (state === 'working' || state === 'stuck') {
    throw new CommandError('stack_not_ready', `${name} is ${status}. ${stackAdvice[state]}`);
  }
  const asked = await askSettings({ ...given, stage }, conversation);
  const settings = checkSettings({ ...given, ...asked, stage });
  await settingsFile.write({ ...options.set, ...asked }, region);

  const limits = await readLimits(settings, report);
  const template = await synthesize(app, name, { stage, ...limits });
  const toolkit = await deployedStack(cloudFormation, 'CDKToolkit').status();
  const isBootstrapped = stackStateOf(toolkit?.status) === 'ready';
  const isFirst = state !== 'ready';
  if (isFirst) say(firstDeploymentText(name, state, template));
  else await checkTables(stack, template);
  if (!isBootstrapped) say(bootstrapText);
  if (isFirst || !isBootstrapped) {
    await conversation.agree(`Create this in ${accountId}, ${region}?`);
  }
  if (!isBootstrapped) {
    const policy = await createExecutionPolicy(deployment.executionPolicy, account);
    const policies = ['--cloudformation-execution-policies', policy];
    // Without an app: the CDK would synthesize it first.
    await runCdk(app, 'bootstrap', `aws://${accountId}/${region}`, '--app', '', ...policies);
  }
  if (state === 'failed') await stack.unprotect();
  // The CDK shows what an update changes, and asks.
  const approval = isFirst || conversation.isAgreed ? 'never' : 'any-change';
  await runCdk(app, 'deploy', '--app', output, '--require-approval', approval).catch(
    async ({ message }: Error) => {
      const { status: left } = (await stack.status()) ?? {};
      const now = `${name} is ${left ?? 'not there'}. ${stackAdvice[stackStateOf(left)]}`;
      throw new CommandError('deployment_failed', `${message} ${now}`);
    },
  );
  const { alarmEmail = 'none' } = settings;
  if (isFirst && alarmEmail !== 'none') say(confirmationText(alarmEmail));

  const location = ['--stack', name, '--region', region];
  const projectId = await firstProjectId(options.project, { stack: name, region }, conversation);
  if (projectId !== undefined) {
    const code = await runCarillon(['create', projectId, ...location], terminal, '');
    if (code !== 0) throw new CommandError('no_project', `${name} is deployed, without a project.`);
  }
  say(`\nNow check it: ${programName} doctor --deliver ${location.join(' ')}`);
}

/** Asks for the settings without a sensible default, if they are not set. */
async function askSettings(given: Settings, { ask }: Conversation): Promise<Settings> {
  const { stage, vapidSubject, alarmEmail, alarmTopicArn } = given;
  const asked: Record<string, string> = {};
  if (stage === 'dev') return asked;
  if (vapidSubject === undefined) {
    const question = 'E-mail address at which push services can reach you: ';
    asked.vapidSubject = await ask(question, '--set vapidSubject=…');
  }
  if (alarmEmail === undefined && alarmTopicArn === undefined) {
    const question = 'E-mail address that alarms notify, or "none" [none]: ';
    asked.alarmEmail = (await ask(question, '--set alarmEmail=…')) || 'none';
  }
  return asked;
}

/** The folder of the synthesized app. */
const output = 'cdk.out';

/** Synthesizes once: what is deployed is what was looked at. */
async function synthesize(app: App, stack: string, settings: Settings): Promise<Template> {
  const context = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = app.command === undefined ? [] : ['--app', app.command];
  await runCdk(app, 'synth', '--quiet', '--output', output, ...command, ...context);
  return JSON.parse(await readFile(join(app.folder, output, `${stack}.template.json`), 'utf8'));
}

function firstDeploymentText(name: string, state: StackState, { Resources }: Template): string {
  const left = 'could not be created. A new stack replaces the failed one';
  return `
${name} ${state === 'failed' ? left : 'does not exist yet'}.
It will have ${Object.keys(Resources).length} resources. Creating them takes 3 to 10 minutes (estimated). Without
traffic they cost about $6 a month: see docs/performance.md.`;
}

const bootstrapText = `
The CDK also needs a bucket and roles in this account and region, the stack CDKToolkit.
CloudFormation gets the policy CarillonDeployment (execution-policy.json). It may then deploy
only this service. Other CDK apps in this account and region need their own policies.`;

const confirmationText = (address: string) => `
AWS has sent a mail to ${address}. Confirm it within 48 hours. Until then alarms notify
nobody. Afterwards AWS has deleted the address.`;

/** @returns undefined if there is a project, or nobody names one. */
async function firstProjectId(
  given: string | undefined,
  location: { readonly stack: string; readonly region: string },
  { isAgreed, ask }: Conversation,
): Promise<string | undefined> {
  const { registry, close } = await connect({ kind: 'deployed', ...location });
  const { value: first } = await registry.list().next().finally(close);
  if (first !== undefined) return undefined;
  if (given !== undefined || isAgreed) return given;
  return (await ask('Id of your first project [my-site]: ', '--project')) || 'my-site';
}
