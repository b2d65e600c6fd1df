import * as z from 'zod/mini';
import { type TableVariable, tableVariables } from './tables.ts';

const text = z.string({ error: 'is not set' });
const name = text.check(z.minLength(1, 'is empty'));
const wholeNumber = 'must be a whole number above 0';
const count = z.coerce
  .number({ error: wholeNumber })
  .check(z.int(wholeNumber), z.positive(wholeNumber));

const aboveZero = 'must be a number above 0';
const rate = z.coerce.number({ error: aboveZero }).check(z.positive(aboveZero));

const flag = z.pipe(
  z.enum(['true', 'false'], { error: 'must be true or false' }),
  z.transform((text) => text === 'true'),
);

const tables = Object.fromEntries(
  Object.values(tableVariables).map((variable) => [variable, name]),
) as Record<TableVariable, typeof name>;

/** Environment variables that the stack sets and the functions read. */
const variables = z.object({
  ...tables,
  DELIVER_FUNCTION: name,
  SUBSCRIBER_CAP: count,
  MONTHLY_SEND_CAP: count,
  RATE_LIMIT_PER_MINUTE: count,
  /** Days for which a notification is kept. */
  NOTIFICATION_DAYS: count,
  /** Days to which tables can be restored. No function reads it, and the local stack has no recovery. */
  RECOVERY_DAYS: z._default(count, 35),
  PUSHES_PER_SECOND: rate,
  VAPID_SUBJECT: name,
  /** Origins, separated by commas; may be empty. */
  EXTRA_PUSH_ORIGINS: z.pipe(
    text,
    z.transform((origins) => origins.split(',').filter(Boolean)),
  ),
  /** Address of the service for callers, without a trailing slash. */
  PUBLIC_BASE_URL: name,
  /** SHA-256 in hex of the secrets that a proxy in front of the API sends, separated by commas; may be empty. */
  ORIGIN_SECRET_HASHES: z.pipe(
    text.check(
      z.regex(/^(?:[0-9a-f]{64}(?:,[0-9a-f]{64})*)?$/, 'must be SHA-256 in hex, or empty'),
    ),
    z.transform((hashes) => hashes.split(',').filter(Boolean)),
  ),
  REQUIRE_ORIGIN_SECRET: flag,
  PREFER_IPV6: flag,
});

export type Environment = z.infer<typeof variables>;

export type EnvironmentName = keyof Environment;

/**
 * The variables that have the operator's settings, for the operator's command. The stack's output `Settings` is a
 * JSON object of them.
 */
export const settingNames = [
  'SUBSCRIBER_CAP',
  'MONTHLY_SEND_CAP',
  'RATE_LIMIT_PER_MINUTE',
  'NOTIFICATION_DAYS',
  'RECOVERY_DAYS',
  'VAPID_SUBJECT',
  'EXTRA_PUSH_ORIGINS',
] as const;

export type DeployedSettings = Pick<Environment, (typeof settingNames)[number]>;

/**
 * Reads the variables that a function needs, and no others.
 * @throws {Error} naming every variable that is missing or invalid. The function then fails when it
 *   starts, and not at its first request.
 */
export function readEnvironment<const Name extends EnvironmentName>(
  names: readonly Name[],
  source: Readonly<Record<string, string | undefined>>,
): Pick<Environment, Name> {
  const wanted = Object.fromEntries(names.map((wantedName) => [wantedName, true as const]));
  const parsed = z.pick(variables, wanted as Record<EnvironmentName, true>).safeParse(source);
  if (!parsed.success) {
    const wrong = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    throw new Error(`The function's environment is incomplete. ${wrong.join('; ')}`);
  }
  return parsed.data as Pick<Environment, Name>;
}
