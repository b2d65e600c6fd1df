import type { Mutation } from './mutation.ts';

const runningPusher = 'lambdas/push/pushing/running-pusher.ts';
const attempt = 'lambdas/push/pushing/attempt.ts';
const corrections = 'lambdas/push/pushing/corrections.ts';
const limiter = 'lambdas/push/pushing/limiter.ts';
const outcome = 'lambdas/push/pushing/outcome.ts';
const pace = 'lambdas/push/pushing/pace.ts';
const pushService = 'lambdas/push/pushing/push-service.ts';
const otherPair = 'lambdas/push/pushing/other-pair.ts';

const testOf = (name: string) => [`test/lambdas/push/pushing/${name}.test.ts`];

export const pushMutations: readonly Mutation[] = [
  {
    file: outcome,
    description: 'a subscription that is gone with 410 is kept',
    from: '    case 410:\n',
    to: '',
  },
  {
    file: outcome,
    description: 'Retry-After is taken as milliseconds',
    from: 'Number(after) * 1000',
    to: 'Number(after)',
  },
  {
    file: outcome,
    description: 'a message that WNS dropped because of its rate counts as delivered',
    from: "['dropped', 'channelthrottled']",
    to: "['dropped']",
  },
  {
    file: limiter,
    description: 'one push more than the limit is in flight',
    from: 'return this.#inFlight < this.#limit;',
    to: 'return this.#inFlight <= this.#limit;',
  },
  {
    file: limiter,
    description: 'a slow push service counts as healthy',
    from: 'succeeded && tookMs < promptMs',
    to: 'succeeded',
  },
  {
    file: limiter,
    description: 'a slow push service gets as little as a failing one',
    from: 'succeeded ? initial : minimum',
    to: 'minimum',
  },
  {
    file: limiter,
    description: 'free connections are not used for a slow push service',
    from: 'isHealthy || inFlightOverall < overall / 2',
    to: 'isHealthy',
  },
  {
    file: pace,
    description: 'a pause is made up for without a limit',
    from: 'Math.max(this.#nextAt, now - catchUpMs)',
    to: 'this.#nextAt',
  },
  {
    file: pace,
    description: 'a late timer lowers the rate',
    from: 'now - catchUpMs',
    to: 'now',
  },
  {
    file: attempt,
    description: 'a push is attempted four times',
    from: 'attempts >= maxAttempts',
    to: 'attempts > maxAttempts',
    tests: testOf('running-pusher'),
  },
  {
    file: attempt,
    description: 'Retry-After is ignored',
    from: 'Math.max(retryAfterMs, jittered)',
    to: 'jittered',
    tests: testOf('running-pusher'),
  },
  {
    file: attempt,
    description: 'a push waits for a retry that comes too late',
    from: 'delayMs < msLeft ? delayMs : undefined',
    to: 'delayMs',
    tests: testOf('running-pusher'),
  },
  {
    file: attempt,
    description: 'a push may last longer than its pusher',
    from: 'Math.min(pushTimeoutMs, endAt - clock().getTime())',
    to: 'pushTimeoutMs',
    tests: testOf('deadlines'),
  },
  {
    file: attempt,
    description: 'a push that cannot be sent counts as an internal error',
    from: "if (error instanceof UnsendableError) return { kind: 'failed', reason: 'unsendable' };",
    to: '',
  },
  {
    file: runningPusher,
    description: 'all pushes are encrypted before the first one',
    from: 'pushService.queue.first(encryptedInARow - 1)',
    to: 'pushService.queue.first(pushService.queue.length)',
    tests: testOf('origins'),
  },
  {
    file: otherPair,
    description: 'a push is repeated with the signature that was refused',
    from: '  push.headers = undefined;\n',
    to: '',
    tests: testOf('key-pairs'),
  },
  {
    file: pushService,
    description: 'a push service is suspended one response late',
    from: '>= suspendAfter',
    to: '> suspendAfter',
    tests: testOf('suspension'),
  },
  {
    file: pushService,
    description: 'a success among throttled pushes does not count for the suspension',
    from: 'this.#throttledInARow + 1 : 0',
    to: 'this.#throttledInARow + 1 : this.#throttledInARow',
    tests: testOf('suspension'),
  },
  {
    file: pushService,
    description: 'the push service with the most pushes in flight comes first',
    from: 'pushService.inFlight < next.inFlight',
    to: 'pushService.inFlight > next.inFlight',
  },
  {
    file: corrections,
    description: 'more key pairs are stored at once than intended',
    from: 'if (this.#inFlight < concurrency)',
    to: 'if (this.#inFlight < 1000)',
    tests: testOf('key-pairs'),
  },
  {
    file: corrections,
    description: 'key pairs are stored after the end',
    from: '        this.#end.throwIfAborted();\n',
    to: '',
    tests: testOf('key-pairs'),
  },
];
