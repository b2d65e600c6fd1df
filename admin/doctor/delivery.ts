import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type FailureReason,
  type Failures,
  failureReasons,
} from '../../contract/failure-reasons.ts';
import type { PushMessage } from '../../contract/message.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import type { DeliveryCounts } from '../../contract/schemas/delivery-counts.ts';
import type { SendRequest } from '../../contract/schemas/notification.ts';
import { errorOf } from '../../sdk/common/error.ts';
import { bodyOrThrow } from '../../sdk/server/attempt.ts';
import { type MakeAttempts, ProjectClient } from '../../sdk/server/project-client.ts';
import { createBrowserKeys } from '../browser/browser-keys.ts';
import { decrypt } from '../browser/decrypt.ts';
import { PushClient } from '../browser/push-client.ts';
import { ProjectNotFound } from '../errors.ts';
import type { RandomSource } from '../project-keys.ts';
import type { ProjectRegistry } from '../project-registry.ts';
import type { Finding, NamedFinding } from './finding.ts';

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
  const id = deps.random(16).toString('hex');
  const check = new DeliveryCheck(deps, id, report);
  try {
    await check.run();
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
  } finally {
    await check.cleanUp();
  }
}

/** The step's finding has been reported. */
class StepFailed extends Error {}

/** What a successful step has found out. */
interface Done<Result> {
  readonly result: Result;
  readonly message: string;
  readonly level?: 'warning';
}

class DeliveryCheck {
  readonly #deps: DeliveryDependencies;
  readonly #projectId: string;
  readonly #userId: string;
  readonly #report: Report;
  readonly #keys = createBrowserKeys();
  readonly #channelId = randomUUID();
  #client: PushClient | undefined;
  #mayBeRegistered = false;
  #mayHaveProject = false;

  constructor(deps: DeliveryDependencies, id: string, report: Report) {
    this.#deps = deps;
    this.#projectId = `doctor-${id}`;
    this.#userId = `user-${id}`;
    this.#report = report;
  }

  async run(): Promise<void> {
    const { baseUrl } = this.#deps;
    const client = await this.#connect();
    const { project, secretKey } = await this.#createProject();
    const endpoint = await this.#register(client, project.vapidPublicKey);
    await this.#subscribe(endpoint);

    const { projectId } = project;
    const owner = new ProjectClient({ baseUrl, projectId, secretKey }, makeOneAttempt);
    const id = await this.#send(owner);
    const message = await this.#receive('message', client, owner, id);
    const laterId = await this.#sendLater(owner);
    await this.#receive('later message', client, owner, laterId);
    await this.#reportShown(message);
    await this.#readCounts(owner, id);
    await this.#removeUser(owner);
  }

