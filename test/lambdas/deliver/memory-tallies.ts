import { noCounts } from '../../../contract/counts.ts';
import type { ShareKey, Tally, TallyStore } from '../../../lambdas/store/tallies.ts';

type StoredTally = Tally & { readonly projectId: string };

/** Tallies in memory, which behave as those in the table: test/lambdas/store/tallies.test.ts. */
export function memoryTallies(): TallyStore {
  const tallies = new Map<string, StoredTally>();
  const nameOf = (notificationId: string, tally: number) => `${notificationId}#${tally}`;
  const named = ({ notificationId, firstTally }: ShareKey) => nameOf(notificationId, firstTally);
  const read = (name: string): Tally | undefined => {
    const found = tallies.get(name);
    if (found === undefined) return undefined;
    const { projectId, ...tally } = found;
    return tally;
  };

  return {
    async save(key, { by, step, previous }, { until, ended, ...progress }) {
      const tally = tallies.get(named(key));
      const claim = tally?.claim;
      const isOwn = claim?.by === by && claim.step <= step;
      const isFree = claim?.by === previous?.by && claim?.step === previous?.step;
      if (!isOwn && (previous?.by === by || !isFree)) return read(named(key));
      const end = ended === undefined ? {} : { ended };
      tallies.set(named(key), {
        ...{ ...newTally, ...tally, ...progress, ...end },
        ...{ projectId: key.projectId, claim: { by, step, until } },
      });
      return undefined;
    },

    async open(key, number) {
      const name = nameOf(key.notificationId, number);
      tallies.set(name, { ...newTally, ...tallies.get(name), projectId: key.projectId });
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
  counts: noCounts,
  ended: undefined,
  shown: 0,
  clicked: 0,
};
