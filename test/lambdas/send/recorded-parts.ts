import type { SigningProject } from '../../../contract/project.ts';
import type { Broadcast, DeliveryReport } from '../../../lambdas/push/delivery/delivery.ts';
import type { SendParts } from '../../../lambdas/send/send.ts';

export const project: SigningProject = {
  projectId: 'shop',
  apiKeyHash: '',
  vapid: { publicKey: 'public', privateKey: 'private' },
  plan: {},
};
export const report: DeliveryReport = {
  attempted: 3,
  delivered: 1,
  removed: 1,
  failed: 1,
  unreached: 0,
  failures: { refused: 1 },
};
export const now = new Date('2026-11-20T12:00:00Z');
const audience = { ordered: true, pages: () => [] as never };

/** Parts that succeed and record their calls in order. */
export function recordedParts(overrides: Partial<SendParts> = {}) {
  const calls: string[] = [];
  const broadcasts: Broadcast[] = [];
  const parts: SendParts = {
    sends: {
      begin: async (_, cap) => {
        calls.push(`begin under ${cap}`);
        return 'begun';
      },
      claim: async () => {
        calls.push('claim');
        return true;
      },
      release: async () => {
        calls.push('release');
        return true;
      },
      cancel: async () => void calls.push('cancel'),
      earlier: async () => undefined,
      finish: async (_, result) => void calls.push(`finish ${JSON.stringify(result)}`),
    },
    audiences: {
      everyone: () => audience,
      users: (_, ids) => {
        calls.push(`users ${ids}`);
        return audience;
      },
      removeGone: async () => {},
    },
    deliver: async (broadcast) => {
      calls.push('deliver');
      broadcasts.push(broadcast);
      return report;
    },
    clock: () => now,
    abortAfter: () => new AbortController().signal,
    newId: () => 'the-id',
    monthlyCap: 10_000,
    observe: {
      delivered: () => calls.push('observe'),
      recordFailed: (_, __, error) => calls.push(`not recorded: ${(error as Error).message}`),
    },
    ...overrides,
  };
  return { parts, calls, broadcasts };
}

/** A request that reached the gateway one second before the function. */
export const call = {
  baseUrl: 'https://push.example.com',
  requestId: 'this-request',
  startedAt: new Date(now.getTime() - 1000),
};
