import { type Counts, noCounts } from '../../../contract/counts.ts';
import type { SigningProject } from '../../../contract/project.ts';
import { deliverShare } from '../../../lambdas/deliver/deliver-share.ts';
import { send } from '../../../lambdas/send/send.ts';
import type { SendCall, SendDependencies } from '../../../lambdas/send/sending.ts';
import { usersOf } from '../../../lambdas/send/users-of.ts';
import { fakePusher } from '../deliver/fake-pusher.ts';
import {
  project,
  recipients,
  recordedShareDependencies,
  startMs,
} from '../deliver/recorded-share-dependencies.ts';

export { project };

/** How a chunk of three recipients ends, unless a test says otherwise. */
export const report: Counts = {
  attempted: 3,
  delivered: 1,
  removed: 1,
  failed: 1,
  unreached: 0,
  failures: { refused: 1 },
};
export const now = new Date(startMs);

/**
 * Dependencies that succeed and record their calls in order. The audience has three recipients. An invoked
 * function delivers its share at the same time, with the same stores.
 */
export function recordedDependencies(overrides: Partial<SendDependencies> = {}) {
  const recorded = recordedShareDependencies(recipients(3), {
    startPushing: fakePusher((chunk) => {
      recorded.calls.push('deliver');
      recorded.chunks.push(chunk);
      return { done: Promise.resolve(report), soFar: () => noCounts };
    }),
  });
  const { calls } = recorded;
  const deps: SendDependencies = {
    ...recorded.deps,
    sends: {
      begin: async ({ claimed = [] }, cap) => {
        calls.push(`begin under ${cap}`);
        recorded.begin(claimed);
        return 'begun';
      },
      async cancel(_, by) {
        calls.push(`cancel by ${by}`);
        return undefined;
      },
      earlier: async () => undefined,
    },
    invoker: {
      async invoke(share, type) {
        calls.push(`invoke ${type} ${share.firstTally}`);
        if (type === 'async') return { kind: 'accepted' };
        const invocation = { id: `function ${share.firstTally}`, endsAt: startMs + 29_000 };
        const outcome = await deliverShare(recorded.deps, project, share, invocation);
        return outcome.kind === 'ended'
          ? { kind: 'result', result: outcome.result }
          : { kind: 'unknown' };
      },
    },
    random: () => 0.5,
    newId: () => 'the-id',
    monthlyCap: 10_000,
    pushesPerSecond: 20_000,
    ...overrides,
  };
  return { ...recorded, deps };
}

/** A request that reached the gateway one second before the function. */
export const call: Omit<SendCall, 'audience'> = {
  request: { title: 'T' },
  respondAsync: false,
  baseUrl: 'https://push.example.com',
  requestId: 'this-request',
  startedAt: new Date(now.getTime() - 1000),
};

/** Sends in the virtual time of the dependencies. */
export function sendWith(
  { deps, time }: Pick<ReturnType<typeof recordedDependencies>, 'deps' | 'time'>,
  change: Partial<SendCall> = {},
  sender: SigningProject = project,
) {
  const audience = usersOf(change.request ?? call.request) ?? { subscribers: 3 };
  return time.until(send(deps, sender, { ...call, audience, ...change }));
}
