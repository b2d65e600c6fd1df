import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { pathOf } from '../../contract/text/addresses.ts';
import {
  type DeliveryCounts,
  type FailureReason,
  type Failures,
  failureReasons,
} from '../../contract/wire/counts.ts';
import type { PushMessage } from '../../contract/wire/message.ts';
import type { SendRequest } from '../../contract/wire/notification.ts';
import { routes } from '../../contract/wire/routes.ts';
import { bodyOrThrow, failureOf } from '../../sdk/server/attempt.ts';
import { type MakeAttempts, ProjectClient } from '../../sdk/server/project-client.ts';
import { createBrowserKeys, decrypt } from '../browser.ts';
import { ProjectNotFound } from '../errors.ts';
import type { ProjectRegistry, RandomSource } from '../project-registry.ts';
import type { Finding, NamedFinding } from './checks.ts';
import { PushClient } from './push-client.ts';

export interface DeliveryDependencies {
  readonly registry: ProjectRegistry;
  readonly baseUrl: string;
  /** Address of the push service's WebSocket for browsers: `wss://push.services.mozilla.com`. */
  readonly pushService: string;
  readonly random: RandomSource;
  /** Ends the check. What it has made is removed all the same. */
  readonly signal: AbortSignal;
  /** Ms after which a message is taken as dropped. Default: 30 s. */
  readonly arrivalMs?: number;
}

type Report = (finding: NamedFinding) => void;

/** Limit of each step. A send takes 29 s at most. */
const timeoutMs = 40_000;
/** VAPID tokens are valid for 12 hours: push services refuse one only if a clock is far out. */
const clockToleranceMs = 5 * 60_000;

/**
 * Makes the whole way of a notification: subscribes as a browser at a push service, sends to that subscription,
 * receives and decrypts the message, reports it as shown, and reads the counts. The project is created for the check
 * and deleted after it.
 * @param report is called for each step. A step that fails is the last one, except for the removal.
 */
