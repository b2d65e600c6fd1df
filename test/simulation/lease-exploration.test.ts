import { readFileSync } from 'node:fs';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { transformSync } from '@swc/core';
import { isConditionFailure } from '../../lambdas/store/dynamo.ts';
import {
  cancelCondition,
  type LeaseEvent,
  refusal,
  stopCondition,
  writeCondition,
} from '../../lambdas/store/slices.ts';
import { useDatabase } from '../fixtures/database.ts';
import { explore, type Rule } from './lease-exploration.ts';

/** Fewer than in test/reliability/lease-exploration.test.ts: some seconds. */
const bounds = { writers: 3, chunks: 2, lateCalls: 1 };
/** In which every fault of the rule shows. */
const smallBounds = { writers: 2, chunks: 2, lateCalls: 1 };

const database = useDatabase();

test('nobody is pushed to twice, no claim is lost, and an end is in reach', () => {
  expect(explore(refusal, bounds).fault).toBeUndefined();
});

test('each fault of one token in the rule is found', () => {
  const isFound = (rule: Rule) => {
    try {
      return explore(rule, smallBounds).fault !== undefined;
    } catch {
      return true;
    }
  };
  const faults = faultyRules();
  expect(faults.length).toBeGreaterThan(50);
  expect(faults.filter(({ rule }) => !isFound(rule)).map(({ name }) => name)).toEqual([
    // No fault: the same write is `stored` already.
    '<= in: const isOwn = lease?.by === id.by && lease.n <= id.n;',
  ]);
});

test('the database refuses what the rule refuses, in each kind of meeting', async () => {
  const { DELIVERIES_TABLE: TableName } = database.tables;
  for (const [state, event] of explore(refusal, smallBounds).meetings.values()) {
    const { lease, ended, isStopped, claimed } = state;
    const Item = {
      ...{ id: 'n/0', expiresAt: 5_000_000_000, claimed },
      ...(lease && { leasedBy: lease.by, leaseWrite: lease.n }),
      ...(ended && { ended }),
      ...(isStopped && { stoppedAt: 900 }),
    };
    await database.dynamo.send(new PutCommand({ TableName, Item }));
    const { expression, values } = conditionOf(event);
    const named = Object.entries(values).map(([name, value]) => [`:${name}`, value]);
    const isWritten = await database.dynamo
      .send(
        new UpdateCommand({
          ...{ TableName, Key: { id: Item.id }, UpdateExpression: 'SET written = :written' },
          ConditionExpression: expression,
          ExpressionAttributeValues: { ':written': true, ...Object.fromEntries(named) },
        }),
      )
      .then(
        () => true,
        (error) => {
          if (!isConditionFailure(error)) throw error;
          return false;
        },
      );
    const isAllowed = refusal(state, event) === undefined;
    expect({ state, event, isWritten }).toEqual({ state, event, isWritten: isAllowed });
  }
});

function conditionOf(event: LeaseEvent) {
  switch (event.kind) {
    case 'write':
      return writeCondition(event);
    case 'stop':
      return { expression: stopCondition, values: {} };
    case 'cancel':
      return { expression: cancelCondition, values: { by: event.by, zero: 0 } };
  }
}

/** By which tokens a token is replaced. */
const replacements: readonly (readonly string[])[] = [
  ['===', '!=='],
  ['<', '<=', '>', '>='],
  ['&&', '||'],
  ["'stored'", "'lost'", "'stopped'", "'ended'", 'undefined'],
  ['lease', 'id', 'known'],
  ['isStopped', 'knowsStop'],
  ['by', 'n'],
  ['0', '1'],
  ['one', 'other'],
  ['!', '!!'],
];

/** The rule with one token replaced, in all ways that are JavaScript. */
function faultyRules(): { readonly name: string; readonly rule: Rule }[] {
  const source = readFileSync('lambdas/store/slices.ts', 'utf8');
  const { code } = transformSync(functionIn(source, 'refusal') + functionIn(source, 'isSame'), {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
    isModule: false,
  });
  const tokens = code.split(/(\w+|'\w+'|[!=]==|[<>]=?|&&|\|\||!|\s+)/);
  return tokens.flatMap((token, index) => {
    const others = replacements.find((group) => group.includes(token)) ?? [];
    return others.flatMap((other) => {
      const faulty = tokens.with(index, other).join('');
      const line = tokens.slice(0, index).join('').split('\n').length - 1;
      const name = `${other} in: ${faulty.split('\n')[line]!.trim()}`;
      try {
        const rule = new Function(`${faulty}; return refusal;`)() as Rule;
        return other === token ? [] : [{ name, rule }];
      } catch {
        return [];
      }
    });
  });
}

/** The text of a function. */
function functionIn(source: string, name: string): string {
  const [, text] = new RegExp(`(function ${name}\\([^]*?\\n}\\n)`).exec(source)!;
  return text!;
}
