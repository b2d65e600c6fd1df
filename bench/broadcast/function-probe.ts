/**
 * Profiles a function and samples its memory between the commands `start` and `stop` of a broadcast
 * channel. Loaded into the function's thread before its bundle.
 */
import { type Profiler, Session } from 'node:inspector';
import { BroadcastChannel } from 'node:worker_threads';
import { type ProbeCommand, type ProbeReport, probeChannel } from './probe-messages.ts';

const channel = new BroadcastChannel(probeChannel);
channel.unref();
const session = new Session();
session.connect();
session.post('Profiler.enable');
// In µs. V8's default is 1,000, which is coarse for a broadcast of a fraction of a second.
session.post('Profiler.setSamplingInterval', { interval: 500 });

const memorySamplingMs = 20;
let peakHeapBytes = 0;
let sampling: NodeJS.Timeout | undefined;

function sample(): void {
  const { heapUsed, external } = process.memoryUsage();
  peakHeapBytes = Math.max(peakHeapBytes, heapUsed + external);
}

channel.onmessage = (message) => {
  const { data } = message as { data: ProbeCommand };
  if (data === 'start') {
    peakHeapBytes = 0;
    sampling = setInterval(sample, memorySamplingMs).unref();
    session.post('Profiler.start', () => channel.postMessage('started'));
  } else if (data === 'stop') {
    clearInterval(sampling);
    session.post('Profiler.stop', (error: Error | null, { profile }: Profiler.StopReturnType) => {
      if (error) throw error;
      const report: ProbeReport = { profile, peakHeapBytes };
      channel.postMessage(report);
    });
  }
};
