import { randomBytes } from 'node:crypto';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Command, InvalidArgumentError } from 'commander';
import { stackNameOf } from '../../contract/infrastructure/stack-name.ts';
import { deployName, programName } from '../calls.ts';
import { readProjectId } from '../commands/command.ts';
import { connect } from '../commands/connection.ts';
import { projectCard } from '../commands/create.ts';
import {
  type DeployedStack,
  deployedStack,
  type StackState,
  stackAdvice,
  stackStateOf,
  type Template,
} from '../deployed-stack.ts';
import { type Finding, findingLine } from '../doctor/checks.ts';
import { CommandError } from '../errors.ts';
import { type Conversation, openConversation } from '../terminal/ask.ts';
import { runCommandLine } from '../terminal/command-line.ts';
import { paintFor, type Terminal } from '../terminal/terminal.ts';
import {
  type AwsAccount,
  hasDomain,
  readBootstrapVersion,
  readLimits,
  signInOnce,
} from './aws-account.ts';
import { type App, output, runCdk, synthesize, type Toolkit, toolkitOf } from './cdk.ts';
import { destroy } from './destroy.ts';
import { checkEncryptionKey } from './encryption-key.ts';
import type { Settings, SettingsFile } from './settings-file.ts';

interface Options {
  readonly stage?: string;
  readonly region?: string;
  /** Settings to write. */
  readonly set?: Settings;
  /** ARN of the policy that CloudFormation gets if the CDK is set up. */
  readonly executionPolicy?: string;
  /** Id of the first project. */
  readonly project?: string;
  /** Whether to delete the stack instead. */
  readonly destroy?: true;
  readonly yes?: true;
}

interface AccountLocation {
  readonly region: string;
  readonly accountId: string;
  readonly partition?: string | undefined;
}

interface Deployment {
  readonly app: App;
  readonly settingsFile: SettingsFile;
  /** The settings of a stage, as they are written. */
  readonly settingsOfStage: (written: Settings, stage: string) => Settings;
  /** The settings with their defaults. @throws {Error} with a line for each mistake. */
  readonly checkSettings: (
    settings: Settings,
    location: AccountLocation,
  ) => {
    readonly alarmEmail?: string | undefined;
    readonly domainName?: string | undefined;
    readonly encryptionKeyArn?: string | undefined;
    readonly eventsPerSecond: number;
  };
  readonly terminal: Terminal;
  readonly account: AwsAccount;
  readonly conversation: Conversation;
}

interface RunDependencies extends Omit<Deployment, 'app' | 'account' | 'conversation'> {
  /** Finds mistakes in `--set`, before anything is asked. @throws {Error} with a line for each. */
  readonly checkEach: (settings: Settings) => void;
  /** @throws {CommandError} if the CDK is not installed. */
  readonly findApp: () => Deployment['app'];
}

/** @returns the exit code: 0, 1 if a step failed, 2 if the command was called wrongly. */
export function runDeploy(args: readonly string[], deps: RunDependencies): Promise<0 | 1 | 2> {
  const program = new Command(deployName)
    .description(
      'Deploys the service into your AWS account: asks for what must be set, shows what would change, deploys with the CDK, and creates the first project. Run it again to continue or to update.',
    )
    .option('--stage <stage>', 'deploy the stack Carillon-<stage> (default: Carillon)')
    .option('--region <region>', "AWS region (default: your profile's)")
    .option(
      '--set <name=value...>',
      `write settings to ${deps.settingsFile.name}, such as alarmEmail=none; "name=" removes one; with --stage, for this stage only`,
      readSetting,
    )
    .option(
      '--execution-policy <arn>',
      'policy that CloudFormation gets if the CDK is not set up in this account and region (default: AdministratorAccess)',
      readPolicyArn,
    )
    .option(
      '--project <projectId>',
      'id of the first project (with --yes: none without it)',
      readProjectId,
    )
    .option('--destroy', 'delete the stack, and say before what that deletes and what it keeps')
    .option('--yes', 'agree to everything')
    .action(async (options: Options) => {
      const { findApp, checkEach, ...others } = deps;
      const { terminal, settingsFile } = deps;
      if (process.platform === 'win32') {
        terminal.messages.write(
          'Nobody has tried this on Windows. If a step fails, use WSL or AWS CloudShell.\n',
        );
      }
      const app = findApp();
      checkEach({ ...options.set });
      const region = options.region ?? (await settingsFile.region());
      const conversation = openConversation(terminal, options.yes === true);
      const account = await signInOnce({ ...(region !== undefined && { region }) }, (device) =>
        conversation.ask(`Code of the MFA device ${device}: `, 'credentials of a session'),
      );
      const { accountId, caller } = account;
      terminal.output.write(`Account ${accountId} in ${account.region}, as ${caller}.\n`);
      await deploy(options, { ...others, app, account, conversation });
    });
  return runCommandLine(program, args, deps.terminal);
}

