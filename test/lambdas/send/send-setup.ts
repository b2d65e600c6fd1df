import type { Recipient } from '../../../contract/audience.ts';
import type { Counts } from '../../../contract/counts.ts';
import type { SigningProject } from '../../../contract/project.ts';
import type { Slice } from '../../../contract/slice.ts';
import { keyHashOf } from '../../../lambdas/send/new-sending.ts';
import { send } from '../../../lambdas/send/send.ts';
import type { SendCall, SendDependencies, SendOutcome } from '../../../lambdas/send/sending.ts';
import { usersOf } from '../../../lambdas/send/users-of.ts';
import { newSubscriberParts, sumOf } from '../../../lambdas/store/counters.ts';
import { notificationStore } from '../../../lambdas/store/notifications.ts';
import { sendStore } from '../../../lambdas/store/sends.ts';
import { usedParts } from '../../../lambdas/store/usage.ts';
import { tables } from '../../simulation/database/memory-database.ts';
import { fakePusher } from '../deliver/fake-pusher.ts';
import { allDelivered, project, recipients, sliceSetup, startMs } from '../deliver/slice-setup.ts';

export const now = new Date(startMs);
const month = '2026-11';

interface SendSetupOptions {
  /** By default three. */
  readonly audience?: readonly Recipient[];
  /** How each chunk ends after a second: by default all pushes are accepted. */
  readonly counts?: Counts;
  readonly overrides?: Partial<SendDependencies>;
}

/**
 * A send function in virtual time, with all its real stores on a model of the database. A slice that it starts is
 * delivered by a function at once, unless a test says otherwise.
 */
export function sendSetup({
  audience = recipients(3),
  counts,
  overrides = {},
}: SendSetupOptions = {}) {
  const setup = sliceSetup({ audience });
  const { time, database, calls } = setup;
  const dynamo = database.client();
  for (const part of newSubscriberParts(project.ref, audience.length)) {
    database.put(tables.usage, { ...part });
  }
  const started: Slice[] = [];
  let ids = 0;
  const startPushing = fakePusher((chunk) => {
    const { soFar } = setup.push(chunk);
    return { done: time.sleep(1000).then(() => counts ?? allDelivered(chunk)), soFar };
  });
  /** A function that delivers a slice. */
  const deliverElsewhere = (slice: Slice) =>
    void setup
      .start(slice, `function ${slice.slice}`, deps, slice.awaitedSince ? 29_000 : 900_000)
      .catch(() => {});
  const deps: SendDependencies = {
    ...setup.deps,
    startPushing,
    sends: sendStore(dynamo, tables),
    notifications: notificationStore(dynamo, tables.notifications),
    starter: {
      async start(slice) {
        started.push(slice);
        deliverElsewhere(slice);
        return true;
      },
    },
    random: () => 0.5,
    newId: () => {
      ids += 1;
      return `01890a5d-ac96-774b-bcce-${String(ids).padStart(12, '0')}`;
    },
    monthlyCap: 10_000,
    pushesPerSecond: 20_000,
    ...overrides,
    observe: {
      ...setup.deps.observe,
      responded: (_, { unreached }, isStopped) =>
        calls.push(`responded, ${unreached} unreached${isStopped ? ', stopped' : ''}`),
      notTaken: ({ slice }) => calls.push(`not taken ${slice}`),
      cancelFailed: (_, error) => calls.push(`not cancelled: ${(error as Error).message}`),
    },
  };

  /** A request that reaches the gateway now, and the function a second later. */
  async function start(
    change: Partial<SendCall> = {},
    its: SendDependencies = deps,
    sender: SigningProject = project,
  ): Promise<SendOutcome> {
    const startedAt = time.clock();
    await time.sleep(1000);
    const request = change.request ?? { title: 'T' };
    const { idempotencyKey } = change;
    const used = await usedParts(dynamo, tables.usage)(project.ref, month);
    const earlier =
      idempotencyKey === undefined
        ? undefined
        : await its.sends.earlier(project.ref, keyHashOf(idempotencyKey), time.clock());
    requests += 1;
    return send(its, sender, {
      ...{ respondAsync: false, baseUrl: 'https://push.example.com', startedAt },
      ...{ requestId: `request ${requests}`, sent: used.sends, earlier },
      audience: usersOf(request) ?? { subscribers: audience.length },
      ...change,
      request,
    });
  }
  let requests = 0;

  return {
    ...{ ...setup, deps, started, start, startSlice: setup.start, deliverElsewhere },
    send: (...call: Parameters<typeof start>) => time.until(start(...call)),
    /** Notifications of the month. */
    sent: async () => sumOf((await usedParts(dynamo, tables.usage)(project.ref, month)).sends),
    /** The stored notifications that were not cancelled. */
    notifications: () =>
      database.items(tables.notifications).filter(({ content }) => content !== undefined),
  };
}

export type SendSetup = ReturnType<typeof sendSetup>;

/** The result of a send for whose counts the caller waits. */
export function resultOf(outcome: SendOutcome) {
  if (outcome.kind !== 'sent') throw new Error(JSON.stringify(outcome));
  return outcome.result;
}
