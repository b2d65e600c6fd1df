import type { ShareKey, Tally, TallyStore, Writer } from '../../../lambdas/store/tallies.ts';

type StoredTally = Tally & { readonly projectId: string; readonly step: number };

/** Tallies in memory, which behave as those in the table: test/lambdas/store/tallies.test.ts. */
export function memoryTallies(): TallyStore {
  const tallies = new Map<string, StoredTally>();
  const nameOf = (notificationId: string, tally: number) => `${notificationId}#${tally}`;
  const named = ({ notificationId, firstTally }: ShareKey) => nameOf(notificationId, firstTally);
  const read = (name: string): Tally | undefined => {
    const found = tallies.get(name);
    if (found === undefined) return undefined;
    const { projectId, step, ...tally } = found;
    return tally;
  };

  /** @returns false if another invocation has the share. */
  const write = (key: ShareKey, { by, previous, step }: Writer, change: Partial<Tally>) => {
    const tally = tallies.get(named(key));
    const claimedBy = tally?.claim?.by;
    const isOwn = claimedBy === by && tally!.step <= step;
    const isFree = claimedBy === previous && previous !== by;
    if (!isOwn && !isFree) return false;
    const claim = { by, until: tally?.claim?.until ?? 0 };
    const { projectId } = key;
    tallies.set(named(key), { ...newTally, ...tally, projectId, claim, step, ...change });
    return true;
  };

  return {
    async startChunk(key, chunk) {
      const { by, until, position, pending, counts } = chunk;
      const isStarted = write(key, chunk, { claim: { by, until }, position, pending, counts });
      return isStarted ? 'started' : read(named(key))!;
    },

    async save(key, writer, { position, pending, counts, ended }) {
      const end = ended === undefined ? {} : { ended };
      return write(key, writer, { position, pending, counts, ...end });
    },

    async open(key, number) {
      const name = nameOf(key.notificationId, number);
      tallies.set(name, { ...newTally, step: 0, ...tallies.get(name), projectId: key.projectId });
    },

    async find(notificationId, numbers) {
      return numbers.map((number) => read(nameOf(notificationId, number)));
    },

    async findEach(wanted) {
      return wanted.map(({ notificationId, numbers }) =>
        numbers.map((number) => read(nameOf(notificationId, number))),
      );
    },

    async count(projectId, notificationId, number, type) {
      const name = nameOf(notificationId, number);
      const tally = tallies.get(name);
      if (tally?.projectId !== projectId) return false;
      tallies.set(name, { ...tally, [type]: tally[type] + 1 });
      return true;
    },
  };
}

const newTally: Tally = {
  claim: undefined,
  position: 0,
  pending: 0,
  counts: { attempted: 0, delivered: 0, removed: 0, failed: 0, failures: {}, unreached: 0 },
  ended: undefined,
  shown: 0,
  clicked: 0,
};
