import type { Mutation } from './mutation.ts';

const deliverFunction = 'lambdas/deliver/deliver.ts';
const runningPusher = 'lambdas/push/pushing/running-pusher.ts';
const deliverShare = 'lambdas/deliver/deliver-share.ts';
const divide = 'lambdas/send/divide.ts';
const progress = 'lambdas/deliver/share-progress.ts';
const pushService = 'lambdas/push/pushing/push-service.ts';
const removals = 'lambdas/push/pushing/removals.ts';
const results = 'lambdas/results/results.ts';
const runShares = 'lambdas/send/run-shares.ts';
const send = 'lambdas/send/send.ts';
const repeat = 'lambdas/send/repeat.ts';
const awaitShares = 'lambdas/send/await-shares.ts';
const handOver = 'lambdas/send/hand-over.ts';
const sendWrites = 'lambdas/store/send-writes.ts';
const status = 'lambdas/results/status.ts';
const tallies = 'lambdas/store/tallies.ts';

/** The simulation takes longest, and is only asked about what nothing else notices. */
const simulation = 'test/simulation/small.test.ts';
const folders = ['test/lambdas/send', 'test/lambdas/deliver', 'test/lambdas/results', simulation];
const sendTests = (name: string) => [`test/lambdas/send/${name}.test.ts`, ...folders];
const shareTests = (name: string) => [`test/lambdas/${name}.test.ts`, ...folders];
const pushTests = (name: string) => [
  `test/lambdas/push/pushing/${name}.test.ts`,
  'test/lambdas/push/pushing',
  simulation,
];

/** Personal content, and whom a send has reached. */
const ofUsers: readonly Mutation[] = [
  {
    file: 'lambdas/deliver/chunk.ts',
    description: 'every user of a share gets the text of the first',
    from: 'values[user!]!',
    to: 'values[0]!',
    tests: [simulation],
  },
  {
    file: divide,
    description: 'a share has the values of other users',
    from: 'audience.values?.slice(from, to)',
    to: 'audience.values',
  },
  {
    file: divide,
    description: 'an invocation may be larger than Lambda accepts',
    from: 'while (shares < userIds.length && !fits(shares)) shares += 1;\n',
    to: '',
  },
  {
    file: 'lambdas/store/audience.ts',
    description: 'recipients of a second chunk belong to the users of the first',
    from: 'user: from + index',
    to: 'user: index',
  },
  {
    file: send,
    description: 'a repetition may have other values',
    from: '...conditions, ...users }',
    to: '...conditions, ...{ ...users, values: undefined } }',
    tests: sendTests('idempotency'),
  },
  {
    file: 'lambdas/send/largest-message.ts',
    description: 'only the message of the first recipient is measured',
    from: '(values ?? [{}]).entries()',
    to: '(values ?? [{}]).slice(0, 1).entries()',
  },
  {
    file: runningPusher,
    description: 'a delivered push does not reach its user',
    from: '      this.#options.onDelivered?.(recipient);\n',
    to: '',
    tests: [simulation],
  },
  {
    file: runningPusher,
    description: 'a user whose subscription is gone counts as reached',
    from: "else if (outcome.kind === 'gone') this.#removals.add(recipient);",
    to: "else if (outcome.kind === 'gone') {\n this.#removals.add(recipient);\n this.#options.onDelivered?.(recipient);\n }",
    tests: [simulation],
  },
  {
    file: progress,
    description: 'whom a dead invocation has reached is forgotten',
    from: '    if (tally.reached !== undefined) this.reached?.addAll(tally.reached);\n',
    to: '',
    tests: shareTests('deliver/deliver-share'),
  },
  {
    file: progress,
    description: 'it is not stored who was reached',
    from: '        reached: this.reached?.bits(),\n',
    to: '',
    tests: shareTests('deliver/deliver-share'),
  },
  {
    file: repeat,
    description: 'a repetition does not know whom the first request has reached',
    from: 'reached: found[0]?.reached, ',
    to: '',
    tests: sendTests('idempotency'),
  },
  {
    file: 'lambdas/results/reached-users.ts',
    description: 'only the first eight users of a share can be reached',
    from: 'this.#bits[user >> 3]! |=',
    to: 'this.#bits[0]! |=',
  },
];

