import { randomBytes } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { projectRegistry } from '../../admin/project-registry.ts';
import type { ProjectTables } from '../../admin/project-tables.ts';
import type { SendRequest } from '../../contract/schemas/notification.ts';
import type { PushService } from '../push-service/push-service.ts';
import { apiClient } from './api-client.ts';
import { inParallel } from './in-parallel.ts';
import { type StartProgress, withPolledProgress, withProgress } from './progress.ts';
import type {
  NotificationCounts,
  NotificationReconciliation,
  TotalReconciliation,
} from './reconciliation.ts';
import {
  applyFaults,
  createSimulatedUsers,
  expectedCounts,
  hasReceived,
  postBeacons,
  signedInUserIds,
  subscriptionOf,
} from './simulated-users.ts';
import { type TableReader, tableReader } from './table-reader.ts';

/** The parts of a running stack that the scenario uses. */
export interface ScenarioStack {
  readonly baseUrl: string;
  readonly pushService: PushService;
  readonly dynamo: DynamoDBDocumentClient;
  readonly tables: ProjectTables & { readonly tallies: string };
}

export interface ScenarioResult {
  readonly notifications: readonly NotificationReconciliation[];
  readonly totals: readonly TotalReconciliation[];
}

export interface ScenarioOptions {
  /** Whether the owner does not wait for the delivery, and reads the counts of the notification. */
  readonly respondAsync?: boolean;
}

/** Requests in flight at a time. */
const concurrency = 16;

const projectId = 'demo-run';

/**
 * Runs the service's main job: browsers subscribe, the owner sends to all, some subscriptions fail,
 * the owner sends to all again and to some users, and the browsers report events.
 */
export async function runScenario(
  stack: ScenarioStack,
  subscribers: number,
  startProgress: StartProgress,
  { respondAsync = false }: ScenarioOptions = {},
): Promise<ScenarioResult> {
  const { pushService } = stack;
  const registry = projectRegistry(stack.dynamo, stack.tables, () => new Date());
  const { project, secretKey } = await registry.create({
    projectId,
    name: 'Demo',
    // All browsers of the demo share one address, and their number may exceed the default cap.
    plan: { rateLimitPerMinute: null, subscriberCap: null },
    random: randomBytes,
  });
  const api = apiClient(stack.baseUrl, projectId, secretKey);
  const reader = tableReader(stack.dynamo, stack.tables, projectId);
  const users = createSimulatedUsers(subscribers, pushService, project.vapidPublicKey);

  await withProgress(startProgress('Subscribe', users.length), async (progress) => {
    let subscribed = 0;
    await inParallel(users, concurrency, async (user) => {
      await api.subscribe(subscriptionOf(user));
      progress.update(++subscribed);
    });
  });

  /** Sends a notification, posts its beacons, and collects its counts from all sources. */
  const send = async (
    name: string,
    request: SendRequest,
    expected: NotificationCounts,
  ): Promise<NotificationReconciliation> => {
    const before = pushService.stats();
    // Retries are requests, too, but not further subscribers attempted.
    const pushed = () =>
      Math.min(expected.attempted, pushService.stats().requests - before.requests);
    const progress = startProgress(name, expected.attempted);
    const {
      id,
      attempted,
      delivered: accepted,
      removed: deleted,
      failed: failures,
    } = respondAsync
      ? await withProgress(progress, () => api.sendAsync(request, progress.update))
      : await withPolledProgress(progress, pushed, () => api.send(request));
    const sendResponse = { attempted, delivered: accepted, removed: deleted, failed: failures };
    const after = pushService.stats();
    const responses = (status: number) =>
      (after.responses[status] ?? 0) - (before.responses[status] ?? 0);

    const receivers = users.filter((user) => hasReceived(user, id, request.title));
    const events = await postBeacons(receivers, startProgress, concurrency);
    const delivered = receivers.length;
    const removed = responses(410);
    const failed = responses(403);
    return {
      name,
      id,
      expected,
      sendResponse,
      pushService: {
        attempted: delivered + removed + failed,
        delivered,
        removed,
        failed,
        ...events,
      },
      tables: await storedCounts(reader, id),
    };
  };

  const firstBroadcast = await send(
    'Broadcast',
    { title: 'Good morning', body: 'Everyone is here.', url: 'https://carillon.example/morning' },
    expectedCounts(users.map((user) => ({ ...user, firstOutcome: 'delivered' }))),
  );

  applyFaults(users);
  const secondBroadcast = await send(
    'Broadcast with faults',
    { title: 'Good evening', body: 'Some have gone home.' },
    expectedCounts(users),
  );

  const remaining = users.filter(({ firstOutcome }) => firstOutcome !== 'gone');
  const userIds = signedInUserIds(users).slice(0, Math.max(1, Math.round(subscribers / 50)));
  const targetedSend = await send(
    'Targeted send, one user id unknown',
    { title: 'For you alone', userIds: [...userIds, 'nobody'] },
    expectedCounts(remaining.filter(({ userId }) => userId && userIds.includes(userId))),
  );

  const usage = await registry.usage(projectId);
  return {
    notifications: [firstBroadcast, secondBroadcast, targetedSend],
    totals: [
      {
        name: 'Remaining subscribers',
        expected: remaining.length,
        sources: {
          'usage counter': usage.subscribers,
          tables: await reader.countSubscriptions(),
          'push service': pushService.stats().live,
        },
      },
      {
        name: 'Pushes retried after a transient failure',
        expected: users.filter(({ firstOutcome }) => firstOutcome === 'transient').length,
        sources: { 'push service': pushService.stats().responses[500] ?? 0 },
      },
      {
        name: 'Notifications this month',
        expected: 3,
        sources: { 'usage counter': usage.sends },
      },
    ],
  };
}

async function storedCounts(reader: TableReader, id: string): Promise<NotificationCounts> {
  const tallies = await reader.tallies(id);
  const sum = (name: keyof NotificationCounts) =>
    tallies.reduce((total, tally) => total + (tally[name] ?? 0), 0);
  return {
    attempted: sum('attempted'),
    delivered: sum('delivered'),
    removed: sum('removed'),
    failed: sum('failed'),
    shown: sum('shown'),
    clicked: sum('clicked'),
  };
}
