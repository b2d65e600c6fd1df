import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { RestoredTables } from '../../contract/infrastructure/tables.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import {
  type Counter,
  changeParts,
  closedValue,
  partKeys,
  readItems,
} from '../../lambdas/store/counters.ts';
import { cancellationReasons, conditionFailed } from '../../lambdas/store/dynamo.ts';
import { projectNotFound } from './registered-projects.ts';

type Tables = Pick<RestoredTables, 'projects' | 'usage'>;

interface CountedProject {
  readonly projectId: string;
  readonly ref: ProjectRef;
}

/**
 * Closes a counter of a project: when this returns, no unit is taken from it any more. Creates the parts that are missing,
 * which a month's first send would create open. Idempotent.
 * @param until epoch ms at which it is open again, but for parts that are closed for good. Undefined: for good.
 * @throws {ServiceError} `project_not_found`.
 */
export async function closeCounter(
  dynamo: DynamoDBDocumentClient,
  tables: Tables,
  { projectId, ref }: CountedProject,
  counter: Counter,
  until?: number,
): Promise<void> {
  const [closing, values, condition] =
    until === undefined
      ? ['SET cap = :closed REMOVE closedUntil', {}, '']
      : [
          'SET cap = :closed, closedUntil = :until',
          { ':until': until },
          ' AND (attribute_not_exists(cap) OR cap <> :closed OR attribute_exists(closedUntil))',
        ];
  const ExpressionAttributeValues = { ...closedValue, ...values };
  for (;;) {
    await changeParts(dynamo, counter, {
      UpdateExpression: closing,
      ConditionExpression: `attribute_exists(used)${condition}`,
      ExpressionAttributeValues,
    });
    const caps = new Map(
      (await readItems(dynamo, counter)).map(({ period, cap }) => [period, cap]),
    );
    const keys = partKeys(ref, counter.name);
    const missing = keys.filter(({ period }) => !caps.has(period));
    // One that was created meanwhile is open.
    const areClosed = [...caps.values()].every((cap) => cap === 'closed');
    if (areClosed && (missing.length === 0 || (await create(missing)))) return;
  }

  /** @returns false if somebody else has created one. */
  async function create(missing: readonly object[]): Promise<boolean> {
    const part = {
      TableName: tables.usage,
      UpdateExpression: closing.replace('SET', 'SET used = :zero,').replace(/ REMOVE.*/, ''),
      ConditionExpression: 'attribute_not_exists(used)',
      ExpressionAttributeValues: { ...ExpressionAttributeValues, ':zero': 0 },
    };
    const isThere = {
      TableName: tables.projects,
      Key: { projectId },
      ConditionExpression: '#ref = :ref AND attribute_not_exists(removed)',
      ExpressionAttributeNames: { '#ref': 'ref' },
      ExpressionAttributeValues: { ':ref': ref },
    };
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            { ConditionCheck: isThere },
            ...missing.map((Key) => ({ Update: { ...part, Key } })),
          ],
        }),
      );
      return true;
    } catch (error) {
      const [project, ...others] = cancellationReasons(error);
      if (conditionFailed(project)) throw projectNotFound(projectId);
      if (others.some(conditionFailed)) return false;
      throw error;
    }
  }
}

/** Opens a counter that {@link closeCounter} has closed until the same time. */
export async function openCounter(
  dynamo: DynamoDBDocumentClient,
  counter: Counter,
  until?: number,
): Promise<void> {
  await changeParts(dynamo, counter, {
    UpdateExpression: 'REMOVE cap, closedUntil',
    ...(until === undefined
      ? {
          ConditionExpression: 'cap = :closed AND attribute_not_exists(closedUntil)',
          ExpressionAttributeValues: closedValue,
        }
      : {
          ConditionExpression: 'closedUntil = :until',
          ExpressionAttributeValues: { ':until': until },
        }),
  });
}
