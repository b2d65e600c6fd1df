import { eventMetrics, pushMetrics } from '../../contract/metrics.ts';
import { shareSizes } from '../../contract/share-sizes.ts';
import { shareTimeline } from '../../contract/timeline.ts';
import { divide } from '../../lambdas/send/divide.ts';
import { partCount } from '../../lambdas/store/subscription-keys.ts';
import { type ItemSizes, queryUnits, totalUnits, type Units } from './capacity.ts';
import { databaseCalls, removals } from './database-calls.ts';
import { logBytes } from './log-bytes.ts';
import { bytesPerGb, prices } from './prices.ts';

/** Assumptions of the cost model besides the prices. */
export interface Inputs {
  /** Of items that the stores have written. */
  readonly itemBytes: ItemSizes;
  /** Of the push message, as JSON. */
  readonly messageBytes: number;
  /** Of the functions, in MB. */
  readonly memory: { readonly small: number; readonly track: number; readonly send: number };
  /** Metrics of all alarms. One composite alarm comes with them. */
  readonly alarmMetrics: number;
  /** The setting `pushesPerSecond`. */
  readonly pushesPerSecond: number;
}

/** US dollars. */
export interface Cost {
  readonly what: string;
  readonly api: number;
  readonly lambda: number;
  readonly dynamodb: number;
  readonly logs: number;
  readonly transfer: number;
}

/** Seconds of a function. */
export const seconds = {
  /** Starting it, which is billed too. Assumed: 200 ms of Lambda, and `npm run bench:cold` on a slower vCPU. */
  coldStart: 0.35,
  /** A subscription: three rounds of calls to DynamoDB. */
  subscription: 0.02,
  preflight: 0.003,
  /** A round of calls to DynamoDB. */
  round: 0.005,
  /** A push with a new connection: looking up its host, TCP, TLS and the response. */
  onePush: 0.27,
  /** Measured: "A whole broadcast" in docs/performance.md. */
  thousandSubscribers: 2.2,
  /** Measured on a busy machine: "Personal messages" in docs/performance.md. */
  thousandRecipients: 3.7,
  /** Starting the functions of a broadcast and returning 202. */
  asyncSend: 0.5,
} as const;

/** Lambda gives a function this share of a vCPU. */
const vCpus = (memoryMb: number) => memoryMb / 1769;

/**
 * An event: its rounds of calls, and 2 ms of a vCPU. That is what the local stack takes on a processor of
 * docs/performance.md, busy with other work.
 */
export const eventSeconds = (memoryMb: number) =>
  seconds.round * databaseCalls.event.length + 0.002 / vCpus(memoryMb);

/** The local stack logs one of 30 to 120 events, one after the other. */
const eventsPerLine = 20;

/** Lambda logs nothing of a request that succeeds, except of a send. */
const requestLogBytes = logBytes.request + logBytes.access;
const sendLogBytes = requestLogBytes + logBytes.invocation;

/** Bytes sent to the internet. */
const sentBytes = {
  /** Of a push: its header, with the VAPID token, and what TLS and TCP add. */
  pushHeader: 750,
  /** Encryption adds these (RFC 8188 §2): see `limits.messageBytes`. */
  encryption: 103,
  /** Of a response to a browser or to the owner's server. */
  response: 400,
} as const;

/** Subscriptions that are gone at each broadcast. */
const goneRatio = 0.01;
/** A function that delivers reads the project once. */
const uncached = databaseCalls.uncachedSigningProject;

/** Rows of the table of costs. */
export function costs(inputs: Inputs): readonly Cost[] {
  const { itemBytes: sizes, memory } = inputs;
  const million = 1_000_000;
  return [
    times(million, 'a million pushes, each a send to one user id', targetedSend(inputs)),
    times(
      1000,
      'a million pushes, by broadcasts to 1,000 subscribers',
      broadcast(inputs, 1000, seconds.thousandSubscribers),
    ),
    times(1000, 'a million pushes, by sends to 1,000 recipients with values', personalSend(inputs)),
    times(1, 'a million pushes, by a broadcast to a million', asyncBroadcast(inputs, million)),
    times(million, 'a million events', event(inputs)),
    times(1000, 'a thousand new subscriptions', {
      // A preflight precedes the request.
      requests: 2,
      functions: [
        { memory: memory.small, seconds: seconds.subscription },
        { memory: memory.small, seconds: seconds.preflight },
      ],
      units: totalUnits(databaseCalls.newSubscription.flat(), sizes),
      logBytes: 2 * requestLogBytes,
      sentBytes: 2 * sentBytes.response,
    }),
    times(1000, 'a thousand cold starts of send', coldStart(memory.send)),
    times(1000, 'a thousand cold starts of track', coldStart(memory.track)),
    times(1000, 'a thousand cold starts of other functions', coldStart(memory.small)),
    storage(million, sizes),
    ...monitoring(inputs),
  ];
}

/** Of a month. */
export function monitoring({ alarmMetrics }: Inputs): readonly Cost[] {
  return [
    {
      ...free,
      what: 'a month: alarms and dashboard',
      // The dashboard has fewer than 51 metrics, and the first three of an account are free.
      logs: alarmMetrics * prices.alarmMetric + prices.compositeAlarm,
    },
    {
      ...free,
      what: 'a month with traffic in every hour: metrics',
      logs: metricCount() * prices.metric,
    },
  ];
}

/** What one request makes AWS do. */
interface Work {
  /** To API Gateway. */
  readonly requests: number;
  readonly functions: readonly { readonly memory: number; readonly seconds: number }[];
  /** Default: one of each function. */
  readonly invocations?: number;
  readonly units: Units;
  readonly logBytes: number;
  readonly sentBytes: number;
}

