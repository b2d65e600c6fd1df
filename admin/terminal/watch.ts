import { setTimeout as pause } from 'node:timers/promises';
import { abortOnInterrupt } from './interrupt.ts';
import type { Output } from './terminal.ts';

/** Moves to the first column of the first line, and clears everything from there. */
const clear = '\x1b[H\x1b[J';

/**
 * Prints a text again and again until Ctrl-C: on a terminal in place of the one before.
 * @param wait may throw once the signal aborts.
 */
export async function watch(
  output: Output,
  intervalMs: number,
  read: () => Promise<string>,
  wait = (ms: number, signal: AbortSignal): Promise<void> => pause(ms, undefined, { signal }),
): Promise<void> {
  const { signal, stop } = abortOnInterrupt();
  try {
    while (!signal.aborted) {
      const text = await read();
      output.write(output.isTTY ? clear + text : text);
      await wait(intervalMs, signal).catch(() => {});
    }
  } finally {
    stop();
  }
}
