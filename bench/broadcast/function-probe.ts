/**
 * Loaded into the thread of a function ahead of its bundle: profiles it and watches its memory
 * from `start` to `stop`, both said on a broadcast channel.
 */
import { type Profiler, Session } from 'node:inspector';
import { BroadcastChannel } from 'node:worker_threads';
import { type ProbeCommand, type ProbeReport, probeChannel } from './probe-messages.ts';

const channel = new BroadcastChannel(probeChannel);
channel.unref();
const session = new Session();
session.connect();
session.post('Profiler.enable');
// µs. Finer than the usual 1,000, since a broadcast to a thousand is over in a fraction of a second.
session.post('Profiler.setSamplingInterval', { interval: 500 });

let peakHeap = 0;
let sampling: NodeJS.Timeout | undefined;

function sample(): void {
  const { heapUsed, external } = process.memoryUsage();
  peakHeap = Math.max(peakHeap, heapUsed + external);
}

channel.onmessage = (message) => {
  const { data } = message as { data: ProbeCommand };
  if (data === 'start') {
    peakHeap = 0;
    sampling = setInterval(sample, 20).unref();
    session.post('Profiler.start', () => channel.postMessage('started'));
  } else if (data === 'stop') {
    clearInterval(sampling);
    session.post('Profiler.stop', (error: Error | null, { profile }: Profiler.StopReturnType) => {
      if (error) throw error;
      const report: ProbeReport = { profile, peakHeap };
      channel.postMessage(report);
    });
  }
};
