import { randomBytes } from 'node:crypto';
import { type DynamoDbHook, errorResponse } from 'aws-emulator/dynamodb-proxy';
import type { NamedFinding } from '../../../admin/doctor/checks.ts';
import { checkDelivery } from '../../../admin/doctor/delivery.ts';
import { startDescribedPushService } from '../../fixtures/described-push-service.ts';
import { readTable } from '../../fixtures/read-table.ts';
import { type Service, startService } from '../../fixtures/service.ts';

type PushService = Awaited<ReturnType<typeof startDescribedPushService>>;

let pushService: PushService;
let service: Service;
let hook: DynamoDbHook | undefined;

beforeAll(async () => {
  pushService = await startDescribedPushService();
  service = await startService({
    environment: { EXTRA_PUSH_ORIGINS: pushService.origin },
    onDynamoDbCall: (call) => hook?.(call),
    // Refused pushes and failed calls are logged as errors.
    onLog: () => {},
  });
});
afterAll(async () => {
  await service.stop();
  pushService.stop();
});
beforeEach(() => {
  hook = undefined;
  pushService.stage({});
  pushService.channels.clear();
});

interface Staged {
  readonly on?: Service;
  readonly via?: PushService;
  readonly signal?: AbortSignal;
  readonly arrivalMs?: number;
  readonly onStep?: (finding: NamedFinding) => void;
}

/** @returns the steps, and those that are not ok. */
async function check({ on = service, via = pushService, signal, onStep, arrivalMs }: Staged = {}) {
  const steps: string[] = [];
  const faults: string[] = [];
  await checkDelivery(
    {
      registry: on.registry,
      baseUrl: on.stack.baseUrl,
      pushService: via.address,
      random: randomBytes,
      signal: signal ?? new AbortController().signal,
      ...(arrivalMs !== undefined && { arrivalMs }),
    },
    (finding) => {
      const { check, level, message, milliseconds } = finding;
      expect(milliseconds).toBeGreaterThanOrEqual(0);
      steps.push(check);
      if (level !== 'ok') faults.push(`${level} ${check}: ${message}`);
      onStep?.(finding);
    },
  );
  return { steps, faults };
}

/** Tables that contain data of projects. */
async function expectNothingLeft(on = service) {
  const { tables } = on.stack.dynamodb;
  for (const table of [
    tables.PROJECTS_TABLE,
    tables.VAPID_KEYS_TABLE,
    tables.SUBSCRIPTIONS_TABLE,
  ]) {
    expect(await readTable(on.dynamo, table)).toEqual([]);
  }
}

const allSteps = [
  ...['websocket', 'project', 'endpoint', 'subscribe', 'send', 'message'],
  ...['send later', 'later message', 'event', 'counts', 'removal'],
];

test('a notification makes the whole way, and nothing is left behind', async () => {
  expect(await check()).toEqual({ steps: allSteps, faults: [] });
  await expectNothingLeft();
  expect(pushService.channels.size).toBe(0);
});

describe('a fault is named by its step, which is the last one', () => {
  test.each<[title: string, stage: () => void, expected: RegExp, options: Staged]>([
    [
      'the push service refuses the VAPID token',
      () => pushService.stage({ status: 403 }),
      /^problem send: The push failed: vapid_refused\. .* Check vapidSubject, and the clock/,
      {},
    ],
    [
      'the push service drops messages',
      () => pushService.stage({ drops: true }),
      /^problem message: The push service accepted the push and did not deliver the message\./,
      { arrivalMs: 100 },
    ],
    [
      'the push service closes the connection',
      () => pushService.stage({ closes: true }),
      /^problem message: The push service closed the connection \(1001\)\./,
      {},
    ],
    [
      'functions cannot decrypt the table of VAPID keys',
      () => {
        hook = ({ operation, requiredGrants }) =>
          operation === 'TransactGetItems' &&
          requiredGrants.some(({ resource }) => resource.includes('VapidKeys'))
            ? errorResponse('AccessDeniedException', 'KMS key access denied error')
            : undefined;
      },
      /^problem send: .* Look at the log of the function Send: unlike Subscribe, it reads the private VAPID key/,
      {},
    ],
    [
      'the function Deliver fails',
      () => {
        hook = ({ caller }) => (caller.startsWith('Deliver') ? 'no response' : undefined);
      },
      /^problem later message: The function Deliver has not pushed the message\. .* Or Lambda throttles it/,
      { arrivalMs: 2000 },
    ],
    [
      'counts are not stored',
      () => {
        hook = ({ operation, requiredGrants }) =>
          operation === 'UpdateItem' &&
          requiredGrants.some(({ resource }) => resource.includes('Deliveries'))
            ? { status: 200, body: {} }
            : undefined;
      },
      /^problem counts: attempted is 0, delivered 0\. Counts are not stored: /,
      {},
    ],
  ])('%s', async (_, stage, expected, options) => {
    stage();
    const { steps, faults } = await check(options);
    expect(faults).toEqual([expect.stringMatching(expected)]);
    expect(allSteps.slice(0, steps.length)).toEqual(steps);
    expect(faults[0]).toContain(steps.at(-1));
    hook = undefined;
    await expectNothingLeft();
  });

  test('the service does not accept the push service', async () => {
    const other = await startDescribedPushService();
    const { faults } = await check({ via: other });
    expect(faults).toEqual([
      expect.stringMatching(
        `^problem subscribe: .*endpoint.* add ${other.origin} to extraPushOrigins`,
      ),
    ]);
    other.stop();
    await expectNothingLeft();
  });
});

test('a wrong clock is a warning', async () => {
  pushService.stage({ clockMs: 3_600_000 });
  expect(await check()).toEqual({
    steps: allSteps,
    faults: [
      "warning websocket: The push service's clock is 60 minutes ahead of this machine's: set this machine's.",
    ],
  });
});

test.each(allSteps.slice(0, -1))(
  'nothing is left behind after an interruption during the step that follows %s',
  async (step) => {
    const interruption = new AbortController();
    const { faults } = await check({
      signal: interruption.signal,
      onStep: ({ check }) => {
        if (check === step) interruption.abort();
      },
    });
    expect(faults).toEqual([expect.stringMatching(/: Interrupted\.$/)]);
    await expectNothingLeft();
    expect(pushService.channels.size).toBe(0);
  },
);
