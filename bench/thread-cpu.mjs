/**
 * Preloaded into the process of a local stack: writes the CPU time of each invocation of a function to a file. A function
 * runs in a worker thread, so that its time is that of its thread, without gateway, database and push server. Linux only.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const { isMainThread, parentPort, Worker } = threads;

if (isMainThread) {
  threads.Worker = class extends Worker {
    constructor(file, options) {
      const execArgv = ['--import', import.meta.url];
      const env = { ...options.env, CPU_FILE: process.env.CPU_FILE };
      super(file, { ...options, execArgv, env });
    }
  };
  syncBuiltinESMExports();
} else if (process.env.CPU_FILE !== undefined) {
  const { postMessage } = parentPort;
  let before = 0;
  parentPort.postMessage = function (message, ...others) {
    if (message.type === 'ready' || message.type === 'result') {
      // The first number is the time in nanoseconds (Linux, sched-stats.txt).
      const cpuNs = Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]);
      const line = { type: message.type, ms: (cpuNs - before) / 1e6 };
      appendFileSync(process.env.CPU_FILE, `${JSON.stringify(line)}\n`);
      before = cpuNs;
    }
    return postMessage.call(this, message, ...others);
  };
}
