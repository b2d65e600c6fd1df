import type { ServerResponse } from 'node:http';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as z from 'zod';

/** The members of a behaviour that exclude each other. */
const exclusiveMembers = ['status', 'reset', 'stall', 'gone'] as const;

/**
 * What the push service does with the next valid pushes to a browser. Default, and `{}`: it accepts
 * them.
 */
export const behaviourSchema = z
  .strictObject({
    /** Responds with this status and does not deliver the message. */
    status: z.int().min(200).max(599).optional(),
    /** Headers of that response. */
    headers: z
      .record(z.string(), z.string())
      .refine(areHeaders, 'must be valid HTTP headers')
      .optional(),
    /** Body of that response. */
    body: z.string().optional(),
    /** Closes the connection without a response. */
    reset: z.literal(true).optional(),
    /** Does not respond until another behaviour is set, which then applies. */
    stall: z.literal(true).optional(),
    /** Ends the subscription: responds 410 to this and all later pushes. */
    gone: z.literal(true).optional(),
    /** Milliseconds before any of the above, or before the message is accepted. */
    delayMs: z.number().nonnegative().optional(),
    /** How many pushes the behaviour applies to. Default: all. */
    times: z.int().positive().optional(),
  })
  .refine(
    (behaviour) => exclusiveMembers.filter((name) => behaviour[name] !== undefined).length <= 1,
    `only one of ${exclusiveMembers.join(', ')} is allowed`,
  )
  .refine(
    ({ status, headers, body }) => status !== undefined || (headers ?? body) === undefined,
    'headers and body require a status',
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

/** @returns whether the connection is still open at the end of the wait; false as soon as it closes. */
export async function openAfter(
  wait: (signal: AbortSignal) => Promise<unknown>,
  response: ServerResponse,
): Promise<boolean> {
  const closing = new AbortController();
  const close = () => closing.abort();
  response.once('close', close);
  await wait(closing.signal).catch(() => {});
  response.off('close', close);
  return !closing.signal.aborted;
}