const ofSend: readonly Mutation[] = [
  {
    file: awaitShares,
    description: 'a send is cancelled although another function may have delivered',
    from: ' && !outcome.isUnknown',
    to: '',
  },
  {
    file: awaitShares,
    description: 'a send that has pushed is cancelled',
    from: 'total.attempted === 0 && total.unreached > 0',
    to: 'total.unreached > 0',
  },
  {
    file: send,
    description: 'a send whose begin had no response is not cancelled',
    from: '    const stopped = await cancel(deps, sending, notification);\n    if (stopped !== undefined) return stopped;\n',
    to: '',
  },
  {
    file: handOver,
    description: 'an asynchronous send that no function has is not cancelled',
    from: '    const stopped = await cancel(deps, sending, begun);\n    if (stopped !== undefined) return stopped;\n    throw outOfTime();',
    to: '    throw outOfTime();',
  },
  {
    file: repeat,
    description: 'a repetition gets counts that are about to be cancelled',
    from: '  if (mayBeCancelled(found, sentAt)) throw requestInProgress(1);\n',
    to: '',
  },
  {
    file: repeat,
    description: 'a repetition gets counts that are cancelled in the last moment',
    from: 'now.getTime() < tally!.claim!.until + cancelMs',
    to: 'now.getTime() < tally!.claim!.until',
  },
  {
    file: repeat,
    description: 'a repetition gets the counts of a send that was cancelled',
    from: "  if (found[0]?.ended === 'cancelled') throw requestInProgress(1);\n",
    to: '',
  },
  {
    file: repeat,
    description: 'a repetition hands over what waits in the queue of Lambda',
    from: 'found.every((tally) => tally === undefined)',
    to: 'found.every((tally) => tally?.claim === undefined)',
  },
  {
    file: repeat,
    description: 'a repetition delivers while the first request may still cancel',
    from: 'sendTimeline.timeoutMs < sentAt',
    to: 'sendTimeline.endMs < sentAt',
  },
  {
    file: repeat,
    description: 'a repetition with a different body is answered as the first',
    from: 'earlier.requestHash !== requestHash',
    to: 'false',
  },
  {
    file: repeat,
    description: 'a repetition may come again when the first of several shares is over',
    from: 'Math.max(...found',
    to: 'Math.min(...found',
  },
  {
    file: handOver,
    description: 'a repetition is not told that a send is queued',
    from: '  await markQueued(deps, sending, shares[0]!);\n',
    to: '',
  },
].map((mutation) => ({ ...mutation, tests: sendTests('send') }));

const ofRunShares: readonly Mutation[] = [
  {
    file: runShares,
    description: '"maybe queued" is taken as throttled',
    from: "return mayBeQueued ? { kind: 'unknown' } : outcome;",
    to: 'return outcome;',
  },
  {
    file: runShares,
    description: 'a throttled invocation is not repeated',
    from: "outcome.kind === 'throttled' || (type",
    to: 'false || (type',
  },
  {
    file: runShares,
    description: 'a lost response of an awaited function is waited for twice',
    from: "(type === 'async' && outcome.kind === 'unknown')",
    to: "outcome.kind === 'unknown'",
  },
  {
    file: runShares,
    description: 'the share before the failed one is recovered',
    from: 'others[index]!',
    to: 'shares[index]!',
  },
  {
    file: runShares,
    description: 'a throttled share is delivered to a later project of the same id',
    from: 'share, here, projectReadAt)',
    to: 'share, here)',
  },
  {
    file: runShares,
    description: 'a throttled asynchronous share is delivered to a later project of the same id',
    from: 'share, invocation, projectReadAt)',
    to: 'share, invocation)',
  },
  {
    file: runShares,
    description: 'no time is left to read what other functions have stored',
    from: 'endsAt: endsAt - lastReadsMs',
    to: 'endsAt',
  },
  {
    file: runShares,
    description: 'the end of a function is not awaited whose response was lost',
    from: "(tally?.ended !== undefined || kind !== 'unknown')",
    to: 'true',
  },
  {
    file: runShares,
    description: 'counts that could not be read count as known',
    from: 'isUnknown: !isRead',
    to: 'isUnknown: false',
  },
  {
    file: runShares,
    description: 'a throttled asynchronous share is delivered here without a deadline',
    from: '{ ...shares[index]!, deadline }',
    to: 'shares[index]!',
  },
  {
    file: runShares,
    description: 'an asynchronous send counts as started although nothing was pushed',
    from: "if (outcome.kind !== 'ended' || hasBegun(outcome)) isStarted",
    to: 'isStarted',
  },
  {
    file: runShares,
    description: 'an asynchronous send with an accepted share does not count as started',
    from: "    if (kind !== 'throttled') isStarted = true;\n",
    to: '',
  },
].map((mutation) => ({ ...mutation, tests: sendTests('run-shares') }));

