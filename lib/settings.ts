import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isExampleAddress } from '../contract/example-address.ts';
import { defaultLimits } from '../contract/limits.ts';
import { nearestName } from '../contract/schemas/fields.ts';

/** The default of the stage `dev`. Other stages must set the operator's address. */
const devVapidSubject = 'mailto:operator@example.com';

// `-c name=value` passes text. cdk.json may contain numbers and booleans.
const count = z.coerce
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'must be a whole number from 1 to 999999999')
  .transform(Number);

const stageRule =
  'must be 1 to 32 lowercase letters, digits or hyphens, starting with a letter and not ending with a hyphen';
const stage = z.string(stageRule).regex(/^[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?$/, stageRule);

const subjectRule =
  'must be an e-mail address or an https URL, without spaces and not at localhost';
const missingSubject =
  'is missing: set it to an address at which push services reach you, such as "you@your-domain.example"';
const vapidSubject = z
  .string({ error: ({ input }) => (input === undefined ? missingSubject : subjectRule) })
  .transform((text) => (/^[^:]+@/.test(text) ? `mailto:${text}` : text))
  .refine(isVapidSubject, subjectRule);

/** Lambda takes 4 KB of environment variables. The others of a function have less than the rest. */
const longestOrigins = 2000;

/** Text of `-c` and cdk.json has commas between the entries; an app has a list. */
const listed = (schema: z.ZodType<string[]>) =>
  z.preprocess(
    (given) => (Array.isArray(given) ? given.join(',') || undefined : given),
    schema.default([]),
  );

const extraPushOrigins = z
  .string('must be origins separated by commas')
  .max(longestOrigins, `must have at most ${longestOrigins} characters, which Lambda has room for`)
  .transform((text) =>
    text
      .split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ''),
  )
  .superRefine((origins, context) => {
    for (const [index, origin] of origins.entries()) {
      if (isOrigin(origin)) continue;
      context.addIssue({ code: 'custom', path: [index], message: originHint(origin) });
    }
  });

/** `none`: nobody, by choice. */
const alarmEmail = z
  .string()
  .refine(
    (text) => text === 'none' || (z.email().safeParse(text).success && !isExampleAddress(text)),
    'must be an e-mail address of yours, or "none"',
  );

/** In an app, a reference to another resource. Its value is known when it is deployed. */
const isReference = (text: string) => text.includes('${Token[');
const pattern = (regex: RegExp, message: string) =>
  z.string('must be text').refine((text) => isReference(text) || regex.test(text), message);

const alarmTopicArn = pattern(
  /^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]{1,256}$/,
  'must be the ARN of an SNS topic',
);

const runbookUrl = z
  .string('must be text')
  .refine(
    isPage,
    'must be an https address without spaces and without #, such as https://github.com/you/carillon/blob/main/docs/runbook.md',
  );

const domainName = z
  .string('must be a domain name')
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
    'must be a domain name in lower case',
  );

const certificateArn = pattern(
  /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
  'must be the ARN of a certificate of AWS Certificate Manager',
);

const hostedZoneId = pattern(/^[A-Z0-9]{1,32}$/, 'must be the id of a hosted zone of Route 53');

const publicBaseUrl = z
  .string('must be text')
  .refine(
    (text) => text.startsWith('https://') && isOrigin(text),
    'must be an https address without a path, such as https://push.example.com',
  );

const originSecretHashes = z
  .string('must be text')
  .regex(
    /^[0-9a-f]{64}(?:,[0-9a-f]{64})?$/,
    'must be a SHA-256 in hex, 64 digits of 0-9 and a-f, or two separated by a comma',
  )
  .transform((text) => text.split(','))
  .refine(
    (hashes) => !hashes.includes(createHash('sha256').digest('hex')),
    'must not contain the hash of an empty text: choose a secret and hash it again',
  );

const flag = z.coerce
  .string()
  .regex(/^(?:true|false)$/, 'must be true or false')
  .transform((text) => text === 'true');

/**
 * The operator's settings: `context` in cdk.json, or `-c name=value` on the command line. `CarillonProps` in
 * `carillon.ts` says what each is for.
 */
const settings = z.strictObject({
  /** Part of the stack's name. Destroying the stage `dev` also deletes its data. */
  stage: stage.default('prod'),
  subscriberCap: count.default(defaultLimits.subscriberCap),
  monthlySendCap: count.default(defaultLimits.monthlySendCap),
  rateLimitPerMinute: count.default(defaultLimits.rateLimitPerMinute),
  pushesPerSecond: count.default(20_000),
  vapidSubject,
  extraPushOrigins: listed(extraPushOrigins),
  preferIpv6: flag.default(false),
  console: flag.default(true),
  alarmEmail: alarmEmail.optional(),
  alarmTopicArn: alarmTopicArn.optional(),
  monthlyBudget: count.optional(),
  runbookUrl: runbookUrl.optional(),
  domainName: domainName.optional(),
  certificateArn: certificateArn.optional(),
  hostedZoneId: hostedZoneId.optional(),
  publicBaseUrl: publicBaseUrl.optional(),
  originSecretHashes: listed(originSecretHashes),
  requireOriginSecret: flag.default(false),
  accountConcurrency: count.default(1000),
  eventsPerSecond: count.default(5000),
  warmWritesPerSecond: count
    .refine((units) => units >= 4000, 'must be at least 4000, which every new table takes')
    .optional(),
});

