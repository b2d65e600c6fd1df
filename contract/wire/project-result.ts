import * as z from 'zod/mini';
import { count, object, projectIdSchema } from './fields.ts';
import {
  defaultOf,
  type ProjectSettings,
  type PublicName,
  publicNames,
  type SettingKind,
  type SettingOfKind,
  type SettingValue,
  settingOf,
} from './project.ts';
import { memberRoles } from './routes.ts';

/** A cap that applies: the project's, or else the deployment's. Null: no cap. */
const cap = z.nullable(z.int().check(z.positive()));

/** Values of `seenWithinDays` for which subscribers are counted. */
export const countedDays = ['7', '30', '90', '365'] as const;

/** Subscribers by what conditions select, and by push service. A further condition may be without a count. */
const audienceCounts = z.object({
  subscribers: count,
  /** By the value of the field. */
  seenWithinDays: z.record(z.enum(countedDays), count),
  /** By the name of the channel. */
  channels: z.record(z.string(), count),
  /** By language tag. One of `de-CH` counts for `de` too. */
  locales: z.record(z.string(), count),
  /** By the name of the push service, or an origin. One may accept messages for browsers that nobody has any more. */
  pushServices: z.record(z.string(), z.object({ subscribers: count, seenWithin30Days: count })),
});
export type AudienceCounts = z.infer<typeof audienceCounts>;

/** Query of the route. */
export const projectQuerySchema = object({
  sample: z.optional(z.literal('subscribers', { error: 'must be "subscribers"' })),
});

const schemas: {
  readonly [Kind in SettingKind]: (row: SettingOfKind<Kind>) => z.ZodMiniType;
} = {
  text: () => z.string(),
  choice: ({ choices }) => z.enum(choices),
  flag: () => z.boolean(),
  number: ({ min, max }) => z.int().check(z.gte(min), z.lte(max)),
  limit: () => cap,
  oldWorker: () => z.object({ name: z.string(), until: z.iso.datetime() }),
  origins: () => z.array(z.string()),
};

/** The settings that API and console show. */
const publicShape = Object.fromEntries(
  publicNames.map((name) => {
    const row = settingOf(name);
    const isPresent = row.isRequired || defaultOf(name) !== undefined;
    const schema = schemas[row.kind](row as never);
    return [name, isPresent ? schema : z.optional(schema)];
  }),
) as { [Name in PublicName]: PublicSchema<Name, z.ZodMiniType<SettingValue<Name>>> };
type PublicSchema<
  Name extends PublicName,
  Schema extends z.ZodMiniType,
> = undefined extends ProjectSettings[Name] ? z.ZodMiniOptional<Schema> : Schema;

/** A project, its caps and its usage. */
export const projectSchema = z.object({
  projectId: projectIdSchema,
  ...publicShape,
  /** The public VAPID key, base64url. */
  applicationServerKey: z.string(),
  subscribers: count,
  subscriberCap: cap,
  /** Notifications in `month`. */
  sentThisMonth: count,
  monthlySendCap: cap,
  /** The current UTC month, such as `2026-11`. */
  month: z.string().check(z.regex(/^\d{4}-\d{2}$/)),
  /** Requests a minute of each address, for each action that is not in `rateLimits`. */
  rateLimitPerMinute: cap,
  /** By the names of the routes: those that differ. Present only if any. */
  rateLimits: z.optional(z.record(z.string(), cap)),
  /** Whose key the request has. */
  access: z.union([
    z.object({ role: z.literal('owner') }),
    z.object({ role: z.enum(memberRoles), name: z.string() }),
  ]),
  createdAt: z.iso.datetime(),
  /** A sample of at most 1,000 subscribers. Present only on request. */
  sample: z.optional(audienceCounts),
});
export type ProjectResult = z.infer<typeof projectSchema>;

/** What most subscribers have comes first. The members of an object that look like numbers come first. */
export function byCount(counts: Readonly<Record<string, number>>): readonly [string, number][] {
  return Object.entries(counts).sort(([, one], [, other]) => other - one);
}
