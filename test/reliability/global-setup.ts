import { randomInt } from 'node:crypto';
import setUp from '../global-setup.ts';

/** Fixed, so that every run tries the same cases and only a change of the code can fail them. */
const fixedSeed = '20261121';

/** Sets the seed of the generated cases: `SEED`, or a new one for `SEED=random`. */
export default async function setUpReliability(): Promise<void> {
  const { SEED = fixedSeed } = process.env;
  process.env.SEED = SEED === 'random' ? String(randomInt(2 ** 31)) : SEED;
  process.stderr.write(
    `Seed of the generated cases: ${process.env.SEED} (set SEED=<number> or SEED=random).\n`,
  );
  await setUp();
}
