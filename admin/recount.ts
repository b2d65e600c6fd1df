import {
  type DynamoDBDocumentClient,
  paginateQuery,
  type QueryCommandInput,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import type { ProjectTables } from '../contract/infrastructure/tables.ts';
import type { ProjectRef } from '../contract/wire/project.ts';
import {
  type Counter,
  closedValue,
  isClosed,
  monthCounter,
  newParts,
  partKeys,
  readParts,
  subscriberCounter,
  sumOf,
} from '../lambdas/store/counters.ts';
import { cancellationReasons, conditionFailed } from '../lambdas/store/dynamo.ts';
import { partitionCount, projectPart, type UsageItem } from '../lambdas/store/items.ts';
import { isSent } from '../lambdas/store/notifications.ts';
import { CommandError } from './errors.ts';
import { closeCounter, openCounter } from './store/closed-counters.ts';
import type { RegisteredProject } from './store/registered-projects.ts';

/** Rows that one call of COUNT reads, of about 350 bytes each: 1 MB is DynamoDB's limit. And ms that it takes. */
const rowsPerCall = 3000;
const callMs = 150;

/** Seconds for which a count of so many subscribers takes, estimated. */
export function countSeconds(subscribers: number): number {
  return Math.ceil((Math.ceil(subscribers / partitionCount / rowsPerCall) * callMs + 1000) / 1000);
}

/** A project's counters are closed for so long at a time. If the command dies, they are open again then: ms. */
const closedForMs = 60_000;
const extendEveryMs = 15_000;

export interface CountedDependencies {
  readonly dynamo: DynamoDBDocumentClient;
  readonly tables: ProjectTables;
  readonly clock: () => Date;
  /** Whether notifications of this month may have expired. They were sent too, so its counter is not lowered. */
  readonly mayHaveExpired?: boolean;
}

interface RecountDependencies extends CountedDependencies {
  /** Rejects when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** Aborts the count, and opens the counters. */
  readonly signal?: AbortSignal | undefined;
  /** Notifications of the month that were sent, whatever is stored: a backup has counted them. */
  readonly sentAtLeast?: number | undefined;
  /** Is called with the number of subscriptions that were counted so far. */
  readonly onProgress?: (counted: number) => void;
}

/** What a counter said, and what it says now. */
export interface Recounted {
  readonly before: number;
  readonly after: number;
}

/**
 * Counts a project's subscriptions and the notifications of this UTC month, and sets its counters, which may be missing.
 * Meanwhile nobody subscribes or unsubscribes, and no notification begins: 503.
 * @throws {CommandError} if it took too long, or somebody else counts. Then none or one of the counters is set.
 */
export async function recount(
  deps: RecountDependencies,
  project: Pick<RegisteredProject, 'projectId' | 'ref'>,
) {
  const { dynamo, tables, clock, sleep, onProgress } = deps;
  const { projectId, ref } = project;
  const now = clock();
  const subscribers = subscriberCounter(tables.usage, ref);
  const sends = monthCounter(tables.usage, ref, now);
  if (await isClosed(dynamo, subscribers, now.getTime())) throw notCounted(projectId);
  let until = 0;
  const close = async () => {
    const next = clock().getTime() + closedForMs;
    for (const counter of [subscribers, sends]) {
      await closeCounter(dynamo, tables, project, counter, next);
    }
    until = next;
  };
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, ...(deps.signal ? [deps.signal] : [])]);
  /** Until the count is done, or cannot be extended: then it is too late for it. */
  const extend = async () => {
    for (;;) {
      await sleep(extendEveryMs, signal);
      await close();
    }
  };
  try {
    await close();
    const extending = extend().catch(() => {});
    const rows = await countSubscriptions(deps, ref, onProgress, deps.signal).finally(() => {
      done.abort();
      return extending;
    });
    if (clock().getTime() > until - lastWriteMs) throw notCounted(projectId);
    return {
      subscribers: await set(subscribers, async () => rows),
      month: sends.name,
      sends: await set(sends, async (before) => {
        const sent = await countSent(deps, ref, sends.name, before);
        return Math.max(sent, deps.sentAtLeast ?? 0);
      }),
    };
  } finally {
    for (const counter of [subscribers, sends]) await openCounter(dynamo, counter, until);
  }

  /** A counter may still change while it is closed: a send that is undone gives its unit back. */
  async function set(
    counter: Counter,
    count: (before: number) => Promise<number>,
  ): Promise<Recounted> {
    for (;;) {
      const before = await readParts(dynamo, counter);
      const after = await count(sumOf(before));
      const updates = newParts(counter, after).map(({ used }, part) => ({
        TableName: counter.table,
        Key: partKeys(ref, counter.name)[part]!,
        UpdateExpression: 'SET used = :used',
        ConditionExpression: `used = :before AND ${isClosedByThis}`,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
        ExpressionAttributeValues: {
          ':used': used,
          ':before': before[part],
          ':until': until,
          ...closedValue,
        },
      }));
      try {
        const TransactItems = updates.map((Update) => ({ Update }));
        await dynamo.send(new TransactWriteCommand({ TransactItems }));
        return { before: sumOf(before), after };
      } catch (error) {
        const failed = cancellationReasons(error).find(conditionFailed);
        if (failed === undefined) throw error;
        const { cap, closedUntil = until } = (failed.Item ?? {}) as Partial<UsageItem>;
        if (cap !== 'closed' || closedUntil !== until) throw notCounted(projectId);
      }
    }
  }
}

