import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { Command } from 'commander';
import { isExampleAddress } from '../../contract/example-address.ts';
import { projectIdPattern } from '../../contract/formats.ts';
import { projectCard } from '../commands/card.ts';
import { CommandError, programName, readProjectId } from '../commands/command.ts';
import { connect } from '../commands/connection.ts';
import { countOf } from '../commands/limits.ts';
import { type Finding, findingLine } from '../doctor/finding.ts';
import { runCommandLine } from '../terminal/command-line.ts';
import { type Dialogue, openDialogue } from '../terminal/dialogue.ts';
import { abortOnInterrupt } from '../terminal/interrupt.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import { type Paint, paintFor, type Terminal } from '../terminal/terminal.ts';
import { type AwsAccount, openAccount } from './aws-account.ts';
import { type RunCdk, readEvent } from './cdk.ts';
import { type Context, readContext, writeSettings } from './settings-file.ts';

export interface DeployDependencies {
  readonly terminal: Terminal;
  /** The folder of the project, with cdk.json. */
  readonly root: string;
  readonly runCdk: RunCdk;
  /** @throws {Error} with a line for each wrong setting. */
  readonly checkSettings: (context: Context) => unknown;
}

interface Options {
  readonly stage?: string;
  readonly region?: string;
  readonly vapidSubject?: string;
  readonly alarmEmail?: string;
  readonly project?: string;
  readonly yes?: true;
}

const callName = 'npm run -s deploy --';

/**
 * Deploys the service step by step. Each step first looks at where things stand, so that the command can be repeated
 * after a failure or an interruption.
 * @returns the exit code: 0, 1 if a step failed, 2 if it was called wrongly.
 */
export function runDeploy(args: readonly string[], deps: DeployDependencies): Promise<0 | 1 | 2> {
  const program = new Command(callName)
    .description(
      'Deploys the service into your AWS account: checks the account, asks for what must be set, shows what would change, deploys, and creates the first project. Run it again to continue or to update.',
    )
    .option('--stage <stage>', 'deploy the stack Carillon-<stage> (default: Carillon)')
    .option('--region <region>', "AWS region (default: your profile's)")
    .option('--vapid-subject <address>', 'where push services can reach you: mailto: or https:')
    .option('--alarm-email <address>', 'whom alarms notify; "none" for nobody')
    .option(
      '--project <projectId>',
      'id of the first project (with --yes: none without it)',
      readProjectId,
    )
    .option('--yes', 'do not ask: use what is set, bootstrap if needed, and deploy')
    .action(async (options: Options) => {
      const region = options.region === undefined ? {} : { region: options.region };
      const cloudFormation = new CloudFormationClient(region);
      const account = await openAccount(cloudFormation);
      const deployment = new Deployment(deps, options, account);
      try {
        await deployment.run();
      } finally {
        deployment.close();
        account.close();
        cloudFormation.destroy();
      }
    });
  return runCommandLine(program, args, deps.terminal);
}

/** The version of the CDK's bootstrap stack is not compared: the CDK says itself if it is too old. */
const bootstrapStack = 'CDKToolkit';
/** Lambda's usual quota. A new account has 10. */
const usualConcurrency = 1000;

class Deployment {
  readonly #deps: DeployDependencies;
  readonly #options: Options;
  readonly #account: AwsAccount;
  readonly #paint: Paint;
  #dialogue: Dialogue | undefined;

  constructor(deps: DeployDependencies, options: Options, account: AwsAccount) {
    this.#deps = deps;
    this.#options = options;
    this.#account = account;
    this.#paint = paintFor(deps.terminal.output);
  }

