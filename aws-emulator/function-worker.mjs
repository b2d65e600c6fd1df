/**
 * Runs in a worker thread: one Lambda execution environment. It loads the bundle and then handles
 * one request at a time. It is plain JavaScript, so that the bundle runs without a TypeScript loader,
 * as in Lambda.
 *
 * In: { event, context, frozenMs, deadlineMs }: the event as JSON; the ms for which functions were
 *     frozen so far; the deadline in ms since the epoch, by the function's wall clock.
 * Out: { type: 'ready' }, { type: 'log', stream, text },
 *      { type: 'result', payload } or { type: 'error', errorType, message, stack }.
 */
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

// Through the same port as the results, so that a request's log lines arrive before its result.
for (const stream of ['stdout', 'stderr']) {
  process[stream].write = (chunk, encoding, callback) => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    parentPort.postMessage({ type: 'log', stream, text });
    const done = typeof encoding === 'function' ? encoding : callback;
    if (done) process.nextTick(done);
    return true;
  };
}

// A frozen environment's wall clock is ahead after the pause; its timers are not.
let aheadMs = 0;
const systemClock = Date.now;
Date.now = () => systemClock() + aheadMs;
globalThis.Date = new Proxy(Date, {
  construct: (date, values, target) =>
    Reflect.construct(date, values.length === 0 ? [date.now()] : values, target),
});

const randomHex = (bytes) => randomBytes(bytes).toString('hex');

const { file, exportName } = workerData;
// As Lambda's runtime does. An import of CommonJS would also look for the exports in its text: 40 ms of CPU time.
const require = createRequire(import.meta.url);
const bundle = file.endsWith('.mjs') ? await import(pathToFileURL(file).href) : require(file);
const handler = bundle[exportName];
if (typeof handler !== 'function')
  throw new Error(`${file} does not export a function "${exportName}".`);

parentPort.on('message', async ({ event, context, frozenMs, deadlineMs }) => {
  aheadMs = frozenMs;
  // Lambda sets it without tracing too, and the functions' logger writes it into each line.
  process.env._X_AMZN_TRACE_ID = `Root=1-${randomHex(4)}-${randomHex(12)};Parent=${randomHex(8)};Sampled=0`;
  try {
    const result = await handler(JSON.parse(event), {
      ...context,
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => deadlineMs - Date.now(),
    });
    parentPort.postMessage({ type: 'result', payload: JSON.stringify(result) ?? 'null' });
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    parentPort.postMessage({ type: 'error', errorType: name, message, stack });
  }
});
parentPort.postMessage({ type: 'ready' });
