import type { Mutation } from './mutation.ts';

const audience = 'lambdas/store/audience.ts';
const counters = 'lambdas/store/counters.ts';
const dynamo = 'lambdas/store/dynamo.ts';
const notifications = 'lambdas/store/notifications.ts';
const projects = 'lambdas/store/projects.ts';
const rateLimit = 'lambdas/http/rate-limit.ts';
const rateLimits = 'lambdas/store/rate-limits.ts';
const removals = 'lambdas/store/remove-subscriptions.ts';
const sendWrites = 'lambdas/store/send-writes.ts';
const sends = 'lambdas/store/sends.ts';
const subscriptions = 'lambdas/store/subscriptions.ts';
const tallies = 'lambdas/store/tallies.ts';

const testOf = (name: string) => [`test/lambdas/store/${name}.test.ts`];
const ofChain = ['test/lambdas/http/chain.test.ts'];
const consistentReads = testOf('consistent-reads');

export const storeMutations: readonly Mutation[] = [
  {
    file: tallies,
    description: 'tallies are read eventually consistent',
    from: 'Keys, ConsistentRead: true',
    to: 'Keys, ConsistentRead: false',
  },
  {
    file: tallies,
    description: 'UnprocessedKeys of BatchGet are ignored',
    from: 'Keys = UnprocessedKeys?.[table]?.Keys;',
    to: 'Keys = undefined;',
  },
  {
    file: tallies,
    description: 'a write that arrives late is applied',
    from: "'claimedBy = :claimedBy AND step <= :step'",
    to: "'claimedBy = :claimedBy'",
  },
  {
    file: tallies,
    description: 'a share is claimed that another invocation has',
    from: "'attribute_not_exists(claimedBy)'",
    to: "'attribute_not_exists(nothing)'",
  },
  {
    file: tallies,
    description: 'a share is claimed whoever has it',
    from: 'if (await write(key, writer, attributesOf(progress), signal)) return undefined;',
    to: 'await write(key, writer, attributesOf(progress), signal);\n      return undefined;',
  },
  {
    file: tallies,
    description: 'the end of a share is not stored',
    from: '...progress, ...counts };',
    to: '...progress, ...counts, ended: undefined };',
  },
  {
    file: tallies,
    description: 'an event of another project is counted',
    from: "ConditionExpression: 'projectId = :projectId',",
    to: "ConditionExpression: 'attribute_exists(projectId) OR projectId = :projectId',",
  },
  {
    file: counters,
    description: 'the shares of a cap are more than the cap',
    from: 'cap + partCount - 1 - part',
    to: 'cap + partCount - part',
  },
  {
    file: counters,
    description: 'a part without a share of the cap takes a unit',
    from: "shareOf(cap, part) - units,\n      ':createdAt",
    to: "Math.max(0, shareOf(cap, part) - units),\n      ':createdAt",
  },
  {
    file: counters,
    description: 'a project is at its cap when one part is full',
    from: 'fromPart(preferredPart).find((one) => room[one]! > 0)',
    to: 'undefined',
  },
  {
    file: counters,
    description: 'a project is at its cap when it was read so, although a unit is returned',
    from: 'isFull = found === undefined;',
    to: "if (found === undefined) return 'cap_reached';",
    tests: [...testOf('send-idempotency'), ...testOf('counters')],
  },
  {
    file: counters,
    description: 'the parts of a counter are read eventually consistent',
    from: '      ConsistentRead: true,\n',
    to: '',
    tests: consistentReads,
  },
  {
    file: counters,
    description: 'a subscription of a deleted project is stored if it has no cap',
    from: "cap === null ? 'attribute_exists(used)' : 'used <= :room'",
    to: "cap === null ? 'attribute_not_exists(removal)' : 'used <= :room'",
    tests: testOf('subscriptions'),
  },
  {
    file: counters,
    description: 'a removal creates the counter of a deleted project',
    from: "ConditionExpression: 'attribute_exists(used)',\n    ExpressionAttributeValues: { ':givenBack'",
    to: "ExpressionAttributeValues: { ':givenBack'",
    tests: testOf('subscriptions'),
  },
  {
    file: counters,
    description: 'a send counts for a later project of the same id',
    from: ' AND createdAt = :createdAt`',
    to: ' AND createdAt >= :createdAt`',
    tests: testOf('sends'),
  },
  {
    file: sends,
    description: 'the first send of a month is refused',
    from: '(await createMonth(notification, abortSignal)) ? begin() : outcome',
    to: 'outcome',
    tests: testOf('sends'),
  },
  {
    file: sendWrites,
    description: 'a deleted project gets the counter of a new month',
    from: '    { ConditionCheck: projectExists(tables, notification) },\n    ...parts',
    to: '    ...parts',
    tests: testOf('sends'),
  },
  {
    file: sendWrites,
    description: 'the claim of the share that the request delivers is not stored',
    from: 'return claimed.map(',
    to: 'return claimed.slice(1).map(',
    tests: testOf('sends'),
  },
  {
    file: sends,
    description: 'the send of an idempotency key is read eventually consistent',
    from: 'Key: idempotencyItemKey(projectId, keyHash),\n          ConsistentRead: true,',
    to: 'Key: idempotencyItemKey(projectId, keyHash),',
    tests: consistentReads,
  },
  {
    file: sends,
    description: 'a repetition at the cap is refused as above the cap',
    from: "          if (conditionFailed(repetition)) return 'repeated';\n          if (conditionFailed(unit)) return 'part_full';",
    to: "          if (conditionFailed(unit)) return 'part_full';\n          if (conditionFailed(repetition)) return 'repeated';",
  },
  {
    file: sends,
    description: 'a send that is undone leaves its key to a begin that arrives later',
    from: '{ Put: { TableName, Item, ConditionExpression: notificationExists } }',
    to: '{ Delete: { TableName, Key: { projectId, notificationId: notification.id }, ConditionExpression: notificationExists } }',
    tests: testOf('sends'),
  },
  {
    file: sends,
    description: 'cancel does not prevent a begin that arrives later',
    from: "if (outcome === 'undone' || (await preventBegin(notification, signal))) return undefined;",
    to: 'return undefined;',
  },
  {
    file: sends,
    description: 'a cancelled send keeps its unit',
    from: '{ Update: returnUnit(tables, notification) },',
    to: '{ ConditionCheck: projectExists(tables, notification) },',
  },
  {
    file: sends,
    description: 'a cancelled send keeps its idempotency key',
    from: '? [{ Delete: { TableName, Key: idempotencyItemKey(projectId, idempotency.keyHash) } }]',
    to: '? []',
  },
  {
    file: sends,
    description: 'a cancelled send can still be claimed',
    from: '...closeShares(tables, notification, by).map((Update) => ({ Update })),',
    to: '',
  },
  {
    file: counters,
    description: 'the monthly cap is one too high',
    from: 'shareOf(cap, part) - units',
    to: 'shareOf(cap, part) - (projectCreatedAt === undefined ? units : 0)',
    tests: testOf('sends'),
  },
  {
    file: sendWrites,
    description: 'a send is cancelled whose share has pushed',
    from: '(attribute_exists(ended) AND attempted = :zero)',
    to: '(attribute_exists(ended) AND attempted >= :zero)',
    tests: testOf('sends'),
  },
  {
    file: sendWrites,
    description: 'events of a cancelled send are counted',
    from: ' REMOVE projectId',
    to: '',
    tests: testOf('sends'),
  },
  {
    file: sendWrites,
    description: 'a notification replaces another one',
    from: "ConditionExpression: 'attribute_not_exists(notificationId)',",
    to: '',
    tests: testOf('sends'),
  },
  {
    file: sendWrites,
    description: 'an expired idempotency key is refused',
    from: 'attribute_not_exists(notificationId) OR expiresAt <= :now',
    to: 'attribute_not_exists(notificationId) AND :now = :now',
    tests: testOf('send-idempotency'),
  },
  {
    file: audience,
    description: 'an endpoint read twice is pushed twice',
    from: 'recipients: unique(recipients), isCut',
    to: 'recipients, isCut',
  },
  {
    file: audience,
    description: 'only the first page of a query is read',
    from: 'found.map((one) => ({ ...one, user }))));',
    to: 'found.map((one) => ({ ...one, user })))); break;',
  },
  {
    file: audience,
    description: 'conditions are not passed to the database',
    from: "FilterExpression: filters.join(' AND '),",
    to: "FilterExpression: 'attribute_exists(endpointHash)',",
  },
  {
    file: audience,
    description: 'a subscription that meets one of two conditions is read',
    from: "filters.join(' AND ')",
    to: "filters.join(' OR ')",
  },
  {
    file: audience,
    description: 'the day that is added to seenWithinDays is left out',
    from: '(seenWithinDays + 1) * dayMs',
    to: 'seenWithinDays * dayMs',
  },
  {
    file: subscriptions,
    description: 'an update keeps the stored channels',
    from: 'channels: storedChannels(channels),\n      ...(vapid',
    to: '...(vapid',
  },
  {
    file: audience,
    description: 'an audience of exactly the limit is cut',
    from: 'const isCut = recipients.length > limit;',
    to: 'const isCut = recipients.length >= limit;',
  },
  {
    file: audience,
    description: 'everyone is read eventually consistent',
    from: 'ConsistentRead: options.consistent,',
    to: '',
    tests: consistentReads,
  },
  {
    file: dynamo,
    description: 'conflicts of transactions are not retried',
    from: 'return reasons.length > 0 && reasons.every',
    to: 'return false && reasons.every',
  },
  {
    file: dynamo,
    description: 'conflicts of single writes are not retried',
    from: "if (error instanceof Error && error.name === 'TransactionConflictException') return true;",
    to: '',
  },
  {
    file: dynamo,
    description: 'a failed condition is retried as a conflict',
    from: "  'None',\n",
    to: "  'None',\n  'ConditionalCheckFailed',\n",
  },
  {
    file: dynamo,
    description: 'a lost connection is an internal error',
    from: ' || isWithoutResponse || ',
    to: ' || ',
  },
  {
    file: notifications,
    description: 'a notification is read eventually consistent',
    from: 'Key: { projectId, notificationId },\n          ConsistentRead: true,',
    to: 'Key: { projectId, notificationId },',
    tests: consistentReads,
  },
  {
    file: notifications,
    description: 'a cancelled notification is found',
    from: "Item === undefined || 'cancelled' in (Item as CancelledItem)",
    to: 'Item === undefined',
  },
  {
    file: notifications,
    description: 'a page of the list ends early after cancelled notifications',
    from: 'if (items.length >= limit) break;',
    to: 'break;',
  },
  {
    file: notifications,
    description: 'the first notification of a page is left out',
    from: 'notificationId <= :from',
    to: 'notificationId < :from',
  },
  {
    file: projects,
    description: 'a project is read eventually consistent',
    from: 'Key: { projectId }, ConsistentRead: true }',
    to: 'Key: { projectId } }',
    tests: consistentReads,
  },
  {
    file: projects,
    description: 'a missing project is remembered as long as a found one',
    from: 'now + negativeCacheTtlMs',
    to: 'now + projectCacheMs',
  },
  {
    file: projects,
    description: 'a project is read from memory when it should be read again',
    from: 'refresh: (projectId, signal) => readAndRemember(projectId, clock().getTime(), signal),',
    to: 'refresh: async (projectId) => present.get(projectId, clock().getTime()),',
  },
  {
    file: projects,
    description: 'the previous key pair has the number of the current one',
    from: 'number: number - 1',
    to: 'number',
  },
  {
    file: projects,
    description: 'a used project is dropped before unused ones',
    from: '    this.#entries.delete(key);\n    this.#entries.set(key, entry);\n',
    to: '',
  },
  {
    file: rateLimit,
    description: 'a request beyond the rate limit is refused for what it read',
    from: "      if (count.status === 'rejected') throw count.reason;",
    to: "      if (input.status === 'rejected') throw input.reason;\n      if (count.status === 'rejected') throw count.reason;",
    tests: ofChain,
  },
  {
    file: rateLimit,
    description: 'a request without the key is read',
    from: 'project && readInput?.({ ...event, project })',
    to: 'readInput?.({ ...event, project: project! })',
    tests: ofChain,
  },
  {
    file: rateLimit,
    description: 'a request is read whose address is known to be over the limit',
    from: 'if (limit !== null) expectWithin(limit, counter.refused(counted));',
    to: '',
    tests: ofChain,
  },
  {
    file: rateLimits,
    description: 'one request above the rate limit is accepted',
    from: 'hits < :limit',
    to: 'hits <= :limit',
  },
  {
    file: rateLimits,
    description: 'buckets of earlier minutes are remembered',
    from: 'exhausted.clear();',
    to: '',
    survives: 'The minute is part of a bucket: only memory grows.',
  },
  {
    file: rateLimits,
    description: 'every refused request costs a call',
    from: 'exhausted.add(bucket);',
    to: '',
  },
  {
    file: removals,
    description: 'the others of a batch are kept if one is missing',
    from: 'return removeSubscriptions(dynamo, tables, condition, projectId, remaining, abortSignal);',
    to: 'return remaining.length;',
    tests: testOf('subscriptions'),
  },
  {
    file: removals,
    description: 'two removals from one part are counted once',
    from: '(removed.get(part) ?? 0) + 1',
    to: '1',
    tests: testOf('subscriptions'),
  },
  {
    file: subscriptions,
    description: 'a subscribe that met a concurrent create is not stored',
    from: "if (outcome !== 'exists') return outcome;",
    to: "return outcome === 'exists' ? 'updated' : outcome;",
  },
  {
    file: counters,
    description: 'the subscriber cap is one too high',
    from: 'shareOf(cap, part) - units',
    to: 'shareOf(cap, part) - (projectCreatedAt === undefined ? 0 : units)',
    tests: testOf('subscriptions'),
  },
  {
    file: subscriptions,
    description: 'a subscription that passed to another user is removed',
    from: "ConditionExpression: 'projectUser = :user',",
    to: "ConditionExpression: 'attribute_exists(endpointHash) OR projectUser = :user',",
  },
  {
    file: subscriptions,
    description: 'an update without a key forgets the key pair',
    from: '...(vapidPairNumber !== undefined && { vapidPairNumber: storedPairNumber(vapidPairNumber) }),',
    to: 'vapidPairNumber: vapidPairNumber === undefined ? undefined : storedPairNumber(vapidPairNumber),',
  },
];
