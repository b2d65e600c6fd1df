import { settingNames } from '../../contract/infrastructure/environment.ts';
import { constructIdOf, tableNames } from '../../contract/infrastructure/tables.ts';
import { isExampleAddress } from '../../contract/text/addresses.ts';
import { deliveryVerdict, needsAttention } from '../../contract/wording/delivery-verdict.ts';
import { readParts, subscriberCounter, sumOf } from '../../lambdas/store/counters.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { settingsFileName } from '../calls.ts';
import type { Context } from '../commands/command.ts';
import { outcomeText } from '../commands/notifications.ts';
import { type EffectiveLimits, effectiveLimits } from '../commands/show.ts';
import { stackAdvice, stackStateOf } from '../deployed-stack.ts';
import { keysMissing } from '../errors.ts';
import { lacksOf, lostTableNames, lostTables } from '../lost-tables.ts';
import { isCountRight } from '../recount.ts';
import { sentNotifications } from '../sent-notifications.ts';
import { WholeProjects } from '../store/whole-projects.ts';
import { formatTime } from '../terminal/table.ts';
import { type Paint, printable } from '../terminal/terminal.ts';
import type { AwsFacts } from './aws-facts.ts';

type Deployment = Pick<
  Context,
  | 'registry'
  | 'settings'
  | 'baseUrl'
  | 'version'
  | 'functions'
  | 'aws'
  | 'dynamo'
  | 'tables'
  | 'service'
  | 'next'
> & {
  /** Whether all projects are counted, however large they are. */
  readonly count?: boolean;
};

type Check = (deployment: Deployment) => Promise<Finding>;

const ok = (message: string): Finding => ({ level: 'ok', message });
const warning = (message: string): Finding => ({ level: 'warning', message });
const problem = (message: string): Finding => ({ level: 'problem', message });

/** A check that a local stack has nothing for. */
function inAws(check: (aws: AwsFacts, deployment: Deployment) => Promise<Finding>): Check {
  return async (deployment) =>
    deployment.aws === undefined
      ? { level: 'skipped', message: 'Not with a local stack.' }
      : check(deployment.aws, deployment);
}

/** Lambda's usual quota. New accounts start with 10. */
const usualConcurrency = 1000;

/**
 * @param executions at a time that Lambda allows the account in this region.
 * @param setting what the deployed stack assumes.
 */
export function concurrencyFinding(executions: number, setting = executions): Finding {
  const sentences = [`Lambda runs ${executions} functions at once in this account and region.`];
  if (setting !== executions) {
    sentences.push(
      `The stack assumes ${setting}: deploy again, or its alarm fires ${setting < executions ? 'early' : 'too late'}.`,
    );
  }
  if (executions < usualConcurrency) {
    // A state of new accounts, and no fault.
    sentences.push(
      `Ten are enough for about 500 subscribers. AWS may take days to raise it: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${usualConcurrency}`,
    );
  }
  const message = sentences.join(' ');
  return sentences.length > 1 ? warning(message) : ok(message);
}