const ofDivide: readonly Mutation[] = [
  {
    file: divide,
    description: 'the pace is not raised',
    from: 'return Math.max(setting, audience.subscribers / shareSizes.longestSeconds);',
    to: 'return setting;',
  },
  {
    file: divide,
    description: 'each share has the pace of all',
    from: 'pushesPerSecond / shares;',
    to: 'pushesPerSecond;',
  },
  {
    file: divide,
    description: 'two shares have a position in common',
    from: 'bound(share + 1)]',
    to: 'bound(share + 1) + 1]',
  },
  {
    file: divide,
    description: 'two shares have a tally in common',
    from: 'firstTally: index * talliesPerShare',
    to: 'firstTally: index',
  },
  {
    file: divide,
    description: 'a share of user ids is larger than its limit',
    from: 'Math.ceil(userIds.length / shareSizes.users)',
    to: 'Math.floor(userIds.length / shareSizes.users)',
  },
].map((mutation) => ({ ...mutation, tests: sendTests('divide') }));

const ofShares: readonly Mutation[] = [
  {
    file: deliverShare,
    description: 'the last write of a share is not repeated',
    from: 'if (this.#now() + saveAgainMs >= this.#invocation.endsAt)',
    to: 'if (true)',
  },
  {
    file: deliverShare,
    description: 'a failed last write of an asynchronous share is not retried by Lambda',
    from: "this.#isAsync ? { kind: 'open', error } : undefined",
    to: 'undefined',
  },
  {
    file: deliverShare,
    description: 'saving goes on after the end of a share',
    from: '    this.#pushed.abort();\n',
    to: '',
  },
  {
    file: deliverShare,
    description: 'the claim of a share is taken over while it is alive',
    from: 'now.claim?.by === by && now.claim.step === step',
    to: 'now.claim?.by === by',
  },
  {
    file: deliverShare,
    description: 'the claim of a share is taken over before it runs out',
    from: '      await this.#deps.sleep(Math.max(0, over - this.#now()));\n',
    to: '',
  },
  {
    file: deliverShare,
    description: 'an asynchronous share that another invocation has returns success',
    from: "if (!this.#isAsync) return { kind: 'elsewhere' };",
    to: "return { kind: 'elsewhere' };",
  },
  {
    file: deliverShare,
    description: 'a project is not looked for while pushes continue',
    from: 'await Promise.all([saving, this.#findProject().catch(() => {})]);',
    to: 'await saving;',
  },
  {
    file: deliverShare,
    description: 'pushes continue for a later project of the same id',
    from: 'found?.createdAt !== this.#share.projectCreatedAt',
    to: 'found === undefined',
  },
  {
    file: deliverShare,
    description: 'recipients are added before the claim is stored',
    from:
      '    const other = await this.#progress.claim(chunk, signal);\n' +
      '    if (other === undefined && !this.#progress.isStopped) this.#push(chunk);\n' +
      '    return other;\n',
    to: '    this.#push(chunk);\n    return this.#progress.claim(chunk, signal);\n',
  },
  {
    file: deliverShare,
    description: 'the first chunk of a prepared share is claimed with too few recipients',
    from: 'this.#progress.claimFirst(this.#prepared)',
    to: 'this.#progress.claimFirst({ ...this.#prepared, recipients: [] })',
  },
  {
    file: deliverShare,
    description: 'pushes continue after a claim that found the share lost',
    from: '      if (this.#progress.isLost) this.#pusher?.stop();\n',
    to: '',
  },
  {
    file: deliverShare,
    description: 'pushes continue after a save that found the share lost',
    from: 'if (isLost || isStopped || this.#isProjectGone) pusher.stop();',
    to: 'if (isStopped || this.#isProjectGone) pusher.stop();',
  },
  {
    file: deliverShare,
    description: 'Lambda repeats a share whose project is gone',
    from: 'this.#isDone || !this.#isAsync',
    to: 'isComplete || this.#progress.isStopped || !this.#isAsync',
  },
  {
    file: deliverShare,
    description: 'a share whose claim had no response is not ended',
    from: '    if (mayHaveClaimed) {',
    to: '    if (this.#progress.hasClaim) {',
  },
  {
    file: deliverShare,
    description: 'the first tally of a share is its only one',
    from: 'this.#progress.hasClaim ? undefined : this.#openTallies(signal)',
    to: 'undefined',
  },
  {
    file: progress,
    description: 'pending leaves out the chunk that is claimed',
    from: 'this.#recipients + recipients - attempted - unreached',
    to: 'this.#recipients - attempted - unreached',
  },
  {
    file: progress,
    description: 'a recipient that is unreached is also pending',
    from: 'recipients - attempted - unreached',
    to: 'recipients - attempted',
  },
  {
    file: progress,
    description: 'a share is written twice at once',
    from: 'this.#writing.then(() => this.#writeNow(change, signal))',
    to: 'this.#writeNow(change, signal)',
  },
  {
    file: progress,
    description: 'no write follows one that has failed',
    from: 'writing.catch(() => {})',
    to: 'writing',
  },
  {
    file: progress,
    description: 'writes are not numbered',
    from: '    this.#step += 1;\n',
    to: '',
  },
  {
    file: 'lambdas/deliver/share-times.ts',
    description: 'a repetition waits a minute for an invocation that has left its share',
    from: 'return isLast ? now : now + shareTimeline.claimMs',
    to: 'return now + shareTimeline.claimMs',
  },
  {
    file: progress,
    description: 'a share that is taken over begins at its start',
    from: '    this.position = tally.position;\n',
    to: '',
  },
  {
    file: progress,
    description: 'the pending pushes of a share that is taken over are forgotten',
    from: 'this.#before = interruptedCounts(tally);',
    to: 'this.#before = tally.counts;',
  },
].map((mutation) => ({ ...mutation, tests: shareTests('deliver/deliver-share') }));