/** Adds `name=value` to the settings before it. An empty value removes the setting. */
function readSetting(text: string, before: Settings = {}): Settings {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Use name=value.');
  return { ...before, [name]: value || undefined };
}

function readPolicyArn(text: string): string {
  if (/^arn:[\w-]+:iam::(aws|\d{12}):policy\/\S+$/.test(text)) return text;
  throw new InvalidArgumentError('Use the ARN of a policy of IAM.');
}

/** Each step looks at what is there, so that the command can be repeated after a failure or an interruption. */
async function deploy(options: Options, deployment: Deployment): Promise<void> {
  const { app, settingsFile, settingsOfStage, checkSettings, terminal, account, conversation } =
    deployment;
  const { accountId, region, cloudFormation } = account;
  const say = (text: string) => terminal.output.write(`${text}\n`);
  const report = (check: string, finding: Finding) =>
    terminal.output.write(findingLine({ check, ...finding }, paintFor(terminal.output)));

  const file = await settingsFile.read();
  const stage = String(options.stage ?? options.set?.stage ?? file.stage ?? 'prod');
  const changed = options.stage === undefined ? { ...options.set } : ofStage(options.set);
  const given = settingsOfStage({ ...file, ...changed }, stage);
  const name = stackNameOf(stage);
  if (options.destroy) return destroy(name, deployment);
  const stack = deployedStack(cloudFormation, name);
  const { status } = (await stack.status()) ?? {};
  const state = stackStateOf(status);
  if (state === 'working' || state === 'stuck') {
    throw new CommandError('stack_not_ready', `${name} is ${status}. ${stackAdvice[state]}`);
  }
  const asked = await askSettings({ ...given, stage }, conversation);
  const [, partition] = account.caller.split(':');
  const settings = checkSettings({ ...given, ...asked, stage }, { region, accountId, partition });
  const { domainName, encryptionKeyArn } = settings;
  if (encryptionKeyArn !== undefined) {
    const advice = await checkEncryptionKey(encryptionKeyArn, account);
    if (advice !== undefined) say(advice);
  }
  if (domainName !== undefined)
    await checkDomain(domainName, state === 'ready' ? stack : undefined);
  const written = options.stage === undefined ? asked : ofStage(asked);
  await settingsFile.write({ ...changed, ...written }, region);

  const limits = await readLimits(settings, report);
  const template = await synthesize(app, name, { stage, ...ofStage(limits) });
  const toolkit = toolkitOf(template, app);
  const version = await readBootstrapVersion(toolkit.parameter);
  const bootstraps = version === undefined;
  if (bootstraps) await checkToolkit(toolkit, account);
  else checkToolkitVersion(toolkit, version);
  const { executionPolicy } = options;
  if (!bootstraps && executionPolicy !== undefined) say(policyUnusedText(toolkit));
  const isFirst = state !== 'ready';
  if (isFirst) say(firstDeploymentText(name, state, template));
  else await checkTables(stack, template);
  if (bootstraps) say(bootstrapText(toolkit, executionPolicy));
  if (isFirst || bootstraps) await conversation.agree(`Create this in ${accountId}, ${region}?`);
  if (bootstraps) await bootstrap(toolkit);
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

  await createFirstProject(options.project, { stack: name, region }, deployment);
  say(`\nNow check it: ${programName} doctor --deliver --stack ${name} --region ${region}`);

  /** The entries of settings that only this stage has. */
  function ofStage(settings: Settings = {}): Settings {
    return Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [
        `${stage}.${name}`,
        // The stage is without it, although others have it.
        value === undefined && name in file ? '' : value,
      ]),
    );
  }

  async function bootstrap({ stack, qualifier }: Toolkit): Promise<void> {
    const named = ['--toolkit-stack-name', stack, '--qualifier', qualifier];
    const policies =
      executionPolicy === undefined ? [] : ['--cloudformation-execution-policies', executionPolicy];
    // Without an app: the CDK would synthesize it first.
    const parameters = [`aws://${accountId}/${region}`, '--app', '', ...named, ...policies];
    await runCdk(app, 'bootstrap', ...parameters);
  }
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