/** By name, in the order in which they are printed. */
export const checks: Readonly<Record<string, Check>> = {
  stack: inAws(async (aws) => {
    const { status, isProtected } = (await aws.stack())!;
    const state = stackStateOf(status);
    if (state !== 'ready') return problem(`The stack is ${status}. ${stackAdvice[state]}`);
    if (status === 'UPDATE_ROLLBACK_COMPLETE') {
      return warning('The last update failed, and the version before it runs. Deploy again.');
    }
    if (!isProtected) {
      return warning(
        'The stack has no termination protection. Deploy again, or enable it in CloudFormation.',
      );
    }
    return ok(`The stack is ${status} and protected.`);
  }),

  async version({ version }) {
    const { version: own } = packageJson;
    if (version === own) return ok(`The stack and this command have version ${own}.`);
    return warning(
      `The version of the stack is ${version ?? 'not known'}, that of this command ${own}. Deploy, or use the command of the stack's version.`,
    );
  },

  async functions(deployment) {
    const functions = await deployment.functions.functions();
    const failed = functions.find(({ failure }) => failure !== undefined);
    if (failed === undefined) return ok(`${functions.length} functions are ready.`);
    return problem(`Function ${failed.name} cannot run: ${failed.failure}. Deploy again.`);
  },

  async settings({ functions, settings }) {
    const different = (await functions.functions()).flatMap(({ name, environment }) =>
      settingNames
        .filter((setting) => setting in environment)
        .filter((setting) => environment[setting] !== String(settings[setting]))
        .map((setting) => `${setting} of ${name}`),
    );
    if (different.length === 0) return ok('The functions have the settings of the stack.');
    return problem(
      `Changed by hand: ${different.join(', ')}. Set it in ${settingsFileName} and deploy again.`,
    );
  },

  // A local push service takes any.
  'vapid subject': inAws(async (_, { settings: { VAPID_SUBJECT: subject } }) =>
    isExampleAddress(subject)
      ? problem(
          `${subject} is an example or private. Set vapidSubject to an address at which push services reach you.`,
        )
      : ok(subject),
  ),

  async address({ baseUrl: url }) {
    return /\.execute-api\.[^.]+\.amazonaws\.com/.test(url)
      ? warning(
          `${url} is AWS's name. It is part of your pages and changes with a new stack: use your own domain, see docs/custom-domain.md.`,
        )
      : ok(url);
  },

  async concurrency({ functions, aws }) {
    return concurrencyFinding(await functions.concurrency(), aws?.quotas.executions);
  },

  'api throttle': inAws(async ({ quotas, requestsPerSecond }) => {
    const requests = await requestsPerSecond();
    const text = `API Gateway accepts ${requests} requests per second in this account and region.`;
    if (requests >= quotas.requestsPerSecond) return ok(text);
    return warning(
      `${text} The throttles of the routes add up to ${quotas.requestsPerSecond}: a flood on one route blocks the others. Ask for more in Service Quotas: "Throttle rate" of API Gateway (L-8A5B8E43).`,
    );
  }),

  'alarm actions': inAws(async (aws) => {
    const alarms = await aws.alarms();
    if (!alarms.some(({ hasAction }) => hasAction)) {
      return warning('Alarms notify nobody. Set alarmEmail or alarmTopicArn, and deploy again.');
    }
    const topic = await aws.alarmTopic();
    if (topic === undefined)
      return ok('Alarms notify a topic of yours. Who gets its messages was not asked.');
    if (topic.isConfirmed) return ok('Alarms notify somebody.');
    return problem(
      `Nobody has confirmed AWS's mail, so alarms notify nobody. 48 hours after the deployment AWS forgets the address. Then subscribe it again: aws sns subscribe --protocol email --topic-arn ${topic.arn} --notification-endpoint ADDRESS`,
    );
  }),

  alarms: inAws(async (aws) => {
    const alarms = await aws.alarms();
    const firing = alarms
      .filter(({ isFiring }) => isFiring)
      .map(({ name, runbook = 'Runbook: docs/runbook.md' }) => `${name}. ${runbook}`);
    return firing.length === 0
      ? ok(`None of ${alarms.length} alarms fires.`)
      : problem(`Firing: ${firing.join('; ')}`);
  }),

  async tables(deployment) {
    const lost = await lostTables(deployment);
    if (lost.length > 0) {
      return problem(`Do not exist: ${lostTableNames(lost)}. ${restoreTables(deployment)}`);
    }
    const lacking: string[] = [];
    for (const table of tableNames) {
      const lacks = await lacksOf(deployment, table);
      if (lacks.length > 0) lacking.push(`${constructIdOf(table)} (${lacks.join(', ')})`);
    }
    return lacking.length === 0
      ? ok('All tables are there, with recovery, expiry and tags.')
      : problem(`Incomplete: ${lacking.join(', ')}. ${restoreTables(deployment)}`);
  },

  async keys({ registry, dynamo, tables }) {
    const whole = new WholeProjects(dynamo, tables);
    const lost: string[] = [];
    for await (const { projectId } of registry.list()) {
      const { vapidKey, identityKey } = await whole.keysOf(projectId);
      if (!vapidKey || !identityKey) lost.push(projectId);
    }
    return lost.length === 0
      ? ok('Each project has its keys.')
      : problem(keysMissing(lost).message);
  },

  async limits({ registry, settings }) {
    const used: UsedLimit[] = [];
    for await (const { projectId, settings: own } of registry.list()) {
      const usage = await registry.usage(projectId);
      used.push(...usedLimits(projectId, usage, effectiveLimits(own, settings)));
    }
    const [near, reached] = [false, true].map((isReached) =>
      used
        .filter(({ count, limit }) => count >= limit === isReached)
        .map(({ projectId, count, limit, what }) => `${projectId} (${count} of ${limit} ${what})`)
        .join(', '),
    );
    const nearText = near ? `Near a limit: ${near}. Raise it with the command set.` : '';
    if (!reached) return near ? warning(nearText) : ok('No project is near a limit.');
    const effects = new Set(
      used.flatMap(({ count, limit, effect }) => (count >= limit ? effect : [])),
    );
    return problem([`Reached: ${reached}.`, ...effects, nearText].join(' ').trimEnd());
  },

  async counters({ registry, dynamo, tables, count, next }) {
    const [wrong, left]: [string[], string[]] = [[], []];
    for await (const { projectId, ref } of registry.list()) {
      const parts = await readParts(dynamo, subscriberCounter(tables.usage, ref));
      const isMissing = parts.includes(undefined);
      if (!isMissing && !count && sumOf(parts) > countedByDoctor) left.push(projectId);
      else if (isMissing || !(await isCountRight({ dynamo, tables }, ref))) wrong.push(projectId);
    }
    const leftText =
      left.length === 0 ? '' : ` Too large to be counted without --count: ${left.join(', ')}.`;
    return wrong.length === 0
      ? ok(`Subscribers are counted as they are stored.${leftText}`)
      : problem(
          `Counted otherwise than stored: the subscribers of ${wrong.join(', ')}. If a table was lost, its data are missing: docs/backup.md. Otherwise count them again (${wrong.map((projectId) => next(`recount ${projectId}`)).join('; ')}).${leftText}`,
        );
  },

  async sends({ registry, dynamo, tables, next }) {
    const found: { readonly isBad: boolean; readonly text: string }[] = [];
    for await (const { projectId, ref, pausedAt } of registry.list()) {
      if (pausedAt) {
        const since = `${projectId} is paused since ${formatTime(pausedAt)}`;
        const text = `${since} (who did it: ${next(`audit ${projectId}`)}; to end it: ${next(`resume ${projectId}`)}).`;
        found.push({ isBad: false, text });
      }
      const sent = sentNotifications(dynamo, tables, ref, () => new Date());
      for (const one of await sent.latest(checkedSends)) {
        const isQuiet = one.noNewsSince !== undefined;
        if (!isQuiet && !needsAttention(one)) continue;
        const isBad = isQuiet || deliveryVerdict(one).tone === 'bad';
        const text = `${projectId}, ${formatTime(one.sentAt)}: ${outcomeText(one)}`;
        found.push({ isBad, text });
      }
    }
    if (found.length === 0) return ok('Nothing is wrong with the latest sends.');
    const message = `${found.map(({ text }) => text).join(' ')} See docs/runbook.md.`;
    return found.some(({ isBad }) => isBad) ? problem(message) : warning(message);
  },

  async 'member keys'({ registry }) {
    const before = new Date(Date.now() - memberKeyAgeMs).toISOString();
    const old: string[] = [];
    for await (const { projectId } of registry.list()) {
      const members = await registry.members(projectId);
      const names = members.filter(({ createdAt }) => createdAt < before).map(({ name }) => name);
      if (names.length > 0) old.push(`${projectId} (${names.join(', ')})`);
    }
    return old.length === 0
      ? ok('No member key is older than a year.')
      : warning(
          `Older than a year: the member keys of ${old.join('; ')}. Revoke those that nobody needs.`,
        );
  },
};