export async function checkDelivery(deps: DeliveryDependencies, report: Report): Promise<void> {
  const { registry, baseUrl, pushService, random, signal: interruption, arrivalMs = 30_000 } = deps;
  const id = random(16).toString('hex');
  const [projectId, userId, channelId] = [`doctor-${id}`, `user-${id}`, randomUUID()];
  const keys = createBrowserKeys();
  let client: PushClient | undefined;
  let mayHaveProject = false;
  try {
    await makeSteps();
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
  } finally {
    await cleanUp();
  }

  async function makeSteps(): Promise<void> {
    const browser = await step(
      'websocket',
      `This machine must reach ${pushService}: check its network, or name another push service with --via.`,
      async (signal) => {
        client = await PushClient.connect(pushService, signal);
        return { result: client, ...clockFinding(client.clockDifferenceMs) };
      },
    );
    const { project, secretKey } = await step(
      'project',
      'You need permission to write the tables of the stack.',
      async () => {
        mayHaveProject = true;
        const result = await registry.create({ projectId, settings: { name: 'Doctor' }, random });
        return { result, message: `Created the project ${projectId}.` };
      },
    );
    const endpoint = await step('endpoint', 'The fault is at the push service.', async (signal) => {
      const result = await browser.register(channelId, project.vapidPublicKey, signal);
      return { result, message: `The push service gave an endpoint at ${new URL(result).origin}.` };
    });
    await step(
      'subscribe',
      `If the endpoint is refused, add ${new URL(endpoint).origin} to extraPushOrigins and deploy again. Otherwise look at the log of the function Subscribe.`,
      async (signal) => {
        const p256dh = keys.publicKey.toString('base64url');
        const auth = keys.authSecret.toString('base64url');
        const url = baseUrl + pathOf(routes.subscribe, { projectId });
        await post(url, { endpoint, keys: { p256dh, auth }, userId }, signal);
        return { result: undefined, message: 'The service stored the subscription.' };
      },
    );

    const owner = new ProjectClient({ baseUrl, projectId, secretKey }, makeOneAttempt);
    const notification: SendRequest = {
      title: `Check of ${projectId}`,
      userIds: [userId],
      urgency: 'high',
      ttl: 60,
    };
    const sentId = await step(
      'send',
      'Look at the log of the function Send: unlike Subscribe, it reads the private VAPID key and connects to push services.',
      async (signal) => {
        for (;;) {
          const sent = await owner.send(notification, { signal });
          if (sent.attempted > 0) {
            requireDelivered(sent);
            return { result: sent.id, message: 'The push service accepted the push.' };
          }
          // The index of user ids is updated after the table.
          await pause(1000, undefined, { signal });
        }
      },
    );
    const message = await receive('message', browser, owner, sentId);
    const laterId = await step(
      'send later',
      'Look at the log of the function Send.',
      async (signal) => {
        const { id } = await owner.send(notification, { signal, respondAsync: true });
        return { result: id, message: 'The function Deliver is to send a notification.' };
      },
    );
    await receive('later message', browser, owner, laterId);
    await step('event', 'Look at the log of the function Track.', async (signal) => {
      await post(message.notification.data.events!, { type: 'shown' }, signal);
      return { result: undefined, message: 'The service counted the message as shown.' };
    });
    await step(
      'counts',
      'Counts are not stored: look at the logs of the functions Send and Track.',
      async (signal) => {
        const found = await owner.notification(sentId, { signal });
        requireDelivered(found);
        if (found.shown !== 1) throw new Error(`The notification has shown: ${found.shown}.`);
        return { result: undefined, message: 'The notification has delivered: 1, shown: 1.' };
      },
    );
    await step('removal', 'Look at the log of the function RemoveUser.', async (signal) => {
      const { removed } = await owner.removeUser(userId, { signal });
      if (removed !== 1) throw new Error(`${removed} subscriptions were removed, not 1.`);
      return { result: undefined, message: 'The subscription is removed.' };
    });
  }

  function receive(
    check: string,
    browser: PushClient,
    owner: ProjectClient,
    notificationId: string,
  ): Promise<PushMessage> {
    return step(check, '', async (signal) => {
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(arrivalMs)]);
      const body = await browser.nextMessage(inTime).catch(async (error: unknown) => {
        signal.throwIfAborted();
        const { delivered } = await owner.notification(notificationId, { signal });
        if (delivered === 0) throw new Error(notPushed);
        throw inTime.aborted ? new Error(dropped) : error;
      });
      const result = JSON.parse(decrypt(body, keys).toString()) as PushMessage;
      if (result.notification.data.id !== notificationId)
        throw new Error('Another message arrived.');
      return { result, message: 'The message arrived and was decrypted.' };
    });
  }

  /** Removes everything that the check has made. */
  async function cleanUp(): Promise<void> {
    try {
      await client?.unregister(channelId, AbortSignal.timeout(5000));
    } catch {
      // The connection has ended. Nobody knows the endpoint: the push service forgets it.
    }
    client?.close();
    try {
      if (mayHaveProject) await registry.remove(projectId, { withErasures: true });
    } catch (error) {
      if (error instanceof ProjectNotFound) return;
      const message = `${(error as Error).message} Delete the project ${projectId}.`;
      report({ check: 'removal', level: 'problem', message, milliseconds: 0 });
    }
  }

  /** Makes a step and reports it. @throws {StepFailed} */
  async function step<Result>(
    check: string,
    advice: string,
    make: (signal: AbortSignal) => Promise<Done<Result>>,
  ): Promise<Result> {
    const startedAt = performance.now();
    const reportStep = (level: Finding['level'], message: string) => {
      const milliseconds = Math.round(performance.now() - startedAt);
      report({ check, level, message, milliseconds });
    };
    try {
      interruption.throwIfAborted();
      const done = await make(AbortSignal.any([interruption, AbortSignal.timeout(timeoutMs)]));
      reportStep(done.level ?? 'ok', done.message);
      return done.result;
    } catch (error) {
      const { name, message } = error as Error;
      const fault =
        name === 'AbortError' || name === 'TimeoutError' ? 'It took too long.' : message;
      reportStep('problem', interruption.aborted ? 'Interrupted.' : sentences(fault, advice));
      throw new StepFailed();
    }
  }

  function clockFinding(differenceMs: number): Omit<Done<never>, 'result'> {
    if (Math.abs(differenceMs) < clockToleranceMs) {
      return { message: `Connected to ${pushService}.` };
    }
    const minutes = Math.round(differenceMs / 60_000);
    const side = minutes > 0 ? 'ahead of' : 'behind';
    const message = `The push service's clock is ${Math.abs(minutes)} minutes ${side} this machine's: set this machine's.`;
    return { message, level: 'warning' };
  }
}

/** Messages of libraries have no full stop. */
function sentences(fault: string, advice: string): string {
  return `${fault}${/[.?!]$/.test(fault) ? '' : '.'} ${advice}`.trimEnd();
}

/** The step's finding has been reported. */
class StepFailed extends Error {}

/** What a successful step has found out. */
interface Done<Result> {
  readonly result: Result;
  readonly message: string;
  readonly level?: 'warning';
}

const dropped =
  'The push service accepted the push and did not deliver the message. Run the check again; if it fails again, the fault is at the push service.';
const notPushed =
  'The function Deliver has not pushed the message. Either it fails: look at its log. Or Lambda throttles it: request a higher quota "Concurrent executions" of Lambda (L-B99A9384).';

/** The first failure is the finding. */
const makeOneAttempt: MakeAttempts = async (attemptOnce, signal) =>
  bodyOrThrow(await attemptOnce(signal!));

/** @throws unless the one push was delivered. */
function requireDelivered({
  attempted,
  delivered,
  failures = {},
}: DeliveryCounts & { failures?: Failures | undefined }): void {
  if (delivered === 1) return;
  const [reason] = Object.keys(failures) as FailureReason[];
  if (reason === undefined) throw new Error(`attempted is ${attempted}, delivered ${delivered}.`);
  throw new Error(
    `The push failed: ${reason}. ${failureReasons[reason].meaning}${faults[reason] ?? ''}`,
  );
}

const faults: Readonly<Partial<Record<FailureReason, string>>> = {
  vapid_refused: ' Check vapidSubject, and the clock of the machine that the functions run on.',
  no_response: ' The functions may have no access to the internet.',
  unsendable: ' Add the origin of the push service to extraPushOrigins and deploy again.',
};

async function post(url: string, body: object, signal: AbortSignal): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw await failureOf(response);
}