/** @throws {CommandError} if the bootstrap stack is there for other apps, whose rights a bootstrap would replace. */
async function checkToolkit(
  { stack, qualifier }: Toolkit,
  { cloudFormation }: AwsAccount,
): Promise<void> {
  const present = await deployedStack(cloudFormation, stack).status();
  if (stackStateOf(present?.status) !== 'ready') return;
  throw new CommandError(
    'toolkit_of_others',
    `The stack ${stack} has another qualifier than ${qualifier}, so it belongs to other apps of the CDK. Nothing was changed in AWS. Choose another name for the bootstrap stack of this app: "toolkitStackName" in cdk.json.`,
  );
}

/** @throws {CommandError} if CloudFormation would refuse it, after the questions. */
function checkToolkitVersion({ refused }: Toolkit, version: string): void {
  if (!refused.includes(version)) return;
  const needed = Math.max(...refused.map(Number)) + 1;
  throw new CommandError(
    'toolkit_too_old',
    `The bootstrap stack of the CDK has version ${version} in this account and region, and at least ${needed} is needed. Nothing was changed in AWS. Let whoever created it run "cdk bootstrap" again with a new CDK: its rights stay as they are.`,
  );
}

/**
 * @param stack the deployed one.
 * @throws {CommandError} if another API has this domain: the deployment would fail after minutes.
 */
async function checkDomain(domainName: string, stack: DeployedStack | undefined): Promise<void> {
  if (!(await hasDomain(domainName))) return;
  const own = (await stack?.resources()) ?? [];
  if (own.some(({ type, name }) => type === domainType && name === domainName)) return;
  throw new CommandError(
    'domain_taken',
    `API Gateway has the domain ${domainName} already, for another API in this account and region. Nothing was changed in AWS. Use another one, with --stage <stage> for one stage only: --set domainName=…, or "domainName=" for none.`,
  );
}

const domainType = 'AWS::ApiGatewayV2::DomainName';

function firstDeploymentText(name: string, state: StackState, { Resources }: Template): string {
  const left = 'could not be created. A new stack replaces the failed one';
  return `
${name} ${state === 'failed' ? left : 'does not exist yet'}.
It will have ${Object.keys(Resources).length} resources. Creating them takes 3 to 10 minutes (estimated). Without
traffic they cost $2.60 a month: see docs/performance.md.`;
}

function bootstrapText({ stack }: Toolkit, policy: string | undefined): string {
  const rights =
    policy === undefined
      ? 'may do everything in this account (AdministratorAccess; --execution-policy <arn> gives it less)'
      : `gets the rights of ${policy}`;
  return `
The CDK also needs a bucket and roles in this account and region, the stack ${stack}.
With them, CloudFormation ${rights},
for each app of the CDK that uses this stack, and so may whoever deploys such an app.`;
}

