import * as z from 'zod/mini';
import { count } from './fields.ts';
import { projectIdSchema } from './ids.ts';

/** A cap that applies: the project's, or else the deployment's. Null: no cap. */
const cap = z.nullable(z.int().check(z.positive()));

/** A project, its caps and its usage. */
export const projectSchema = z.object({
  projectId: projectIdSchema,
  name: z.string(),
  /** The public VAPID key, base64url. */
  applicationServerKey: z.string(),
  subscribers: count,
  subscriberCap: cap,
  /** Notifications in `month`. */
  sentThisMonth: count,
  monthlySendCap: cap,
  /** The current UTC month, such as `2026-11`. */
  month: z.string().check(z.regex(/^\d{4}-\d{2}$/)),
  createdAt: z.iso.datetime(),
});
export type ProjectResult = z.infer<typeof projectSchema>;
