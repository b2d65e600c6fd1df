import type { ServerResponse } from 'node:http';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as z from 'zod';

const fates = ['status', 'reset', 'stall', 'gone'] as const;

/**
 * What the push service does with a valid push instead of accepting it. Empty: it accepts, as it
 * does before anyone asks for something else.
 */
export const behaviourSchema = z
  .strictObject({
    /** Answers with this status and keeps the message from the browser. */
    status: z.int().min(200).max(599).optional(),
    /** Headers of that answer. */
    headers: z.record(z.string(), z.string()).refine(areHeaders, 'is no HTTP header').optional(),
    /** Body of that answer. */
    body: z.string().optional(),
    /** Closes the connection instead of an answer. */
    reset: z.literal(true).optional(),
    /** Never answers. */
    stall: z.literal(true).optional(),
    /** The subscription is gone: 410, for good. */
    gone: z.literal(true).optional(),
    /** Milliseconds before any of the above, or before the message is accepted. */
    delayMs: z.number().nonnegative().optional(),
    /** How many pushes are treated so before the next are accepted; all, when absent. */
    times: z.int().positive().optional(),
  })
  .refine(
    (behaviour) => fates.filter((fate) => behaviour[fate] !== undefined).length <= 1,
    `only one of ${fates.join(', ')} can be asked for`,
  )
  .refine(
    ({ status, headers, body }) => status !== undefined || (headers ?? body) === undefined,
    'headers and body belong to a status',
  );

export type Behaviour = Readonly<z.infer<typeof behaviourSchema>>;

function areHeaders(headers: Readonly<Record<string, string>>): boolean {
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return true;
  } catch {
    return false;
  }
}

/** @returns whether the connection is still there after the delay. */
export function delay(ms: number, response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const closed = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      response.off('close', closed);
      resolve(true);
    }, ms);
    response.once('close', closed);
  });
}