const restoreTables = ({ next }: Deployment) =>
  `Bring back what is missing with: ${next('tables restore')}`;

/** Milliseconds after which a member key is reported: people leave. */
const memberKeyAgeMs = 365 * 24 * 60 * 60_000;

/** Subscribers up to which a project is counted without being asked for: that takes a second. */
const countedByDoctor = 100_000;

/** The latest sends of a project that are looked at. */
const checkedSends = 3;

/** The part of a limit from which it is reported. */
const nearShare = 0.9;

interface UsedLimit {
  readonly projectId: string;
  readonly count: number;
  readonly limit: number;
  readonly what: string;
  /** What happens at the limit. */
  readonly effect: string;
}

/** The limits that a project has used, fully or nearly. */
function usedLimits(
  projectId: string,
  { subscribers, sends }: { readonly subscribers: number; readonly sends: number },
  { subscriberCap, monthlySendCap }: EffectiveLimits,
): readonly UsedLimit[] {
  const limits = [
    {
      ...{ count: subscribers, limit: subscriberCap, what: 'subscribers' },
      effect: 'New subscribers get 403: see docs/runbook.md#subscribersrefused.',
    },
    {
      ...{ count: sends, limit: monthlySendCap, what: 'sends' },
      effect: 'Sends get 429: see docs/runbook.md#sendsrefused.',
    },
  ];
  return limits.flatMap(({ limit, ...used }) =>
    limit !== null && used.count >= nearShare * limit ? [{ projectId, limit, ...used }] : [],
  );
}

/** Runs a check. A check that fails is a finding too: it says why it could not be made. */
export async function runCheck(check: Check, deployment: Deployment): Promise<Finding> {
  try {
    return await check(deployment);
  } catch (error) {
    const { message } = error as Error;
    return problem(`The check failed: ${message.replaceAll('\n', ' ')}`);
  }
}

/** `skipped`: the stack has nothing to check. */
export type Level = 'ok' | 'warning' | 'problem' | 'skipped';

export interface Finding {
  readonly level: Level;
  /** What was found, and what to do about it. One line. */
  readonly message: string;
}

export interface NamedFinding extends Finding {
  readonly check: string;
  /** How long it took, if that tells something. */
  readonly milliseconds?: number;
}

const colours = { ok: 'green', warning: 'yellow', problem: 'red', skipped: 'dim' } as const;

export function findingLine(
  { check, level, message, milliseconds }: NamedFinding,
  paint: Paint,
): string {
  const time = milliseconds === undefined ? '' : paint('dim', ` (${milliseconds} ms)`);
  return `${paint(colours[level], level.padEnd(7))}  ${check.padEnd(13)}  ${printable(message)}${time}\n`;
}