const policyUnusedText = ({ stack }: Toolkit) =>
  `--execution-policy changes nothing: the CDK is set up here already. CloudFormation keeps the rights that ${stack} has given it.`;

const confirmationText = (address: string) => `
AWS has sent a mail to ${address}. Confirm it within 48 hours. Until then alarms notify
nobody. Afterwards AWS has deleted the address.`;

/** Unless there is a project, or nobody names one. */
async function createFirstProject(
  given: string | undefined,
  location: { readonly stack: string; readonly region: string },
  { terminal: { output }, conversation: { isAgreed, ask } }: Deployment,
): Promise<void> {
  const { registry, baseUrl, close } = await connect({ kind: 'deployed', ...location });
  try {
    const { value: first } = await registry.list().next();
    if (first !== undefined) return;
    const asks = given === undefined && !isAgreed;
    const question = 'Id of your first project [my-site]: ';
    const projectId = asks ? (await ask(question, '--project')) || 'my-site' : given;
    if (projectId === undefined) return;
    const { project, ...keys } = await registry.create({ projectId, random: randomBytes });
    const card = { projectId, applicationServerKey: project.vapidPublicKey, ...keys };
    output.write(`\n${projectCard(card, baseUrl, paintFor(output))}\n`);
  } catch (cause) {
    const message = `${location.stack} is deployed. Looking for a project, or creating the first one, failed: ${(cause as Error).message}`;
    throw new CommandError('project_failed', message, { cause });
  } finally {
    close();
  }
}

/** Properties that CloudFormation cannot change: it creates another table instead, which is empty. */
const fixedProperties = ['KeySchema', 'TableName', 'ImportSourceSpecification'];

/** @throws {CommandError} if an update would replace or remove a table, or would fail at one. */
async function checkTables(stack: DeployedStack, after: Template): Promise<void> {
  const before = await stack.template();
  const lost: string[] = [];
  const changed: string[] = [];
  for (const [id, { Type, Properties = {} }] of Object.entries(before.Resources)) {
    if (Type !== 'AWS::DynamoDB::Table') continue;
    const next = after.Resources[id]?.Properties;
    if (!fixedProperties.every((name) => isSame(Properties[name], next?.[name]))) lost.push(id);
    else if (!isSame(Properties, next)) changed.push(id);
  }
  if (lost.length > 0) {
    throw new CommandError(
      'table_replaced',
      `The update would replace or remove ${lost.join(', ')}, and the new table would be empty. Nothing was changed in AWS. Deploy this version as another stage, and move the projects: see "Replaced tables" in docs/deploy.md.`,
    );
  }
  if (changed.length > 0) await checkWarmWrites(stack, after, changed);
}

/** DynamoDB raises by itself what a table takes, and refuses to lower it: the update would fail. */
async function checkWarmWrites(
  stack: DeployedStack,
  { Resources }: Template,
  ids: readonly string[],
): Promise<void> {
  const dynamo = new DynamoDBClient();
  for (const { id, name } of await stack.resources()) {
    const asked = Resources[id]?.Properties?.WarmThroughput as Throughput | undefined;
    if (!ids.includes(id) || asked === undefined) continue;
    const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: name }));
    const taken = Table?.WarmThroughput?.WriteUnitsPerSecond ?? 0;
    if (taken > asked.WriteUnitsPerSecond) {
      throw new CommandError(
        'table_lowered',
        `${id} takes ${taken} writes per second now. DynamoDB cannot lower that, so nothing was changed in AWS. Use --set warmWritesPerSecond=${taken}`,
      );
    }
  }
}

interface Throughput {
  readonly WriteUnitsPerSecond: number;
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