  /** Removes everything that the check has made. */
  async cleanUp(): Promise<void> {
    const { registry } = this.#deps;
    const end = AbortSignal.timeout(5000);
    try {
      if (this.#mayBeRegistered) await this.#client?.unregister(this.#channelId, end);
    } catch {
      // The connection has ended. Nobody knows the endpoint: the push service forgets it.
    }
    this.#client?.close();
    try {
      if (this.#mayHaveProject) await registry.remove(this.#projectId);
    } catch (error) {
      if (error instanceof ProjectNotFound) return;
      const message = `${(error as Error).message} Delete the project ${this.#projectId}.`;
      this.#report({ check: 'removal', level: 'problem', message, milliseconds: 0 });
    }
  }

  #connect(): Promise<PushClient> {
    const { pushService } = this.#deps;
    const advice = `This machine must reach ${pushService}: check its network, or name another push service with --via.`;
    return this.#step('websocket', advice, async (signal) => {
      const result = await PushClient.connect(pushService, signal);
      this.#client = result;
      const minutes = Math.round(result.clockDifferenceMs / 60_000);
      if (Math.abs(result.clockDifferenceMs) < clockToleranceMs) {
        return { result, message: `Connected to ${pushService}.` };
      }
      const side = minutes > 0 ? 'ahead of' : 'behind';
      const message = `The push service's clock is ${Math.abs(minutes)} minutes ${side} this machine's: set this machine's.`;
      return { result, message, level: 'warning' };
    });
  }

  #createProject() {
    const { registry, random } = this.#deps;
    const advice = 'You need permission to write the tables of the stack.';
    return this.#step('project', advice, async () => {
      this.#mayHaveProject = true;
      const result = await registry.create({ projectId: this.#projectId, name: 'Doctor', random });
      return { result, message: `Created the project ${this.#projectId}.` };
    });
  }

  #register(client: PushClient, applicationServerKey: string): Promise<string> {
    return this.#step('endpoint', 'The fault is at the push service.', async (signal) => {
      this.#mayBeRegistered = true;
      const result = await client.register(this.#channelId, applicationServerKey, signal);
      return { result, message: `The push service gave an endpoint at ${new URL(result).origin}.` };
    });
  }

  #subscribe(endpoint: string): Promise<void> {
    const { publicKey, authSecret } = this.#keys;
    const advice = `If the endpoint is refused, add ${new URL(endpoint).origin} to extraPushOrigins and deploy again. Otherwise look at the log of the function Subscribe.`;
    return this.#step('subscribe', advice, async (signal) => {
      const url = this.#deps.baseUrl + pathOf(routes.subscribe, { projectId: this.#projectId });
      const keys = {
        p256dh: publicKey.toString('base64url'),
        auth: authSecret.toString('base64url'),
      };
      await post(url, { endpoint, keys, userId: this.#userId }, signal);
      return { result: undefined, message: 'The service stored the subscription.' };
    });
  }

  #send(owner: ProjectClient): Promise<string> {
    const advice =
      'Look at the log of the function Send: unlike Subscribe, it reads the private VAPID key and connects to push services.';
    return this.#step('send', advice, async (signal) => {
      for (;;) {
        const sent = await owner.send(this.#notification(), { signal });
        if (sent.attempted > 0) {
          requireDelivered(sent);
          return { result: sent.id, message: 'The push service accepted the push.' };
        }
        // The index of user ids is updated after the table.
        await pause(1000, undefined, { signal });
      }
    });
  }

  /** Sends a notification that the function Deliver delivers. */
  #sendLater(owner: ProjectClient): Promise<string> {
    return this.#step('send later', 'Look at the log of the function Send.', async (signal) => {
      const { id } = await owner.send(this.#notification(), { signal, respondAsync: true });
      return { result: id, message: 'The function Deliver is to send a notification.' };
    });
  }

  #notification(): SendRequest {
    const title = `Check of ${this.#projectId}`;
    return { title, userIds: [this.#userId], urgency: 'high', ttl: 60 };
  }

  #receive(
    check: string,
    client: PushClient,
    owner: ProjectClient,
    id: string,
  ): Promise<PushMessage> {
    const { arrivalMs = 30_000 } = this.#deps;
    return this.#step(check, '', async (signal) => {
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(arrivalMs)]);
      const body = await client.nextMessage(inTime).catch(async (error: unknown) => {
        signal.throwIfAborted();
        const { delivered } = await owner.notification(id, { signal });
        if (delivered === 0) throw new Error(notPushed);
        throw inTime.aborted ? new Error(dropped) : error;
      });
      const message = JSON.parse(decrypt(body, this.#keys).toString()) as PushMessage;
      if (message.notification.data.id !== id) throw new Error('Another message arrived.');
      return { result: message, message: 'The message arrived and was decrypted.' };
    });
  }

  #reportShown({ notification }: PushMessage): Promise<void> {
    return this.#step('event', 'Look at the log of the function Track.', async (signal) => {
      await post(notification.data.events, { type: 'shown' }, signal);
      return { result: undefined, message: 'The service counted the message as shown.' };
    });
  }

  #readCounts(owner: ProjectClient, id: string): Promise<void> {
    const advice = 'Counts are not stored: look at the logs of the functions Send and Track.';
    return this.#step('counts', advice, async (signal) => {
      const found = await owner.notification(id, { signal });
      requireDelivered(found);
      if (found.shown !== 1) throw new Error(`The notification has shown: ${found.shown}.`);
      return { result: undefined, message: 'The notification has delivered: 1, shown: 1.' };
    });
  }

  #removeUser(owner: ProjectClient): Promise<void> {
    const advice = 'Look at the log of the function RemoveUser.';
    return this.#step('removal', advice, async (signal) => {
      const { removed } = await owner.removeUser(this.#userId, { signal });
      if (removed !== 1) throw new Error(`${removed} subscriptions were removed, not 1.`);
      return { result: undefined, message: 'The subscription is removed.' };
    });
  }

  /** Makes a step and reports it. @throws {StepFailed} */
  async #step<Result>(
    check: string,
    advice: string,
    make: (signal: AbortSignal) => Promise<Done<Result>>,
  ): Promise<Result> {
    const startedAt = performance.now();
    const report = (level: Finding['level'], message: string) =>
      this.#report({
        check,
        level,
        message,
        milliseconds: Math.round(performance.now() - startedAt),
      });
    const { signal } = this.#deps;
    try {
      signal.throwIfAborted();
      const done = await make(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      report(done.level ?? 'ok', done.message);
      return done.result;
    } catch (error) {
      const { name, message } = error as Error;
      const fault =
        name === 'AbortError' || name === 'TimeoutError' ? 'It took too long.' : message;
      report('problem', signal.aborted ? 'Interrupted.' : `${fault} ${advice}`.trimEnd());
      throw new StepFailed();
    }
  }
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
  throw new Error(`The push failed: ${reason}. ${failureReasons[reason]}${faults[reason] ?? ''}`);
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
  if (!response.ok) throw await errorOf(response);
}
