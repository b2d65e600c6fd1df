import { within } from './timing.ts';

/** A page or a service worker. */
interface Asked {
  postMessage(message: unknown, transfer: Transferable[]): void;
}

/** What a page asks the service worker. Another worker that sends back what it gets does not answer it. */
export const versionQuestion = 'carillon version';

/** The answer of a service worker that has Carillon's. */
export interface VersionAnswer {
  readonly version: string;
}

/**
 * Asks another part of the site, and waits for its answer.
 * @returns the answer. Undefined if none came in time, or if the question could not be sent.
 */
export function ask<Answer>(
  ms: number,
  asked: Asked,
  question: unknown,
): Promise<Partial<Answer> | undefined> {
  return within(ms, () => {
    const { port1, port2 } = new MessageChannel();
    return new Promise<Partial<Answer>>((resolve) => {
      port1.onmessage = ({ data }) => resolve(Object(data));
      asked.postMessage(question, [port2]);
    });
  }).catch(() => undefined);
}