const ofStops: readonly Mutation[] = [
  {
    file: deliverShare,
    description: 'a chunk of a stopped share is pushed to',
    from: 'if (other === undefined && !this.#progress.isStopped) this.#push(chunk);',
    to: 'if (other === undefined) this.#push(chunk);',
    tests: shareTests('deliver/deliver-share'),
  },
  {
    file: deliverShare,
    description: 'pushes continue after a save that found the share stopped',
    from: 'if (isLost || isStopped || this.#isProjectGone) pusher.stop();',
    to: 'if (isLost || this.#isProjectGone) pusher.stop();',
    tests: shareTests('deliver/deliver-share'),
  },
  {
    file: deliverShare,
    description: 'Lambda repeats a share that was stopped',
    from: 'this.#isDone || !this.#isAsync',
    to: 'isComplete || this.#isProjectGone || !this.#isAsync',
    tests: shareTests('deliver/deliver-share'),
  },
  {
    file: progress,
    description: 'a write after the stop allows further pushes',
    from: 'if (!this.isStopped) this.times.notStopped(startedAt);',
    to: 'this.times.notStopped(startedAt);',
    tests: shareTests('deliver/deliver-share'),
  },
  {
    file: progress,
    description: 'pushes are allowed from the response to a write, not from its start',
    from: 'this.times.notStopped(startedAt);',
    to: 'this.times.notStopped(this.#deps.clock().getTime());',
    tests: shareTests('deliver/share-progress'),
  },
  {
    file: progress,
    description: 'an invocation that knows the stop claims a chunk',
    from: '    if (this.isStopped && change.position !== undefined) return this.#skip(change);\n',
    to: '',
    tests: shareTests('deliver/deliver-share'),
  },
  {
    file: progress,
    description: 'the counts of a stopped share that nobody had claimed change',
    from: '    if (!this.hasClaim) return;\n',
    to: '',
    tests: shareTests('deliver/deliver-share'),
  },
  {
    file: progress,
    description: 'a share of another invocation is ended because it is stopped',
    from: '    return claim.by === this.#claim?.by && claim.step === this.#claim.step;\n  }',
    to: '    return true;\n  }',
    tests: shareTests('deliver/deliver-share'),
  },
  {
    file: runningPusher,
    description: 'pushes do not pause',
    from: 'this.#isPaused ? pausePollMs : ',
    to: '',
    tests: pushTests('chunks'),
  },
  {
    file: runningPusher,
    description: 'more recipients are wanted during a pause',
    from: '    if (this.#isPaused) return false;\n',
    to: '',
    tests: pushTests('chunks'),
  },
  {
    file: runningPusher,
    description: 'a stop waits for the pauses before retries',
    from: '    for (const [push, pushService] of this.#retries) pushService.queue.add(push);\n    this.#forgetRetries();\n',
    to: '',
    tests: pushTests('chunks'),
  },
  {
    file: tallies,
    description: 'a stopped share is claimed',
    from: 'knowsStop ? mayWrite : ',
    to: 'true ? mayWrite : ',
    tests: shareTests('store/tallies'),
  },
  {
    file: tallies,
    description: 'a share that has ended is stopped',
    from: "'attribute_not_exists(ended) AND attribute_not_exists(stoppedAt)'",
    to: "'attribute_not_exists(stoppedAt)'",
    tests: shareTests('store/tallies'),
  },
  {
    file: 'lambdas/stop-notification/stop-notification.ts',
    description: 'only the first open share is stopped',
    from: '    open.map((firstTally)',
    to: '    open.slice(0, 1).map((firstTally)',
  },
  {
    file: sendWrites,
    description: 'a stopped send is cancelled',
    from: "'attribute_not_exists(stoppedAt) AND (attribute_not_exists(claimedBy) OR",
    to: "'(attribute_not_exists(claimedBy) OR",
    tests: ['test/lambdas/store/sends.test.ts'],
  },
  {
    file: awaitShares,
    description: 'a stopped send in which nothing was attempted is cancelled',
    from: ' && !isStopped',
    to: '',
    tests: sendTests('send'),
  },
  {
    file: repeat,
    description: 'a repetition of a stopped send waits for its cancellation',
    from: '  if (found.some(isStopped)) return false;\n',
    to: '',
    tests: sendTests('idempotency'),
  },
  {
    file: status,
    description: 'a stopped share that nobody has claimed is waited for',
    from: '  if (isStopped(tally)) return claimedUntil ?? 0;\n',
    to: '',
    tests: shareTests('results/status'),
  },
  {
    file: status,
    description: 'an interrupted notification changes its status with a stop',
    from: 'return tally.stoppedAt <= overAt(notification, { ...tally, stoppedAt: undefined });',
    to: 'return true;',
    tests: shareTests('results/status'),
  },
];

