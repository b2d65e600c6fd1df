import { breaking } from './breakable.ts';
import { exploreRuns, useShortTimes } from './lease-runs.ts';

jest.mock('../../lambdas/push/crypto/encryption.ts', () => ({
  encryption: () => () => Buffer.alloc(0),
  topicHeader: () => () => '',
}));
jest.mock('../../lambdas/deliver/lease.ts', () =>
  require('./breakable.ts').breakable('lambdas/deliver/lease.ts'),
);
jest.mock('../../lambdas/deliver/progress.ts', () =>
  require('./breakable.ts').breakable('lambdas/deliver/progress.ts'),
);
jest.mock('../../lambdas/store/slices.ts', () =>
  require('./breakable.ts').breakable('lambdas/store/slices.ts'),
);
jest.mock('../../lambdas/push/pushing/push-service.ts', () =>
  require('./breakable.ts').breakable('lambdas/push/pushing/push-service.ts'),
);
jest.mock('../../lambdas/deliver/deliver-slice.ts', () =>
  require('./breakable.ts').breakable('lambdas/deliver/deliver-slice.ts'),
);

const [lease, progress, store, delivery, queue] = [
  'lambdas/deliver/lease.ts',
  'lambdas/deliver/progress.ts',
  'lambdas/store/slices.ts',
  'lambdas/deliver/deliver-slice.ts',
  'lambdas/push/pushing/push-service.ts',
] as const;

beforeAll(useShortTimes);

test('whatever becomes of one write: nobody is pushed to twice, and everyone is counted once', async () => {
  expect((await exploreRuns(1)).fault).toBeUndefined();
});

// test/reliability/lease-exploration.test.ts has those of two writes.
test.each<[fault: string, path: string, text: string, replacement: string]>([
  ['a late write may be older than the last', store, ' AND leaseWrite < :write', ''],
  [
    'a write need not know the last one',
    store,
    '(leasedBy = :knownBy AND leaseWrite = :knownWrite)',
    'attribute_exists(leasedBy)',
  ],
  [
    'a write knows only the number of the last one',
    store,
    'leasedBy = :knownBy AND leaseWrite',
    'leaseWrite',
  ],
  ['what is settled counts twice', lease, 'this.#claimed = progress;', 'this.#claimed = written;'],
  [
    'a chunk counts twice',
    progress,
    'claimed: claimed + recipients.length + unread,',
    'claimed: claimed + 2 * recipients.length + unread,',
  ],
  [
    'a chunk that is behind counts twice',
    progress,
    'claimed: claimed + recipients.length };',
    'claimed: claimed + 2 * recipients.length };',
  ],
  [
    'the end has no counts',
    lease,
    'counts: addCounts(progress.counts, this.#settled),',
    'counts: end ? progress.counts : addCounts(progress.counts, this.#settled),',
  ],
  [
    'a call without a response counts as stored',
    lease,
    '      signal,\n    );\n    // It was given up: its caller repeats it, or a later one says more.\n    if (signal.aborted || id.n',
    '      signal,\n    ).catch(() => undefined);\n    if (id.n',
  ],
  ['a response counts that comes after its try', lease, 'signal.aborted || id.n', 'id.n'],
  ['nobody is left for the next attempt', queue, 'push.number > this.#furthest', 'push.number < 0'],
  [
    'a chunk whose claim is refused is pushed to',
    delivery,
    "if (lease.status !== 'mine') return undefined;\n    lease.pusher",
    'lease.pusher',
  ],
  ['nobody is behind', progress, 'left[name] = {', 'left.nobody = {'],
  ['who is behind is still claimed', progress, 'claimed: claimed - given', 'claimed'],
  [
    'who is behind is lost at the end',
    progress,
    'unreached: given + passed }',
    'unreached: given }',
  ],
  [
    'a cursor does not move',
    progress,
    '{ cursor: keyAt(to), passed',
    '{ cursor: left.cursor, passed',
  ],
  ['who is not claimed yet is forgotten', progress, 'left.passed - own.length) }', '0) }'],
  [
    'another class is read again',
    progress,
    'left !== undefined && Buffer',
    'left === undefined || Buffer',
  ],
  [
    'a stop is not known',
    lease,
    "this.status = 'stopped';\n      this.stored",
    "this.status = 'mine';\n      this.stored",
  ],
  ['a lost slice is written', lease, "if (this.status === 'lost') return 'lost';", ''],
  [
    'who has lost the slice goes on',
    lease,
    "this.status = 'lost';\n      this.stored",
    "this.status = 'mine';\n      this.stored",
  ],
  ['nobody has claimed', lease, 'if (!end) this.#claimed = progress;', ''],
])('it is found if %s', async (_, path, text, replacement) => {
  const { fault } = await breaking(path, [text, replacement], () => exploreRuns(1));
  expect(fault).toBeDefined();
});
