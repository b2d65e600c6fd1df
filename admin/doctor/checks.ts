import { type DeployedSettings, settingNames } from '../../contract/environment.ts';
import { isExampleAddress } from '../../contract/example-address.ts';
import type { Connection } from '../commands/connection.ts';
import { type EffectiveLimits, effectiveLimits } from '../commands/effective-limits.ts';
import type { Finding } from './finding.ts';

type Deployment = Pick<Connection, 'registry' | 'settings' | 'facts'>;

type Check = (deployment: Deployment) => Promise<Finding>;

const ok = (message: string): Finding => ({ level: 'ok', message });
const warning = (message: string): Finding => ({ level: 'warning', message });
const problem = (message: string): Finding => ({ level: 'problem', message });
const skipped: Finding = { level: 'skipped', message: 'Not with a local stack.' };

/** By name, in the order in which they are printed. */
export const checks: Readonly<Record<string, Check>> = {
  async stack({ facts }) {
    const stack = await facts.stack();
    if (stack === undefined) return skipped;
    if (!/^(CREATE|UPDATE|IMPORT)_COMPLETE$/.test(stack.status)) {
      return problem(
        `The stack is ${stack.status}. See its events in CloudFormation, and deploy again.`,
      );
    }
    if (!stack.isProtected) {
      return warning(
        'The stack has no termination protection. Deploy again, or enable it in CloudFormation.',
      );
    }
    return ok(`The stack is ${stack.status} and protected.`);
  },

  async functions({ facts }) {
    const functions = await facts.functions();
    const failed = functions.find(({ failure }) => failure !== undefined);
    if (failed === undefined) return ok(`${functions.length} functions are ready.`);
    return problem(`Function ${failed.name} cannot run: ${failed.failure}. Deploy again.`);
  },

  async settings({ facts, settings }) {
    const different = (await facts.functions()).flatMap(({ name, environment }) =>
      settingNames
        .filter((setting) => setting in environment)
        .filter((setting) => environment[setting] !== textOf(settings, setting))
        .map((setting) => `${setting} of ${name}`),
    );
    if (different.length === 0) return ok('The functions have the settings of the stack.');
    return problem(
      `Changed by hand: ${different.join(', ')}. Set it in cdk.json and deploy again.`,
    );
  },

  async 'vapid subject'({ facts, settings: { VAPID_SUBJECT: subject } }) {
    // Its push service takes any.
    if ((await facts.stack()) === undefined) return skipped;
    return isExampleAddress(subject)
      ? problem(
          `${subject} is an example. Set vapidSubject to an address at which push services reach you.`,
        )
      : ok(subject);
  },

  async address({ facts }) {
    const url = facts.apiUrl;
    return /\.execute-api\.[^.]+\.amazonaws\.com/.test(url)
      ? warning(
          `${url} is AWS's name. It is part of your pages and changes with a new stack: use your own domain, see docs/custom-domain.md.`,
        )
      : ok(url);
  },

  async concurrency({ facts }) {
    const executions = await facts.concurrency();
    const text = `Lambda runs ${executions} functions at once in this account and region.`;
    const sentences = [text];
    if (executions < usualConcurrency) {
      sentences.push('Request a higher quota "Concurrent executions" of Lambda (L-B99A9384).');
    }
    const setting = facts.quotas?.executions ?? executions;
    if (setting !== executions) {
      sentences.push(
        `The setting accountConcurrency is ${setting}: set it to ${executions} and deploy again, or its alarm fires ${setting < executions ? 'early' : 'too late'}.`,
      );
    }
    const message = sentences.join(' ');
    if (executions < neededConcurrency) return problem(message);
    return sentences.length > 1 ? warning(message) : ok(message);
  },

  async 'api quota'({ facts }) {
    const requests = await facts.requestsPerSecond();
    const { quotas } = facts;
    if (requests === undefined || quotas === undefined) return skipped;
    const text = `API Gateway accepts ${requests} requests per second in this account and region.`;
    if (requests >= quotas.requestsPerSecond) return ok(text);
    return warning(
      `${text} The throttles of the routes add up to ${quotas.requestsPerSecond}: a flood on one route blocks the others. Request a higher quota "Throttle rate" (L-8A5B8E43).`,
    );
  },

  async 'alarm actions'({ facts }) {
    const alarms = await facts.alarms();
    if (alarms === undefined) return skipped;
    return alarms.some(({ hasAction }) => hasAction)
      ? ok('Alarms notify somebody.')
      : problem(
          'No alarm has an action, so nobody is told. Set alarmEmail or alarmTopicArn in cdk.json and deploy again.',
        );
  },

  async alarms({ facts }) {
    const alarms = await facts.alarms();
    if (alarms === undefined) return skipped;
    const firing = alarms.filter(({ isFiring }) => isFiring).map(({ name }) => name);
    return firing.length === 0
      ? ok(`None of ${alarms.length} alarms fires.`)
      : problem(`Firing: ${firing.join(', ')}. See docs/runbook.md.`);
  },

  async backups({ facts }) {
    const tables = await facts.tablesWithoutBackup();
    if (tables === undefined) return skipped;
    return tables.length === 0
      ? ok('Every table of projects has point-in-time recovery.')
      : problem(
          `Without point-in-time recovery: ${tables.join(', ')}. Enable it, or deploy again.`,
        );
  },

  async limits({ registry, settings }) {
    const near: string[] = [];
    for await (const { projectId, plan } of registry.list()) {
      const usage = await registry.usage(projectId);
      near.push(
        ...nearLimits(usage, effectiveLimits(plan, settings)).map(
          (what) => `${projectId} (${what})`,
        ),
      );
    }
    return near.length === 0
      ? ok('No project is near a limit.')
      : warning(`Near a limit: ${near.join(', ')}. Raise it with the command set.`);
  },
};

/** Lambda's usual quota. New accounts start with 10. */
const usualConcurrency = 1000;
/** One large send, and as many requests at a time. */
const neededConcurrency = 200;

/** The part of a limit from which it is reported. */
const nearShare = 0.9;

function nearLimits(
  { subscribers, sends }: { readonly subscribers: number; readonly sends: number },
  { subscriberCap, monthlySendCap }: EffectiveLimits,
): string[] {
  const isNear = (count: number, limit: number | null) =>
    limit !== null && count >= nearShare * limit;
  return [
    ...(isNear(subscribers, subscriberCap)
      ? [`${subscribers} of ${subscriberCap} subscribers`]
      : []),
    ...(isNear(sends, monthlySendCap) ? [`${sends} of ${monthlySendCap} sends`] : []),
  ];
}

/** A setting as the functions' environment has it. */
function textOf(settings: DeployedSettings, name: (typeof settingNames)[number]): string {
  return String(settings[name]);
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