const checkedSettings = settings
  .refine(({ stage, vapidSubject }) => stage === 'dev' || !isExampleSubject(vapidSubject), {
    path: ['vapidSubject'],
    message: 'is an example or private: write an address at which push services reach you',
  })
  .refine(
    ({ alarmEmail, alarmTopicArn }) => alarmEmail === undefined || alarmTopicArn === undefined,
    { path: ['alarmEmail'], message: 'must be removed, because alarmTopicArn is set' },
  )
  .refine(
    ({ monthlyBudget, alarmEmail = 'none' }) =>
      monthlyBudget === undefined || alarmEmail !== 'none',
    { path: ['monthlyBudget'], message: 'needs alarmEmail, the address that it notifies' },
  )
  .refine((given) => (given.domainName === undefined) === (given.certificateArn === undefined), {
    path: ['certificateArn'],
    message: 'and domainName must be set together',
  })
  .refine((given) => !given.requireOriginSecret || given.originSecretHashes.length > 0, {
    path: ['requireOriginSecret'],
    message: 'needs originSecretHashes',
  })
  .refine((given) => given.hostedZoneId === undefined || given.domainName !== undefined, {
    path: ['hostedZoneId'],
    message: 'needs domainName and certificateArn',
  });

export type Settings = Readonly<z.infer<typeof settings>>;

export const settingNames = Object.keys(settings.shape) as readonly (keyof Settings)[];

/** Invalid settings. The message has one line per mistake. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Reads the settings from the context of a CDK app. Ignores CDK's own entries.
 * @throws {SettingsError} for an unknown name, a missing setting and an invalid value.
 */
export function readSettings(context: Readonly<Record<string, unknown>>): Settings {
  const given = Object.entries(context).filter(([name]) => !isCdkEntry(name));
  const parsed = checkedSettings.safeParse({
    ...(context.stage === 'dev' && { vapidSubject: devVapidSubject }),
    ...Object.fromEntries(given),
  });
  if (parsed.success) return parsed.data;
  throw new SettingsError(
    parsed.error.issues.flatMap((issue) => describe(issue, context)).join('\n'),
  );
}

function describe(issue: z.core.$ZodIssue, context: Readonly<Record<string, unknown>>): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(describeUnknown);
  const [setting, part] = issue.path.map(String);
  // It may be the secret, by mistake.
  const value = setting === 'originSecretHashes' ? undefined : JSON.stringify(context[setting!]);
  const given = part === undefined && value !== undefined ? `; it is ${value}` : '';
  return [`setting ${setting} ${issue.message}${given}`];
}

function describeUnknown(name: string): string {
  const nearest = nearestName(name, settingNames);
  const hint =
    nearest === undefined
      ? `the settings are ${settingNames.join(', ')}`
      : `did you mean ${nearest}?`;
  return `unknown setting ${name}; ${hint}`;
}

/** Context entries of the CDK itself without `@` or a colon. */
const cdkNames = ['acknowledged-issue-numbers', 'assets-ecr-repository-name', 'cli-telemetry'];

// Feature flags start with `@`. Entries of the toolkit (`aws:cdk:…`, `aws-cdk:…`) and cached
// lookups (`availability-zones:…`) contain a colon.
function isCdkEntry(name: string): boolean {
  return name.startsWith('@') || name.includes(':') || cdkNames.includes(name);
}

/** As long as an e-mail address can be (RFC 5321 §4.5.3.1), with `mailto:`. */
const longestSubject = 261;

// Apple's push service refuses a subject that is at localhost or contains a space.
function isVapidSubject(subject: string): boolean {
  if (/[\s<>]/.test(subject) || subject.length > longestSubject) return false;
  const host = subject.startsWith('mailto:') ? mailHost(subject) : httpsHost(subject);
  return host !== undefined && !/(^|\.)localhost$/i.test(host);
}

// It runs for invalid subjects too.
function isExampleSubject(subject: string): boolean {
  return isVapidSubject(subject) && isExampleAddress(subject);
}

function mailHost(subject: string): string | undefined {
  return /^mailto:[^@]+@([^@.]+(?:\.[^@.]+)+)$/.exec(subject)?.[1];
}

function httpsHost(subject: string): string | undefined {
  return /^https:\/\//.test(subject) && URL.canParse(subject)
    ? new URL(subject).hostname
    : undefined;
}

function isPage(text: string): boolean {
  return /^https:\/\/[^\s#]+$/.test(text) && URL.canParse(text);
}

function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function originHint(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : '';
  const suggestion = isOrigin(origin) ? origin : 'an origin such as https://push.example.com';
  return `contains ${JSON.stringify(text)}, which is not an origin: write ${suggestion}`;
}
