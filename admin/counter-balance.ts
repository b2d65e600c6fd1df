import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import {
  type Counter,
  giveBackUnits,
  type Parts,
  readParts,
  shareOf,
  sumOf,
  takeUnits,
} from '../lambdas/store/counters.ts';
import { cancellationReasons, conditionFailed } from '../lambdas/store/dynamo.ts';

/**
 * Moves units between the parts of a counter, in one transaction, unless none is above its share of the
 * cap while another one has room. Otherwise the parts with room could be filled, and the sum would exceed
 * the cap. Units are moved by amounts, so that no concurrent change is lost.
 */
export async function balanceParts(
  dynamo: DynamoDBDocumentClient,
  counter: Counter,
  cap: number | null,
): Promise<void> {
  if (cap === null) return;
  for (;;) {
    const parts = await readParts(dynamo, counter);
    if (parts.includes(undefined)) return;
    const moves = movesIn(parts, cap);
    if (moves.length === 0) return;
    // Above the cap, the parts hold even shares of what is used.
    const most = Math.max(cap, sumOf(parts));
    const updates = moves.map(({ part, units }) => ({
      Update:
        units > 0 ? takeUnits(counter, part, units, most) : giveBackUnits(counter, part, -units),
    }));
    try {
      await dynamo.send(new TransactWriteCommand({ TransactItems: updates }));
      return;
    } catch (error) {
      // A part was filled meanwhile, or deleted with its project.
      if (!cancellationReasons(error).some(conditionFailed)) throw error;
    }
  }
}

/** What to add to each part, so that all hold even shares of their sum. */
function movesIn(parts: Parts, cap: number) {
  const used = parts.map((units = 0) => units);
  const isAbove = used.some((units, part) => units > shareOf(cap, part));
  const hasRoom = used.some((units, part) => units < shareOf(cap, part));
  if (!isAbove || !hasRoom) return [];
  const sum = sumOf(parts);
  return used
    .map((units, part) => ({ part, units: shareOf(sum, part) - units }))
    .filter(({ units }) => units !== 0);
}
