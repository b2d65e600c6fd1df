const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Lets a command remove what it has made when it is interrupted. The second interruption ends it at once.
 * @returns `stop`, after which an interruption ends the command at once again.
 */
export function abortOnInterrupt(): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const abort = () => {
    stop();
    controller.abort();
  };
  const stop = () => {
    for (const name of signals) process.off(name, abort);
  };
  for (const name of signals) process.once(name, abort);
  return { signal: controller.signal, stop };
}
