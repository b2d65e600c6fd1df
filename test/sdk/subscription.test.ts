import { isDead, subscribeBrowser } from '../../sdk/common/subscription.ts';

const key = Buffer.alloc(65, 4).toString('base64url');
const deadEndpoint = 'https://permanently-removed.invalid/fcm/send/abc';
const workingEndpoint = 'https://fcm.googleapis.com/fcm/send/abc';

/** A browser that gives these endpoints, one for each call of `subscribe()`, and null for an undefined one. */
function fakeManager(endpoints: readonly (string | undefined)[], current?: string) {
  const calls: string[] = [];
  const remaining = [...endpoints];
  let subscription: object | null = null;
  function subscriptionAt(endpoint: string | undefined): object | null {
    if (endpoint === undefined) return null;
    const applicationServerKey = new Uint8Array(Buffer.from(key, 'base64url')).buffer;
    const unsubscribe = async () => {
      calls.push('unsubscribe');
      subscription = null;
      return true;
    };
    return { endpoint, options: { applicationServerKey }, unsubscribe };
  }
  subscription = subscriptionAt(current);
  const manager = {
    getSubscription: async () => subscription,
    subscribe: async () => {
      calls.push(`subscribe after ${performance.now() - start} ms`);
      subscription = subscriptionAt(remaining.shift());
      return subscription;
    },
  };
  return { manager: manager as unknown as PushManager, calls };
}

let start: number;

beforeEach(() => {
  jest.useFakeTimers();
  start = performance.now();
});
afterEach(() => jest.useRealTimers());

/** Subscribes, and lets the pause before the retry pass. */
async function subscribe(manager: PushManager) {
  const subscribing = subscribeBrowser(manager, key).then(
    ({ endpoint }) => endpoint,
    (error: Error) => error.message,
  );
  await jest.advanceTimersByTimeAsync(5000);
  return subscribing;
}

const advice = 'no endpoint; update it.';

test.each([
  ['null', [undefined, undefined], advice],
  ['a dead endpoint', [deadEndpoint, deadEndpoint], advice],
  ['null and then a subscription', [undefined, workingEndpoint], workingEndpoint],
  ['a dead endpoint and then another', [deadEndpoint, workingEndpoint], workingEndpoint],
])('a browser that gives %s', async (_, endpoints, result) => {
  const { manager } = fakeManager(endpoints);
  expect(await subscribe(manager)).toBe(result);
  const kept = await manager.getSubscription();
  expect(kept?.endpoint).toBe(result === advice ? undefined : workingEndpoint);
});

test('a dead endpoint ends a second before the retry', async () => {
  const { manager, calls } = fakeManager([deadEndpoint, workingEndpoint]);
  await subscribe(manager);
  expect(calls).toEqual(['subscribe after 0 ms', 'unsubscribe', 'subscribe after 1000 ms']);
});

test('an existing subscription with a dead endpoint is replaced', async () => {
  const { manager, calls } = fakeManager([workingEndpoint], deadEndpoint);
  expect(await subscribe(manager)).toBe(workingEndpoint);
  expect(calls).toEqual(['unsubscribe', 'subscribe after 0 ms']);
});

test.each([
  [deadEndpoint, true],
  ['https://PERMANENTLY-REMOVED.invalid/wp/', true],
  [workingEndpoint, false],
  ['https://fcm.googleapis.com/.invalid/', false],
  ['https://push.invalid.example/x', false],
])('%s is dead: %p', (endpoint, dead) => {
  expect(isDead({ endpoint })).toBe(dead);
});