const ofResults: readonly Mutation[] = [
  {
    file: results,
    description: 'unreached is 0 although a share is incomplete',
    from: 'Math.max(unreached, missing, 1)',
    to: 'Math.max(unreached, missing)',
    tests: shareTests('results/results'),
  },
  {
    file: results,
    description: 'a total is complete if one of its shares is',
    from: 'results.every(',
    to: 'results.some(',
    tests: shareTests('results/results'),
  },
  {
    file: results,
    description: 'the pushes of a function that died are left out',
    from: 'if (pending === 0) return counts;',
    to: 'return counts;',
    tests: shareTests('results/results'),
  },
  {
    file: results,
    description: 'a share that has ended is complete',
    from: "tally.ended === 'complete'",
    to: 'tally.ended !== undefined',
    tests: shareTests('results/results'),
  },
  {
    file: status,
    description: 'a notification is interrupted while one of its shares is delivered',
    from: 'open.every(',
    to: 'open.some(',
    tests: shareTests('results/status'),
  },
  {
    file: status,
    description: 'a share is interrupted in the last millisecond of its claim',
    from: '< now.getTime()',
    to: '<= now.getTime()',
    tests: shareTests('results/status'),
  },
  {
    file: status,
    description: 'an asynchronous share is interrupted while its claim lasts',
    from: 'Math.max(claimedUntil ?? 0, sent + startWithinMs + timeoutMs)',
    to: 'sent + startWithinMs + timeoutMs',
    tests: shareTests('results/status'),
  },
  {
    file: 'lambdas/store/items.ts',
    description: 'the tallies of all shares but the first are not found',
    from: 'share * talliesPerShare',
    to: 'share',
    tests: shareTests('results/status'),
  },
  {
    file: deliverFunction,
    description: 'deliver pushes for a later project of the same id',
    from: 'project?.createdAt !== share.projectCreatedAt',
    to: 'project === undefined',
    tests: ['test/lambdas/deliver', ...folders],
  },
];