  async run(): Promise<void> {
    const { accountId, region, caller } = this.#account;
    this.#report('account', 'ok', `${accountId} in ${region}, as ${caller}.`);
    const context = await readContext(this.#settingsFile);
    const stage = this.#options.stage ?? context.stage ?? 'prod';
    const stack = stage === 'prod' ? 'Carillon' : `Carillon-${stage}`;

    const status = await this.#checkStack(stack);
    await this.#checkBootstrap();
    const quotaSettings = await this.#checkConcurrency(context);
    await this.#askSettings({ ...context, stage }, quotaSettings);
    await this.#showChanges(stack, status);
    await this.#agree(`Deploy ${stack} to ${accountId} in ${region}?`, 'Nothing was deployed.');
    await this.#deploy(stack);
    await this.#createFirstProject(stack);
  }

  close(): void {
    this.#dialogue?.close();
  }

  get #settingsFile(): string {
    return join(this.#deps.root, 'cdk.json');
  }

  /** @returns the stack's status; undefined if it does not exist. */
  async #checkStack(stack: string): Promise<string | undefined> {
    const status = await this.#account.stackStatus(stack);
    if (status === undefined) {
      this.#report('stack', 'ok', `${stack} does not exist yet.`);
    } else if (/^(CREATE|UPDATE|IMPORT|UPDATE_ROLLBACK)_COMPLETE$/.test(status)) {
      this.#report('stack', 'ok', `${stack} is ${status}. This is an update.`);
    } else if (status === 'ROLLBACK_COMPLETE') {
      this.#report(
        'stack',
        'warning',
        `The first deployment of ${stack} failed; what is left is empty.`,
      );
      await this.#agree('Replace it?', 'Nothing was changed.');
      await this.#account.unprotect(stack);
    } else {
      const message = `${stack} is ${status}: ${meaningOf(status)}`;
      this.#report('stack', 'problem', message);
      throw new CommandError('stack_not_ready', message);
    }
    return status;
  }

  /** Creates what the CDK needs, once per account and region. */
  async #checkBootstrap(): Promise<void> {
    const { accountId, region } = this.#account;
    const status = await this.#account.stackStatus(bootstrapStack);
    if (status?.endsWith('_COMPLETE') && status !== 'ROLLBACK_COMPLETE') {
      this.#report('bootstrap', 'ok', 'The bucket and the roles of the CDK exist.');
      return;
    }
    this.#report(
      'bootstrap',
      'warning',
      `The CDK needs a bucket and roles in this account and region: the stack ${bootstrapStack}.`,
    );
    await this.#agree('Create them?', 'Nothing was created.');
    await this.#cdk('bootstrap', `aws://${accountId}/${region}`);
    this.#report('bootstrap', 'ok', 'The bucket and the roles of the CDK are created.');
  }

  /** @returns settings that follow from the quota. */
  async #checkConcurrency({ accountConcurrency }: Context): Promise<Record<string, number>> {
    const executions = await this.#account.concurrency().catch(() => undefined);
    const text = `Lambda runs ${executions} functions at once in this account and region`;
    if (executions === undefined) {
      this.#report('concurrency', 'warning', 'You may not read it (lambda:GetAccountSettings).');
    } else if (executions >= usualConcurrency) {
      this.#report('concurrency', 'ok', `${text}.`);
    } else {
      this.#report(
        'concurrency',
        'warning',
        `${text}: enough to try, not for more than about 500 subscribers. Request 1,000 now, because AWS may take days: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000`,
      );
    }
    const isSet = Number(accountConcurrency ?? usualConcurrency) === executions;
    return executions === undefined || isSet ? {} : { accountConcurrency: executions };
  }

  /** Asks for the settings that have no sensible default, and writes them to cdk.json. */
  async #askSettings(context: Context, found: Readonly<Record<string, number>>): Promise<void> {
    const vapidSubject = await this.#ask('vapidSubject', context.vapidSubject, {
      given: this.#options.vapidSubject,
      question: 'Address at which push services can reach you, such as an e-mail address',
      read: (text) => (/^[^:]+@/.test(text) ? `mailto:${text}` : text),
      refuse: (text) =>
        this.#mistake({ ...context, vapidSubject: text }, 'vapidSubject') ?? exampleMistake(text),
    });
    const alarmEmail =
      context.alarmTopicArn === undefined
        ? await this.#ask('alarmEmail', context.alarmEmail ?? 'none', {
            given: this.#options.alarmEmail,
            question: 'E-mail address that alarms notify, or "none"',
            read: (text) => text,
            refuse: (text) =>
              text === 'none'
                ? undefined
                : (this.#mistake({ ...context, alarmEmail: text }, 'alarmEmail') ??
                  exampleMistake(text)),
          })
        : 'none';
    const wanted = { vapidSubject, ...(alarmEmail !== 'none' && { alarmEmail }), ...found };
    const changed = Object.entries(wanted).filter(([name, value]) => context[name] !== value);
    await writeSettings(this.#settingsFile, Object.fromEntries(changed));
    const names = changed.map(([name]) => name).join(', ');
    this.#report(
      'settings',
      'ok',
      changed.length === 0 ? 'cdk.json has all of them.' : `Wrote ${names} to cdk.json. Commit it.`,
    );
  }

  /** What is wrong with one setting of all. */
  #mistake(context: Context, setting: string): string | undefined {
    try {
      this.#deps.checkSettings(context);
      return undefined;
    } catch (error) {
      const lines = (error as Error).message.split('\n');
      const start = `setting ${setting} `;
      return lines.find((line) => line.startsWith(start))?.slice(start.length);
    }
  }

  /** The value of a setting: as given, as typed, or as it is. */
  async #ask(
    name: string,
    present: unknown,
    { given, question, read, refuse }: Question,
  ): Promise<string> {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const isAsked = given === undefined && !this.#options.yes;
    for (;;) {
      const offer = present === undefined ? '' : ` [${present}]`;
      const typed = isAsked ? await this.#question(`${question}${offer}: `, flag) : given;
      const text = typed?.trim() || present;
      const value = text === undefined ? undefined : read(String(text));
      const mistake = value === undefined ? 'is missing' : refuse(value);
      if (value !== undefined && mistake === undefined) return value;
      const message = `${name} ${mistake}.`;
      if (!isAsked) throw new CommandError('invalid_setting', `${message} Use ${flag}.`);
      this.#deps.terminal.messages.write(`${message}\n`);
    }
  }

  async #showChanges(stack: string, status: string | undefined): Promise<void> {
    const { terminal, root } = this.#deps;
    if (status === undefined || status === 'ROLLBACK_COMPLETE') {
      await this.#cdk('synth', '--quiet', '--strict');
      const file = join(root, 'cdk.out', `${stack}.template.json`);
      const { Resources } = JSON.parse(await readFile(file, 'utf8'));
      terminal.output.write(
        `\nThe stack will have ${resourcesText(Object.values(Resources))}. Without traffic they cost about\n$9 a month: docs/performance.md has the sums.\n\n`,
      );
      return;
    }
    terminal.output.write('\n');
    await this.#cdkWith((line) => terminal.output.write(`${line}\n`), 'diff', '--strict');
  }

  async #deploy(stack: string): Promise<void> {
    const { messages } = this.#deps.terminal;
    let bar: ReturnType<typeof progressBar> | undefined;
    const failures: string[] = [];
    const args = ['--strict', '--require-approval', 'never', '--progress', 'events'];
    const onLine = (line: string) => {
      const event = readEvent(line);
      if (event === undefined) return;
      bar ??= progressBar(messages, 'Resources', event.total);
      bar.update(event.done);
      if (event.isFailed) failures.push(event.text);
    };
    // An interruption ends the CDK. This command stays, and says where things stand.
    const interruption = abortOnInterrupt();
    try {
      await this.#cdkWith(onLine, 'deploy', ...args);
    } catch (error) {
      bar?.stop();
      const status = await this.#account.stackStatus(stack).catch(() => 'unknown');
      const now = `${stack} ${status === undefined ? 'does not exist' : `is ${status}`}: ${meaningOf(status)}`;
      // CloudFormation's first failure is the cause; it cancels the other resources.
      const cause = failures[0] ?? (error as Error).message;
      throw new CommandError('deployment_failed', `${cause} ${now}`);
    } finally {
      interruption.stop();
    }
    bar?.stop();
    this.#report('deployment', 'ok', `${stack} is deployed.`);
  }

  async #createFirstProject(stack: string): Promise<void> {
    const { output } = this.#deps.terminal;
    const { region } = this.#account;
    const connection = await connect({ kind: 'deployed', stack, region });
    try {
      const { registry, baseUrl } = connection;
      const first = (await registry.list().next()).value;
      if (first === undefined && (this.#options.project !== undefined || !this.#options.yes)) {
        const projectId = await this.#ask('project', 'my-site', {
          given: this.#options.project,
          question: 'Id of your first project',
          read: (text) => text,
          refuse: (text) =>
            projectIdPattern.test(text)
              ? undefined
              : 'must be 1 to 64 lowercase letters, digits or hyphens, not starting with a hyphen',
        });
        const created = await registry.create({ projectId, random: randomBytes });
        const { project, secretKey, identityKey } = created;
        const { vapidPublicKey: applicationServerKey } = project;
        const card = { projectId, applicationServerKey, secretKey, identityKey };
        output.write(`\n${projectCard(card, baseUrl, this.#paint)}\n`);
      }
      output.write(nextCommands(stack, region, baseUrl, this.#paint));
    } finally {
      connection.close();
    }
  }

  async #agree(question: string, refusal: string): Promise<void> {
    if (this.#options.yes) return;
    const typed = await this.#question(`${question} [y/N] `, '--yes');
    if (!/^y(es)?$/i.test(typed.trim())) throw new CommandError('not_confirmed', refusal);
  }

  /** @param flag gives the same answer without a terminal. */
  async #question(question: string, flag: string): Promise<string> {
    const { terminal } = this.#deps;
    if (!terminal.input.isTTY) {
      throw new CommandError('confirmation_needed', `Cannot ask without a terminal. Use ${flag}.`);
    }
    this.#dialogue ??= openDialogue(terminal);
    const typed = await this.#dialogue.ask(question);
    if (typed !== undefined) return typed;
    throw new CommandError('not_confirmed', 'Stopped. Run the command again to continue.');
  }

  /** Prints what the CDK printed last, if it fails. @throws {CommandError} */
  async #cdk(command: string, ...args: readonly string[]): Promise<void> {
    await this.#cdkWith(() => {}, command, ...args);
  }

  async #cdkWith(
    onLine: (line: string) => void,
    command: string,
    ...args: readonly string[]
  ): Promise<void> {
    const { stage } = this.#options;
    const lines: string[] = [];
    const code = await this.#deps.runCdk(
      [command, ...args, ...(stage === undefined ? [] : ['-c', `stage=${stage}`])],
      { AWS_REGION: this.#account.region },
      (line) => {
        lines.push(line);
        onLine(line);
      },
    );
    if (code === 0) return;
    const last = lines.filter((line) => line.trim() !== '').slice(-10);
    this.#deps.terminal.messages.write(`${last.join('\n')}\n`);
    throw new CommandError('cdk_failed', `"cdk ${command}" failed, see above.`);
  }

  #report(check: string, level: Finding['level'], message: string): void {
    this.#deps.terminal.output.write(findingLine({ check, level, message }, this.#paint));
  }
}