const free = { api: 0, lambda: 0, dynamodb: 0, logs: 0, transfer: 0 };

export function times(count: number, what: string, work: Work): Cost {
  const gbSeconds = work.functions.reduce(
    (sum, { memory, seconds }) => sum + (memory / 1024) * seconds,
    0,
  );
  const { invocations = work.functions.length } = work;
  return {
    what,
    api: count * work.requests * prices.apiRequest,
    lambda: count * (invocations * prices.lambdaRequest + gbSeconds * prices.lambdaGbSecond),
    dynamodb: count * (work.units.reads * prices.readUnit + work.units.writes * prices.writeUnit),
    logs: ((count * work.logBytes) / bytesPerGb) * prices.logGb,
    transfer: ((count * work.sentBytes) / bytesPerGb) * prices.transferGb,
  };
}

/** In addition to the invocation for which the function starts. */
export function coldStart(memory: number): Work {
  return {
    ...{ requests: 0, units: { reads: 0, writes: 0 }, logBytes: 0, sentBytes: 0 },
    invocations: 0,
    functions: [{ memory, seconds: seconds.coldStart }],
  };
}

export function targetedSend(inputs: Inputs): Work {
  const rounds = [...uncached, ...databaseCalls.targetedSend(1)];
  const duration = seconds.round * rounds.length + seconds.onePush;
  return {
    requests: 1,
    functions: [{ memory: inputs.memory.send, seconds: duration }],
    units: totalUnits(rounds.flat(), inputs.itemBytes),
    logBytes: sendLogBytes + logBytes.delivery,
    sentBytes: pushBytes(inputs) + sentBytes.response,
  };
}

/** To 1,000 recipients, each with a subscription. */
function personalSend(inputs: Inputs): Work {
  const recipients = 1000;
  const calls = [...uncached, ...databaseCalls.targetedSend(recipients)];
  return {
    requests: 1,
    functions: [{ memory: inputs.memory.send, seconds: seconds.thousandRecipients }],
    units: totalUnits(calls.flat(), inputs.itemBytes),
    logBytes: sendLogBytes + logBytes.delivery,
    sentBytes: recipients * pushBytes(inputs) + sentBytes.response,
  };
}

export function event({ itemBytes, memory }: Inputs): Work {
  return {
    requests: 1,
    functions: [{ memory: memory.track, seconds: eventSeconds(memory.track) }],
    units: totalUnits(databaseCalls.event.flat(), itemBytes),
    logBytes: logBytes.access + logBytes.events / eventsPerLine,
    sentBytes: sentBytes.response,
  };
}

function pushBytes({ messageBytes }: Inputs): number {
  return sentBytes.pushHeader + messageBytes + sentBytes.encryption;
}

/** A broadcast that the send function delivers itself. */
function broadcast(inputs: Inputs, subscribers: number, duration: number): Work {
  const { itemBytes: sizes, memory } = inputs;
  const calls = totalUnits(
    [...uncached, ...databaseCalls.broadcast(subscribers * goneRatio)].flat(),
    sizes,
  );
  // The calls have one unit for each query; larger ones cost as much as they read.
  const read = queryUnits(subscribers, sizes.Subscriptions!, true);
  return {
    requests: 1,
    functions: [{ memory: memory.send, seconds: duration }],
    units: { ...calls, reads: calls.reads - partCount + Math.max(partCount, read) },
    logBytes: sendLogBytes + logBytes.delivery,
    sentBytes: subscribers * pushBytes(inputs) + sentBytes.response,
  };
}

/** A broadcast that several functions deliver at the pace of the settings. */
export function asyncBroadcast(inputs: Inputs, subscribers: number): Work {
  const { itemBytes: sizes, memory, pushesPerSecond } = inputs;
  const { shares, talliesPerShare } = divide({ subscribers }, pushesPerSecond, true);
  const duration = subscribers / pushesPerSecond;
  const chunks = Math.ceil(duration / shareSizes.chunkSeconds);
  const saves = Math.ceil((duration * 1000) / shareTimeline.saveEveryMs);
  const talliesWritten = shares * (talliesPerShare - 1 + chunks + saves + 1);
  const { reads, writes } = totalUnits(
    [
      ...uncached.flat(),
      ...databaseCalls.beginAsync.flat(),
      ...Array(shares).fill(uncached.flat()).flat(),
      ...Array<string>(talliesWritten).fill('UpdateItem Tallies'),
      ...removals(subscribers * goneRatio),
    ],
    sizes,
  );
  const delivering = { memory: memory.send, seconds: duration };
  return {
    requests: 1,
    functions: [
      { memory: memory.send, seconds: seconds.asyncSend },
      ...Array<typeof delivering>(shares).fill(delivering),
    ],
    units: { reads: reads + queryUnits(subscribers, sizes.Subscriptions!, false), writes },
    logBytes: sendLogBytes + shares * (logBytes.invocation + logBytes.delivery),
    sentBytes: subscribers * pushBytes(inputs) + sentBytes.response,
  };
}

/** Of a month. DynamoDB adds 100 bytes to each item of a table and of an index. */
export function storage(subscriptions: number, sizes: ItemSizes): Cost {
  const bytes = sizes.Subscriptions! + 100 + sizes['Subscriptions/byUser']! + 100;
  const gb = (subscriptions * bytes) / bytesPerGb;
  const what = 'a month: a million stored subscriptions';
  return { ...free, what, dynamodb: gb * (prices.tableGb + prices.recoveryGb) };
}

/** Metrics that CloudWatch charges for: those of pushes and events, and API Gateway's six of send. */
function metricCount(): number {
  const ofSend = 6;
  return Object.keys(pushMetrics).length + Object.keys(eventMetrics).length + ofSend;
}
