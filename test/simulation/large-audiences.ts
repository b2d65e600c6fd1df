import { parseArgs } from 'node:util';
import { sendTimeline } from '../../contract/infrastructure/delivery.ts';
import { inFlight } from '../../lambdas/push/pushing/push-service.ts';
import { divide, paceOf, slicesOf } from '../../lambdas/send/divide.ts';
import { partitionCount, positionCount } from '../../lambdas/store/items.ts';
import { seconds } from '../fixtures/cost-model.ts';

/** What the calculation takes from measurements and from AWS's documents. */
const model = {
  /** Seconds of a vCPU for a push: measured, `npm run bench` on 2 × Xeon 2.5 GHz. */
  pushCpu: 370e-6,
  /** Mean seconds until a push service responds: assumed, as in `npm run bench:broadcast`. */
  pushLatency: 0.09,
  /** Seconds of a vCPU to read a recipient: measured, 5 % of a broadcast (docs/performance.md). */
  readCpu: 12e-6,
  /** Bytes of a subscription: keys 65 + 16, hash 32, origin and path about 180, names and times. */
  itemBytes: 330,
  /** A page of a Query has at most 1 MB. Its mean seconds are assumed. */
  pageBytes: 2 ** 20,
  pageSeconds: 0.084,
  /** Seconds from an invocation until Lambda starts the function: assumed. */
  queueSeconds: 0.05,
  /** Bytes of a read unit: DynamoDB. An eventually consistent read takes half of it. */
  unitBytes: 4096,
} as const;

const audiences = [1000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 5_000_000];

/** A send to a large audience. Every function is cold, and all slices take the same time. */
function calculated(subscribers: number, respondsAsync: boolean, setting: number) {
  const audience = { subscribers };
  const pace = paceOf(audience, setting, respondsAsync);
  const slices = slicesOf({} as never, audience, divide(audience, pace, respondsAsync), pace);
  const { from, to, step, consistent, pushesPerSecond } = slices[0]!;
  const chunks = Math.ceil((to - from) / step);
  const chunk = subscribers / slices.length / chunks;
  const pushRate = Math.min(
    ...[pushesPerSecond, 1 / model.pushCpu, inFlight.overall / model.pushLatency],
  );
  // A chunk's parts are read at the same time, each page by page.
  const parts = Math.max(1, (partitionCount * (to - from)) / chunks / positionCount);
  const pages = Math.ceil((chunk / parts) * (model.itemBytes / model.pageBytes));
  const readSeconds = pages * model.pageSeconds + chunk * model.readCpu;
  const chunkSeconds = readSeconds + seconds.round + chunk / pushRate;
  const isHandedOver = respondsAsync || slices.length > 1;
  const startSeconds =
    seconds.coldStart + (isHandedOver ? model.queueSeconds + seconds.coldStart : 0);
  const wholeSeconds = startSeconds + chunks * chunkSeconds;
  const endSeconds = respondsAsync
    ? wholeSeconds
    : Math.min(wholeSeconds, sendTimeline.lastPushMs / 1000);
  const reached = (endSeconds - startSeconds) / (wholeSeconds - startSeconds);
  const inFirstChunks = chunk * slices.length;
  const units = (inFirstChunks / partitionCount) * (model.itemBytes / model.unitBytes);
  return {
    functions: slices.length + (respondsAsync ? 1 : 0),
    seconds: endSeconds + model.pushLatency,
    unreached: Math.round(subscribers * (1 - reached)),
    readUnits: Math.round(consistent ? units : units / 2),
  };
}

const { values } = parseArgs({ options: { pace: { type: 'string', default: '20000' } } });
console.log('| Subscribers | Mode | Functions | Seconds | Unreached | Reads/s |');
console.log('|---|---|---|---|---|---|');
for (const subscribers of audiences) {
  for (const mode of ['sync', 'async']) {
    const result = calculated(subscribers, mode === 'async', Number(values.pace));
    const { functions, seconds, unreached, readUnits } = result;
    const cells = [subscribers, mode, functions, seconds.toFixed(1), unreached, readUnits];
    console.log(`| ${cells.map((cell) => cell.toLocaleString('en-US')).join(' | ')} |`);
  }
}
