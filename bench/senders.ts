import { newVapidPair } from '../admin/vapid-pair.ts';
import { certificate } from './certificate.ts';
import { bundle, startChild } from './processes.ts';
import type { Latency, PushServerCounts } from './push-server.ts';
import {
  describeLatency,
  latencyOption,
  measurement,
  median,
  progress,
  runMeasurement,
  wholeNumber,
} from './runner.ts';
import type { SenderResult, SenderTask } from './sender-process.ts';

const senders = [
  { sender: 'Carillon', entry: 'bench/senders/carillon.ts', cachesToken: false },
  {
    sender: 'web-push, keep-alive agent',
    entry: 'bench/senders/web-push.ts',
    cachesToken: false,
  },
  { sender: 'the same, one VAPID token', entry: 'bench/senders/web-push.ts', cachesToken: true },
];

interface Load extends Pick<SenderTask, 'pushes' | 'warmUpPushes' | 'inFlight' | 'rounds'> {
  readonly latency: Latency;
}

/** One run of a sender. */
interface Run extends SenderResult {
  readonly pushesPerSecond: number;
}

interface Options {
  readonly number: number;
  readonly inFlight: number;
  readonly latency: Latency;
  readonly runs: number;
}

const command = measurement('bench', 'Compares the push rates of Carillon and web-push.')
  .option('--number <N>', 'pushes per run', wholeNumber, 10_000)
  .option('--in-flight <N>', 'pushes in flight, at most 480', wholeNumber, 100)
  .option(...latencyOption('0'))
  .option('--runs <N>', 'runs of each sender, in turn', wholeNumber, 5);
await runMeasurement(command, measure);

async function measure({ number, inFlight, latency, runs }: Options) {
  const load: Load = {
    pushes: number,
    // V8 has optimized the code after some thousands of pushes.
    warmUpPushes: 4000,
    inFlight,
    // A round takes about a second, so that a disturbance slows pushes and key agreements alike. Each ends
    // with a wait for its last responses.
    rounds: latency.medianMs === 0 ? 5 : 1,
    latency,
  };
  const turns: (readonly Run[])[] = [];
  for (let turn = 1; turn <= runs; turn += 1) {
    progress(`Run ${turn} of ${runs}`);
    // In turn, so that a disturbance of the machine affects all of them.
    const ofTurn: Run[] = [];
    for (const sender of senders) ofTurn.push(await runSender(sender, load));
    turns.push(ofTurn);
  }
  const results = senders.map(({ sender }, index) => ({ sender, ...resultsOf(turns, index) }));
  const floor = {
    cpuUsPerPush: median(turns.map(([carillon]) => carillon!.floorUsPerPush)),
    cpuTimesWebPush: median(
      turns.map(([carillon, webPush]) => webPush!.cpuUsPerPush / carillon!.floorUsPerPush),
    ),
  };
  return {
    json: { load, runs, senders: results, floor },
    about:
      `${number} pushes of 300 bytes, ${inFlight} in flight, push server latency ` +
      `${describeLatency(latency)}; median of ${runs} runs`,
    table: [...results, { sender: 'floor with a key pair per message', ...floor }],
  };
}

/** Medians. Ratios compare runs of the same turn. */
function resultsOf(turns: readonly (readonly Run[])[], index: number) {
  const medianOf = (figure: (run: Run, webPush: Run) => number) =>
    median(turns.map((turn) => figure(turn[index]!, turn[1]!)));
  return {
    pushesPerSecond: medianOf((run) => run.pushesPerSecond),
    cpuUsPerPush: medianOf((run) => run.cpuUsPerPush),
    /** Pushes per CPU second, relative to web-push. */
    cpuTimesWebPush: medianOf((run, webPush) => webPush.cpuUsPerPush / run.cpuUsPerPush),
    /** Pushes per second, relative to web-push. */
    rateTimesWebPush: medianOf((run, webPush) => run.pushesPerSecond / webPush.pushesPerSecond),
    /** The floor's part of this sender's CPU time, measured in the same process. */
    floorShare: medianOf((run) => run.floorUsPerPush / run.cpuUsPerPush),
    peakMemoryMB: medianOf((run) => run.peakMemoryMB),
  };
}

/** Runs a sender in a new process against a new push server, and checks the received pushes. */
async function runSender(
  { entry, cachesToken }: (typeof senders)[number],
  { latency, ...load }: Load,
): Promise<Run> {
  const pushServer = startChild(await bundle('bench/push-server.ts'), latency);
  const { port } = await pushServer.receive<{ port: number }>();
  const task: SenderTask = {
    origin: `https://127.0.0.1:${port}`,
    ca: certificate.cert,
    vapid: newVapidPair(),
    // A typical push message.
    payload: JSON.stringify({ title: 'Hello', body: 'x'.repeat(300 - 29) }),
    cachesToken,
    ...load,
  };
  const sender = startChild(await bundle(entry), task);
  try {
    const result = await sender.receive<SenderResult>();
    pushServer.send({});
    const { accepted, refused } = await pushServer.receive<PushServerCounts>();
    const expected = load.warmUpPushes + load.pushes;
    if (refused > 0 || accepted !== expected) {
      throw new Error(
        `${entry}: the push server accepted ${accepted} of ${expected} pushes and refused ${refused}.`,
      );
    }
    return { ...result, pushesPerSecond: load.pushes / result.seconds };
  } finally {
    await Promise.all([pushServer.stop(), sender.stop()]);
  }
}
