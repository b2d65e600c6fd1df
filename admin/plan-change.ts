import { setTimeout as sleepFor } from 'node:timers/promises';
import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Plan } from '../contract/project.ts';
import { cancellationReasons, conditionFailed } from '../lambdas/store/dynamo.ts';
import { projectCacheMs } from '../lambdas/store/projects.ts';
import { readCounters } from '../lambdas/store/usage.ts';
import { PlanChangedMeanwhile } from './project-errors.ts';
import type { ProjectTables } from './project-tables.ts';
import { foldCounters } from './subscriber-counters.ts';

/** Limits to change: a number, null for no limit, or `default` for the deployment's setting. */
export type PlanChange = { readonly [Limit in keyof Plan]?: number | null | 'default' };

/** Parameters of an `UpdateCommand`. */
export interface ProjectUpdate {
  readonly UpdateExpression: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, unknown>;
}

export interface Waiting {
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Is called before a wait of this many ms. */
  readonly onWait: (ms: number) => void;
}

export const realWaiting: Waiting = { sleep: sleepFor, onWait: () => {} };

/**
 * A function may still use a project that it read this long ago, for one more request of 10 s. Longer sends
 * find the project again before each removal.
 */
export const forgottenAfterMs = projectCacheMs + 10_000;

/** A project without a subscriber cap counts in parts. The change takes effect with the plan. */
export function planUpdate(changes: PlanChange): ProjectUpdate {
  const names: Record<string, string> = { '#plan': 'plan' };
  const values: Record<string, unknown> = {};
  const set: string[] = [];
  const remove: string[] = [];
  for (const [limit, value] of Object.entries(changes)) {
    names[`#${limit}`] = limit;
    if (value === 'default') {
      remove.push(`#plan.#${limit}`);
    } else {
      set.push(`#plan.#${limit} = :${limit}`);
      values[`:${limit}`] = value;
    }
  }
  if (changes.subscriberCap === null) {
    set.push('subscriberCounter = :counter');
    values[':counter'] = 'parts';
  }
  const clauses = [
    ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
    ...(remove.length > 0 ? [`REMOVE ${remove.join(', ')}`] : []),
  ];
  return {
    UpdateExpression: clauses.join(' '),
    ExpressionAttributeNames: names,
    ...(set.length > 0 && { ExpressionAttributeValues: values }),
  };
}

/**
 * Sets a cap on a project that counts its subscribers in parts. First it counts in the single counter;
 * when every function knows that, the parts are added to it and the cap applies. A call that is
 * interrupted can be repeated.
 * @param countInSingle stores that the project counts in the single counter.
 * @throws {PlanChangedMeanwhile} if the cap was removed again during the wait.
 */
export async function setFirstCap(
  dynamo: DynamoDBDocumentClient,
  tables: Pick<ProjectTables, 'projects' | 'usage'>,
  projectId: string,
  changes: PlanChange,
  countInSingle: () => Promise<unknown>,
  { sleep, onWait }: Waiting,
): Promise<void> {
  await countInSingle();
  onWait(forgottenAfterMs);
  await sleep(forgottenAfterMs);
  const counters = await readCounters(dynamo, tables.usage, projectId);
  const { ExpressionAttributeValues, ...update } = planUpdate(changes);
  try {
    await dynamo.send(
      new TransactWriteCommand({
        TransactItems: [
          {
            Update: {
              TableName: tables.projects,
              Key: { projectId },
              ...update,
              ConditionExpression: 'subscriberCounter = :single',
              ExpressionAttributeValues: { ...ExpressionAttributeValues, ':single': 'single' },
            },
          },
          ...foldCounters(tables.usage, counters),
        ],
      }),
    );
  } catch (error) {
    throw cancellationReasons(error).some(conditionFailed)
      ? new PlanChangedMeanwhile(projectId)
      : error;
  }
}