/** Ms that are left for the last writes. */
const lastWriteMs = 10_000;

/** Of a month also by a pause of the project, which goes on. */
const isClosedByThis =
  'cap = :closed AND (attribute_not_exists(closedUntil) OR closedUntil = :until)';

function notCounted(projectId: string): CommandError {
  return new CommandError(
    'not_counted',
    `"${projectId}" was not counted as a whole: somebody else counts it, or it took too long. Try again in a minute.`,
  );
}

/** What the counters say, and what is stored: of different moments, while visitors come and go. */
export async function countedNow(
  {
    onProgress,
    signal,
    ...deps
  }: CountedDependencies & Pick<RecountDependencies, 'onProgress' | 'signal'>,
  { ref }: Pick<RegisteredProject, 'ref'>,
) {
  const { dynamo, tables, clock } = deps;
  const counterOf = async (counter: Counter) => sumOf(await readParts(dynamo, counter));
  const sends = monthCounter(tables.usage, ref, clock());
  const after = await countSubscriptions(deps, ref, onProgress, signal);
  const before = await counterOf(sends);
  return {
    subscribers: { before: await counterOf(subscriberCounter(tables.usage, ref)), after },
    month: sends.name,
    sends: { before, after: await countSent(deps, ref, sends.name, before) },
  };
}

/**
 * Whether the counter of subscribers is right, as far as visitors who come and go meanwhile let it be seen: a count may miss
 * each of them, or see somebody twice. Compared three times at most.
 */
export async function isCountRight(
  deps: Pick<CountedDependencies, 'dynamo' | 'tables'>,
  ref: ProjectRef,
): Promise<boolean> {
  const counter = subscriberCounter(deps.tables.usage, ref);
  for (let tries = 0; tries < 3; tries += 1) {
    const before = await readParts(deps.dynamo, counter);
    const rows = await countSubscriptions(deps, ref);
    const after = await readParts(deps.dynamo, counter);
    const changes = sumOf(after.map((units = 0, part) => Math.abs(units - (before[part] ?? 0))));
    const used = [sumOf(before), sumOf(after)];
    if (rows >= Math.min(...used) - changes && rows <= Math.max(...used) + changes) return true;
  }
  return false;
}

/** The rows of a project in Subscriptions. */
export async function countSubscriptions(
  { dynamo, tables }: Pick<CountedDependencies, 'dynamo' | 'tables'>,
  ref: ProjectRef,
  onProgress: (counted: number) => void = () => {},
  signal?: AbortSignal,
): Promise<number> {
  let counted = 0;
  const onPage = (rows: number) => {
    counted += rows;
    onProgress(counted);
  };
  const parts = Array.from({ length: partitionCount }, (_, part) => projectPart(ref, part));
  await Promise.all(
    parts.map((part) =>
      countRows(
        dynamo,
        {
          TableName: tables.subscriptions,
          KeyConditionExpression: 'projectPart = :part',
          ExpressionAttributeValues: { ':part': part },
        },
        onPage,
        signal,
      ),
    ),
  );
  return counted;
}

/**
 * The notifications of a UTC month, also those that were deleted; as many as were counted, if some may have expired. Their
 * ids, UUIDs of version 7, begin with 48 bits of their time.
 * @param before what the counter says.
 */
async function countSent(
  { dynamo, tables, mayHaveExpired }: CountedDependencies,
  ref: ProjectRef,
  month: string,
  before: number,
): Promise<number> {
  const from = new Date(month);
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1));
  const [first, end] = [from, to].map((time) =>
    time.getTime().toString(16).padStart(12, '0').replace(/^.{8}/, '$&-'),
  );
  let sent = 0;
  const query = {
    TableName: tables.notifications,
    KeyConditionExpression: 'projectRef = :project AND notificationId BETWEEN :first AND :end',
    FilterExpression: `${isSent} OR attribute_exists(deleted)`,
    ExpressionAttributeValues: { ':project': ref, ':first': first, ':end': end },
  };
  await countRows(dynamo, query, (rows) => {
    sent += rows;
  });
  return mayHaveExpired ? Math.max(sent, before) : sent;
}

async function countRows(
  dynamo: DynamoDBDocumentClient,
  query: QueryCommandInput,
  onPage: (rows: number) => void,
  abortSignal?: AbortSignal,
): Promise<void> {
  const input: QueryCommandInput = { ...query, Select: 'COUNT', ConsistentRead: true };
  for await (const { Count = 0 } of paginateQuery({ client: dynamo }, input, { abortSignal })) {
    onPage(Count);
  }
}