const ofPushes: readonly Mutation[] = [
  {
    file: runningPusher,
    description: 'a push that has failed before the end counts as unreached',
    from: 'lastFailure === undefined ? unreached : failed(lastFailure)',
    to: 'unreached',
    tests: pushTests('deadlines'),
  },
  {
    file: runningPusher,
    description: 'a push that was given up is sent again',
    from: 'if (!this.#retries.delete(push)) return;',
    to: 'this.#retries.delete(push);',
    tests: pushTests('chunks'),
  },
  {
    file: runningPusher,
    description: 'pushes start after a stop',
    from: 'return this.#isStopped ? 0 : this.#options.times.lastPushAt',
    to: 'return this.#options.times.lastPushAt',
    tests: pushTests('chunks'),
  },
  {
    file: runningPusher,
    description: 'more recipients are wanted than fit in memory',
    from: '    if (this.#unsettled > shareSizes.pending) return false;\n',
    to: '',
    tests: pushTests('chunks'),
  },
  {
    file: runningPusher,
    description: 'a suspended push service is pushed to',
    from: 'if (pushService.isSuspended)',
    to: 'if (false)',
    tests: pushTests('suspension'),
  },
  {
    file: runningPusher,
    description: 'a pusher ends before its removals',
    from: 'Promise.all([this.#removals.finish(), this.#corrections.finish()])',
    to: 'this.#corrections.finish()',
    tests: pushTests('removals'),
  },
  {
    file: runningPusher,
    description: 'a pusher ends when its first claim does',
    from: 'this.#after(msLeft, () => this.#endInTime())',
    to: 'this.#after(msLeft, () => this.#end.abort())',
    tests: pushTests('deadlines'),
  },
  {
    file: removals,
    description: 'gone subscriptions wait for the last push',
    from: '        if (group.batch === batch) this.#remove(group);\n',
    to: '',
    tests: pushTests('removals'),
  },
  {
    file: removals,
    description: 'more subscriptions are removed at once than fit in a transaction',
    from: 'batch.length === shareSizes.removalBatch',
    to: 'batch.length > shareSizes.removalBatch',
    tests: pushTests('removals'),
  },
  {
    file: removals,
    description: 'removals from one part of the counter conflict',
    from: 'group.removed.then(async',
    to: 'Promise.resolve().then(async',
    tests: pushTests('removals'),
  },
  {
    file: removals,
    description: 'subscriptions are removed after the end',
    from: '        this.#end.throwIfAborted();\n',
    to: '',
    tests: pushTests('deadlines'),
  },
  {
    file: pushService,
    description: 'recipients wait for a push service that responds late',
    from: 'this.#promptShare > 0.5 && ',
    to: '',
    tests: pushTests('running-pusher'),
  },
  {
    file: pushService,
    description: 'pushes to an origin that is no longer accepted are counted once for all',
    from: 'notAccepted += pushes.length',
    to: 'notAccepted += 1',
    tests: pushTests('origins'),
  },
];

const ofStores: readonly Mutation[] = [
  {
    file: tallies,
    description: 'an invocation that lost its share takes it back',
    from: 'hasClaim ? isOwn',
    to: "hasClaim ? 'step <= :step'",
  },
  {
    file: sendWrites,
    description: 'cancel closes only the first share',
    from: 'firstTallies(division).map(',
    to: '[0].map(',
    tests: ['test/lambdas/store/sends.test.ts'],
  },
];

/** The mutations of what a send does between its request and its response. */
export const sendMutations: readonly Mutation[] = [
  {
    file: 'lambdas/send/shares-of-notification.ts',
    description: 'a repeated request counts seenWithinDays from its own time',
    from: 'seenSince(sentAt, seenWithinDays)',
    to: 'seenSince(sending.sentAt, seenWithinDays)',
    tests: ['test/lambdas/send/idempotency.test.ts'],
  },
  {
    file: 'lambdas/send/send.ts',
    description: 'conditions are not part of what an idempotency key covers',
    from: 'requestHash(idempotencyKey, { ...content, ...conditions, ...users })',
    to: 'requestHash(idempotencyKey, { ...content, ...users })',
    tests: ['test/lambdas/send/idempotency.test.ts'],
  },
  ...ofSend,
  ...ofUsers,
  ...ofRunShares,
  ...ofDivide,
  ...ofShares,
  ...ofStops,
  ...ofResults,
  ...ofPushes,
  ...ofStores,
];