interface Question {
  /** The value of the flag. */
  readonly given: string | undefined;
  readonly question: string;
  readonly read: (text: string) => string;
  /** What is wrong with a value. */
  readonly refuse: (value: string) => string | undefined;
}

/** What a status of a stack means for the next deployment. */
function meaningOf(status: string | undefined): string {
  if (status === undefined) return `nothing was created. Run ${callName} again.`;
  if (status.endsWith('_IN_PROGRESS')) {
    return 'CloudFormation is still working, also without this command. Run it again in some minutes.';
  }
  if (status === 'ROLLBACK_COMPLETE') {
    return 'the first deployment failed, and CloudFormation has deleted what it had created. Run this command again.';
  }
  if (status === 'UPDATE_ROLLBACK_COMPLETE') {
    return 'the update failed, and the version before it runs. Fix the cause and run this command again.';
  }
  if (status.endsWith('_COMPLETE')) return 'run this command again.';
  return 'CloudFormation could not go back: see "Rolling back" in docs/deploy.md.';
}

const resourceNames: Readonly<Record<string, string>> = {
  'AWS::ApiGatewayV2::Route': 'routes',
  'AWS::Lambda::Function': 'functions',
  'AWS::DynamoDB::GlobalTable': 'tables',
  'AWS::DynamoDB::Table': 'tables',
  'AWS::CloudWatch::Alarm': 'alarms',
};

/** `10 functions, 8 tables and 90 others`. */
function resourcesText(resources: readonly { readonly Type?: string }[]): string {
  const counts = new Map<string, number>();
  for (const { Type = '' } of resources) {
    const name = resourceNames[Type] ?? 'others';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const others = counts.get('others') ?? 0;
  counts.delete('others');
  const named = [...counts].map(([name, count]) => `${count} ${name}`);
  return `${named.join(', ')} and ${countOf(others, 'other resource')}, mostly permissions`;
}

function nextCommands(stack: string, region: string, baseUrl: string, paint: Paint): string {
  const options = `${stack === 'Carillon' ? '' : ` --stack ${stack}`} --region ${region}`;
  return [
    '',
    paint('bold', 'Next'),
    '',
    `${programName} doctor --deliver${options}    # sends a notification and receives it`,
    `npm run console -- --base-url ${baseUrl}    # sends from a page`,
    'npm run build:package    # writes the SDK for your site to sdk/dist/: docs/sdk.md',
    '',
  ].join('\n');
}

function exampleMistake(address: string): string | undefined {
  return isExampleAddress(address) ? 'is an example: write your own address' : undefined;
}
