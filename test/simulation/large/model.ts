import { seconds } from '../../../bench/costs/cost-model.ts';

/** A number of the model, and where it comes from. */
export interface ModelNumber {
  readonly value: number;
  readonly unit: string;
  readonly source: string;
}

/** What the large simulation takes from measurements and from AWS's documents. */
export const model = {
  cpuPerPush: {
    value: 370,
    unit: 'µs of one vCPU',
    source: 'measured: whole delivery on 2 × Xeon 2.5 GHz, npm run bench',
  },
  cpuPerRecipientRead: {
    value: 12,
    unit: 'µs of one vCPU',
    source: 'measured: 5 % of a whole broadcast is reading, docs/performance.md',
  },
  cpuPerQuery: {
    value: 1000,
    unit: 'µs of one vCPU',
    source: 'measured: one Query through the SDK',
  },
  pushLatency: {
    value: 90,
    unit: 'ms, mean',
    source: 'assumed: 60 ms, 99 % within 400 ms, as in npm run bench:broadcast',
  },
  inFlight: {
    value: 480,
    unit: 'pushes at once per function',
    source: 'lambdas/push/pushing/push-service.ts',
  },
  goneShare: {
    value: 0.01,
    unit: 'of the subscriptions',
    source: 'assumed, as in npm run bench:broadcast',
  },
  itemBytes: {
    value: 330,
    unit: 'bytes of a subscription',
    source: 'keys 65 + 16, hash 32, origin and path about 180, names and times',
  },
  callLatency: {
    value: 5,
    unit: 'ms for a call to DynamoDB, half of them',
    source: 'assumed; long tail to 100 ms',
  },
  pageLatency: {
    value: 45,
    unit: 'ms for a page of 1 MB of a Query, half of them',
    source: 'assumed; long tail to 500 ms',
  },
  pageBytes: {
    value: 2 ** 20,
    unit: 'bytes of a page',
    source: 'DynamoDB, Query',
  },
  partitionReadUnits: {
    value: 3000,
    unit: 'read units per second and partition',
    source: 'DynamoDB, partitions; bursts are left out',
  },
  partitionWriteUnits: {
    value: 1000,
    unit: 'write units per second and partition, or item',
    source: 'DynamoDB, partitions; bursts are left out',
  },
  invokeLatency: {
    value: 15,
    unit: 'ms for an invocation, half of them',
    source: 'assumed; long tail to 300 ms',
  },
  coldStart: {
    value: 1000 * seconds.coldStart,
    unit: 'ms, half of them; every function is cold',
    source: 'assumed: bench/costs/cost-model.ts',
  },
  newEnvironments: {
    value: 1000,
    unit: 'per function and 10 s',
    source: 'Lambda, scaling behaviour',
  },
  gigabyteSecond: {
    value: 0.0000133334,
    unit: 'dollars, Arm, us-east-1',
    source: 'AWS Lambda pricing',
  },
  memory: { value: 1.769, unit: 'GB per function: one vCPU', source: 'lib/deliver-function.ts' },
  readUnit: { value: 0.125e-6, unit: 'dollars, on demand', source: 'Amazon DynamoDB pricing' },
  writeUnit: { value: 0.625e-6, unit: 'dollars, on demand', source: 'Amazon DynamoDB pricing' },
} as const satisfies Readonly<Record<string, ModelNumber>>;
