import { randomBytes } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { projectRegistry } from '../../admin/project-registry.ts';
import type { ProjectTables } from '../../admin/project-tables.ts';
import type { PushMessage } from '../../contract/message.ts';
import type { SendRequest } from '../../contract/schemas.ts';
import type { PushService } from '../push-service/push-service.ts';
import { apiClient } from './api-client.ts';
import { inParallel } from './in-parallel.ts';
import type { Account, Figure, Tally } from './reconciliation.ts';
import { type Records, records } from './records.ts';
import {
  applyRoles,
  createSimulatedUsers,
  type SimulatedUser,
  subscriptionOf,
} from './simulated-users.ts';

/** The running stack that the scenario is played on. */
export interface Stage {
  readonly baseUrl: string;
  readonly pushService: PushService;
  readonly dynamo: DynamoDBDocumentClient;
  readonly tables: ProjectTables;
}

/** Hears how far a step of the scenario has come. */
export type StartProgress = (step: string, total: number) => Progress;

export interface Progress {
  update(done: number): void;
  stop(): void;
}

export interface Outcome {
  readonly accounts: readonly Account[];
  readonly figures: readonly Figure[];
}

/** Requests under way at a time. */
const width = 16;

const projectId = 'demo-run';

/**
 * The service's main job, from end to end: browsers subscribe, the owner sends to all, some
 * browsers become difficult, the owner sends to all and to some users, and people look and click.
 */
export async function runScenario(
  stage: Stage,
  subscribers: number,
  narrate: StartProgress,
): Promise<Outcome> {
  const registry = projectRegistry(stage.dynamo, stage.tables, () => new Date());
  const { project, secretKey } = await registry.create({
    projectId,
    name: 'Demo',
    // Every browser of the demo comes from one address, and there may be any number of them.
    plan: { rateLimitPerMinute: null, subscriberCap: null },
    random: randomBytes,
  });
  const api = apiClient(stage.baseUrl, projectId, secretKey);
  const kept = records(stage.dynamo, stage.tables, projectId);
  const players = createSimulatedUsers(subscribers, stage.pushService, project.vapidPublicKey);

  await narrated(narrate('Subscribing', players.length), async (progress) => {
    let subscribed = 0;
    await inParallel(players, width, async (player) => {
      await api.subscribe(subscriptionOf(player));
      progress.update(++subscribed);
    });
  });

  /** Sends, lets people react, and asks every witness. */
  const send = async (what: string, request: SendRequest, expected: Tally): Promise<Account> => {
    const before = stage.pushService.stats();
    // Pushes sent again come on top of those attempted.
    const pushed = () =>
      Math.min(expected.attempted, stage.pushService.stats().requests - before.requests);
    const { id, unreached, ...answered } = await narrated(
      narrate(what, expected.attempted),
      (progress) => polling(progress, pushed, () => api.send(request)),
    );
    const after = stage.pushService.stats();
    const answers = (status: number) =>
      (after.answers[status] ?? 0) - (before.answers[status] ?? 0);

    const receivers = players.filter((player) => hasReceived(player, id, request.title));
    const beacons = await react(receivers, narrate);
    const delivered = receivers.length;
    const removed = answers(410);
    const failed = answers(403);
    const seen = {
      attempted: delivered + removed + failed,
      delivered,
      removed,
      failed,
      ...beacons,
    };
    return { what, id, expected, answered, seen, stored: await storedTally(kept, id) };
  };

  const welcome = await send(
    'To everyone',
    { title: 'Good morning', body: 'Everyone is here.', url: 'https://carillon.example/morning' },
    expectedTally(players.map((player) => ({ ...player, role: 'well' }))),
  );

  applyRoles(players);
  const broadcast = await send(
    'To everyone, some of whom left',
    { title: 'Good evening', body: 'Some have gone home.' },
    expectedTally(players),
  );

  const staying = players.filter(({ role }) => role !== 'leaves');
  const userIds = signedInUsers(players).slice(0, Math.max(1, Math.round(subscribers / 50)));
  const targeted = await send(
    'To some users, one of them unknown',
    { title: 'For you alone', userIds: [...userIds, 'nobody'] },
    expectedTally(staying.filter(({ userId }) => userId && userIds.includes(userId))),
  );

  const usage = await registry.usage(projectId);
  return {
    accounts: [welcome, broadcast, targeted],
    figures: [
      {
        what: 'Subscribers left',
        expected: staying.length,
        sources: {
          'the counter says': usage.subscribers,
          'the tables hold': await kept.countSubscriptions(),
          'the push service knows': stage.pushService.stats().live,
        },
      },
      {
        what: 'Pushes that failed once and were sent again',
        expected: players.filter(({ role }) => role === 'falters').length,
        sources: { 'the push service saw': stage.pushService.stats().answers[500] ?? 0 },
      },
      {
        what: 'Notifications this month',
        expected: 3,
        sources: { 'the counter says': usage.sends },
      },
    ],
  };
}

async function narrated<Result>(
  progress: Progress,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(progress);
  } finally {
    // Even of what failed: a bar that was not stopped would keep the process alive.
    progress.stop();
  }
}

/** Does work whose progress something else can tell. */
async function polling<Result>(
  progress: Progress,
  done: () => number,
  work: () => Promise<Result>,
): Promise<Result> {
  const timer = setInterval(() => progress.update(done()), 100);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    progress.update(done());
  }
}

function hasReceived({ browser }: SimulatedUser, id: string, title: string): boolean {
  const last = browser.messages.at(-1);
  if (last === undefined) return false;
  const { notification } = JSON.parse(last.text) as PushMessage;
  return notification.data.id === id && notification.title === title;
}

/** Plays the people: who looks and who clicks. @returns the beacons posted. */
async function react(receivers: readonly SimulatedUser[], narrate: StartProgress) {
  const beacons = receivers.flatMap(({ browser, shows, clicks }) => [
    ...(shows ? [{ type: 'shown' as const, post: () => browser.show() }] : []),
    ...(clicks ? [{ type: 'clicked' as const, post: () => browser.click() }] : []),
  ]);
  const posted = { shown: 0, clicked: 0 };
  await narrated(narrate('  and their beacons', beacons.length), (progress) =>
    inParallel(beacons, width, async ({ type, post }) => {
      const answer = await post();
      await answer.arrayBuffer();
      posted[type] += 1;
      progress.update(posted.shown + posted.clicked);
    }),
  );
  return posted;
}

/** What should become of a notification to these players. */
function expectedTally(audience: readonly SimulatedUser[]): Tally {
  const having = (role: SimulatedUser['role']) => audience.filter((player) => player.role === role);
  const receivers = [...having('well'), ...having('falters')];
  return {
    attempted: audience.length,
    delivered: receivers.length,
    removed: having('leaves').length,
    failed: having('refuses').length,
    shown: receivers.filter(({ shows }) => shows).length,
    clicked: receivers.filter(({ clicks }) => clicks).length,
  };
}

async function storedTally(kept: Records, id: string): Promise<Partial<Tally>> {
  const item = await kept.notification(id);
  const {
    attempted = 0,
    delivered = 0,
    removed = 0,
    failed = 0,
    shown = 0,
    clicked = 0,
  } = item ?? {};
  return { attempted, delivered, removed, failed, shown, clicked };
}

function signedInUsers(players: readonly SimulatedUser[]): string[] {
  const userIds = players.map(({ userId }) => userId);
  return [...new Set(userIds.filter((userId) => userId !== undefined))];
}
