import * as z from 'zod/mini';
import { limits } from '../limits.ts';
import { text, webUrl, webUrlTemplate, wholeNumber } from './fields.ts';

/** The optional fields of a notification that say how it is transported and shown. */

const flag = z.boolean({ error: 'must be true or false' });

const actionFields = {
  /** Tells the buttons of a notification apart. */
  action: text(1, limits.actionLength),
  title: text(1, limits.actionTitleLength),
  url: z.optional(webUrlTemplate),
  icon: z.optional(webUrl),
};

const tooManyActions = `must have at most ${limits.actions} actions`;
const actions = z
  .array(z.strictObject(actionFields, { error: 'must be an object' }), {
    error: 'must be an array of actions',
  })
  .check(
    z.maxLength(limits.actions, tooManyActions),
    z.refine(
      (list) => new Set(list.map(({ action }) => action)).size === list.length,
      'must differ from each other in "action"',
    ),
  );

/** RFC 5646 §2.1: subtags of letters and digits. Which ones are registered is not checked. */
const languageTag = z
  .string({ error: 'must be a language tag such as "en" or "pt-BR"' })
  .check(
    z.maxLength(
      limits.languageTagLength,
      `must have at most ${limits.languageTagLength} characters`,
    ),
    z.regex(
      /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/,
      'must be a language tag such as "en" or "pt-BR"',
    ),
  );

const data = z
  .record(z.string(), z.unknown(), { error: 'must be an object' })
  .check(
    z.refine(
      (value) => jsonBytes(value) <= limits.dataBytes,
      `must have at most ${limits.dataBytes} bytes as JSON`,
    ),
  );

export const sendOptions = {
  /** Headers of the push (RFC 8030 §5.2 to §5.4). */
  ttl: z.optional(wholeNumber(0, limits.messageTtl, ' of seconds')),
  urgency: z.optional(
    z.enum(['very-low', 'low', 'normal', 'high'], {
      error: 'must be "very-low", "low", "normal" or "high"',
    }),
  ),
  topic: z.optional(text(1, limits.topicLength)),
  /** Members of the notification (Notifications API). */
  tag: z.optional(text(1, limits.tagLength)),
  renotify: z.optional(flag),
  requireInteraction: z.optional(flag),
  silent: z.optional(flag),
  actions: z.optional(actions),
  lang: z.optional(languageTag),
  dir: z.optional(z.enum(['auto', 'ltr', 'rtl'], { error: 'must be "auto", "ltr" or "rtl"' })),
  timestamp: z.optional(
    z.iso.datetime({
      offset: true,
      error: 'must be a date-time with its offset, such as "2026-11-21T19:00:00Z"',
    }),
  ),
  /** For the sender's own worker and pages. */
  data: z.optional(data),
  /** Number on the icon of the site's app. */
  appBadge: z.optional(wholeNumber(0, limits.appBadge)),
  /** Whether the service worker handles the message where the browser could show it without. */
  worker: z.optional(flag),
};

/** Combinations of fields that browsers refuse, or that could not have an effect. */
export const sendCombinations = [
  z.refine<OptionsAndUrl>(({ renotify, tag }) => renotify !== true || tag !== undefined, {
    error: 'needs "tag", which names the notification to replace',
    path: ['renotify'],
  }),
  z.refine<OptionsAndUrl>(({ worker, url }) => worker !== false || url !== undefined, {
    error: 'needs "url" when it is false: without a worker, browsers open absolute URLs only',
    path: ['worker'],
  }),
] as const;

interface OptionsAndUrl {
  readonly renotify?: boolean | undefined;
  readonly tag?: string | undefined;
  readonly worker?: boolean | undefined;
  readonly url?: string | undefined;
}

/** Infinite for a value that is nested so deeply that it cannot be serialised. */
function jsonBytes(value: unknown): number {
  try {
    return new TextEncoder().encode(JSON.stringify(value)).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
