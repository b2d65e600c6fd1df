import middy from '@middy/core';

/**
 * Starts the chain of a function. middy's own time-out is switched off: a few milliseconds before
 * Lambda's it would answer 500, so that Lambda counts no error, no alarm fires, and the abandoned
 * work goes on in the next invocation. After Lambda's own time-out the environment is gone, and
 * the metric `Errors` counts it.
 */
export function chain(plugin?: middy.PluginObject) {
  return middy({ ...plugin, timeoutEarlyInMillis: 0 });
}
