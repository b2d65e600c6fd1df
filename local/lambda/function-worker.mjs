/**
 * Runs inside a worker thread: one Lambda execution environment. It loads the bundle, then takes
 * one request at a time. Plain JavaScript, so that the thread needs no loader for TypeScript and
 * the bundle meets the Node that Lambda would give it.
 *
 * In: { event, context, deadline }, with the event as JSON and the deadline in ms since the epoch.
 * Out: { type: 'ready' }, { type: 'log', stream, text },
 *      { type: 'result', payload } or { type: 'error', errorType, message }.
 */
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

// By the same port as the results, so that a request's lines arrive before its answer.
for (const stream of ['stdout', 'stderr']) {
  process[stream].write = (chunk, encoding, callback) => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    parentPort.postMessage({ type: 'log', stream, text });
    const done = typeof encoding === 'function' ? encoding : callback;
    if (done) process.nextTick(done);
    return true;
  };
}

const { file, exportName } = workerData;
const handler = (await import(pathToFileURL(file).href))[exportName];
if (typeof handler !== 'function') throw new Error(`${file} exports no function "${exportName}".`);

parentPort.on('message', async ({ event, context, deadline }) => {
  try {
    const result = await handler(JSON.parse(event), {
      ...context,
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => deadline - Date.now(),
    });
    parentPort.postMessage({ type: 'result', payload: JSON.stringify(result) ?? 'null' });
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    console.error(stack);
    parentPort.postMessage({ type: 'error', errorType: name, message });
  }
});
parentPort.postMessage({ type: 'ready' });
