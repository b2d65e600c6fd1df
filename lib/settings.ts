import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { isExampleAddress } from '../contract/text/addresses.ts';
import { nearestName } from '../contract/wire/fields.ts';
import { defaultLimits, limits } from '../contract/wire/limits.ts';

/** The default of the stage `dev`. Other stages must set the operator's address. */
const devVapidSubject = 'mailto:operator@example.com';

/**
 * In an app, a reference to another resource, whose value is known when it is deployed; or what the CDK puts in place of
 * a value that it looks up after a first synthesis.
 */
const isReference = (text: string) => /\$\{Token\[|dummy-value-for-/.test(text);
/** Such a reference, as the CDK encodes it in a number. */
const isNumberReference = (text: string | number) => Number(text) < -1e280;

const countRule = 'must be a whole number from 1 to 999999999';
const isCount = (text: string) => /^[1-9]\d{0,8}$/.test(text);
// `-c name=value` passes text. cdk.json may contain numbers and booleans.
const count = z.coerce
  .string()
  .refine((text) => isCount(text) || isNumberReference(text), countRule)
  .transform(Number);
/** A count that the template is calculated with. @param rule says which are valid. */
const knownCountOf = (isValid: (given: number) => boolean, rule: string) =>
  z.coerce
    .string()
    .refine((text) => !isNumberReference(text), 'must be a number, not a reference to a resource')
    .refine((text) => isCount(text) && isValid(Number(text)), rule)
    .transform(Number);
const knownCount = knownCountOf(() => true, countRule);
const days = (most: number) =>
  knownCountOf((given) => given <= most, `must be a whole number from 1 to ${most}`);

/** The periods that CloudWatch Logs has (PutRetentionPolicy), in days. */
const logPeriods = [
  ...[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731],
  ...[1096, 1827, 2192, 2557, 2922, 3288, 3653],
];
const logDays = knownCountOf(
  (given) => logPeriods.includes(given),
  `must be a period of CloudWatch: ${logPeriods.join(', ')}`,
);

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
  .refine((text) => isReference(text) || isVapidSubject(text), subjectRule);

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
      if (isReference(origin) || isOrigin(origin)) continue;
      context.addIssue({ code: 'custom', path: [index], message: originHint(origin) });
    }
  });

/** `none`: nobody, by choice. */
const alarmEmail = z
  .string()
  .refine(
    (text) =>
      text === 'none' ||
      isReference(text) ||
      (z.email().safeParse(text).success && !isExampleAddress(text)),
    'must be an e-mail address of yours, or "none"',
  );

/** A text, or a reference to one. */
const text = (isValid: (text: string) => boolean, message: string) =>
  z.string('must be text').refine((given) => isReference(given) || isValid(given), message);
const pattern = (regex: RegExp, message: string) => text((given) => regex.test(given), message);

const alarmTopicArn = pattern(
  /^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]{1,256}$/,
  'must be the ARN of an SNS topic',
);

const runbookUrl = text(
  isPage,
  'must be an https address without spaces and without #, such as https://github.com/you/carillon/blob/main/docs/runbook.md',
);

const domainName = pattern(
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
  'must be a domain name in lower case',
);

const certificateArn = pattern(
  /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
  'must be the ARN of a certificate of AWS Certificate Manager',
);

const encryptionKeyArn = pattern(
  /^arn:aws[\w-]*:kms:[\w-]+:\d{12}:key\/[\w-]+$/,
  'must be the ARN of a key of AWS KMS, not of an alias',
);

const hostedZoneId = pattern(/^[A-Z0-9]{1,32}$/, 'must be the id of a hosted zone of Route 53');

const publicBaseUrl = text(
  (url) => url.startsWith('https://') && isOrigin(url),
  'must be an https address without a path, such as https://push.example.com',
);

const originSecretHashes = z
  .string('must be text')
  .transform((list) => list.split(','))
  .refine(
    (hashes) =>
      hashes.length <= 2 &&
      hashes.every((hash) => isReference(hash) || /^[0-9a-f]{64}$/.test(hash)),
    'must be a SHA-256 in hex, 64 digits of 0-9 and a-f, or two separated by a comma',
  )
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
  /**
   * Names the stack: `Carillon` for `prod`, otherwise `Carillon-<stage>`. Destroying `dev` also deletes its data.
   * @default prod
   */
  stage: stage.default('prod'),
  subscriberCap: count.default(defaultLimits.subscriberCap),
  monthlySendCap: count.default(defaultLimits.monthlySendCap),
  rateLimitPerMinute: count.default(defaultLimits.rateLimitPerMinute),
  notificationDays: days(limits.notificationRetentionDays).default(
    limits.notificationRetentionDays,
  ),
  // One month is enough to investigate a complaint.
  logDays: logDays.default(30),
  /** DynamoDB's maximum and default. */
  recoveryDays: days(35).default(35),
  encryptionKeyArn: encryptionKeyArn.optional(),
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
  accountConcurrency: knownCount.default(1000),
  eventsPerSecond: knownCount.default(5000),
  warmWritesPerSecond: count
    .refine(
      (units) => units >= 4000 || isNumberReference(units),
      'must be at least 4000, which every new table takes',
    )
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

/** Where CloudFormation has no budgets. `npm run lint:template` compares them with AWS's schemas. */
export const regionsWithoutBudgets = [
  ...['af-south-1', 'ap-east-1', 'ap-east-2', 'ap-northeast-3', 'ap-south-2', 'ap-southeast-3'],
  ...['ap-southeast-4', 'ap-southeast-5', 'ap-southeast-6', 'ap-southeast-7', 'ca-west-1'],
  ...['eu-central-2', 'eu-north-1', 'eu-south-1', 'eu-south-2', 'il-central-1', 'me-central-1'],
  ...['mx-central-1', 'us-gov-east-1', 'us-gov-west-1'],
];

/** Invalid settings. The message has one line per mistake. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

interface Origin {
  /** Where the settings of an app are written. */
  readonly place?: string;
  /** Where the stack is, as far as that is known. */
  readonly region?: string | undefined;
  readonly accountId?: string | undefined;
  readonly partition?: string | undefined;
}

/**
 * Reads the settings as somebody wrote them: props of the construct, or a file. Ignores entries of the CDK.
 * @throws {SettingsError} for an unknown name, a missing setting, an invalid value, and one that the region lacks.
 */
export function readSettings(
  written: Readonly<Record<string, unknown>>,
  { place, ...location }: Origin = {},
): Settings {
  const { region = '' } = location;
  const given = Object.entries(written).filter(([name]) => !isCdkEntry(name));
  const parsed = checkedSettings.safeParse({
    ...(written.stage === 'dev' && { vapidSubject: devVapidSubject }),
    ...Object.fromEntries(given),
  });
  if (parsed.data?.monthlyBudget !== undefined && regionsWithoutBudgets.includes(region)) {
    throw new SettingsError(
      `setting monthlyBudget must be removed: CloudFormation has no budgets in ${region}. Create one in the console of AWS, under Billing, "Budgets"`,
    );
  }
  if (parsed.success) {
    const elsewhere = [
      ...misplaced('alarmTopicArn', parsed.data.alarmTopicArn, location),
      ...misplaced('certificateArn', parsed.data.certificateArn, location),
      ...misplaced('encryptionKeyArn', parsed.data.encryptionKeyArn, location),
    ];
    if (elsewhere.length > 0) throw new SettingsError(elsewhere.join('\n'));
    return parsed.data;
  }
  throw mistakesIn(parsed.error, written, place);
}

/**
 * Checks each setting by itself, before the others are known.
 * @throws {SettingsError} for an unknown name, and an invalid value.
 */
export function checkEach(written: Readonly<Record<string, unknown>>): void {
  const { error } = settings.partial().safeParse(written);
  if (error !== undefined) throw mistakesIn(error, written);
}

function mistakesIn(
  { issues }: z.ZodError,
  written: Readonly<Record<string, unknown>>,
  place?: string,
): SettingsError {
  return new SettingsError(issues.flatMap((issue) => describe(issue, written, place)).join('\n'));
}

/**
 * The settings of a stage, as they are written. `eu.domainName` is the `domainName` of the stage `eu` only. An empty value
 * counts as none.
 */
export function settingsOfStage(
  written: Readonly<Record<string, unknown>>,
  stage: string,
): Readonly<Record<string, unknown>> {
  const shared: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(written)) {
    const [, prefix, setting = ''] = ofStagePattern.exec(name) ?? [];
    if (!(setting in settings.shape)) shared[name] = value;
    else if (prefix === stage) own[setting] = value;
  }
  const given = Object.entries({ ...shared, ...own });
  const isAbsent = (name: string, value: unknown) =>
    name in settings.shape && (value === '' || value === undefined);
  return Object.fromEntries(given.filter(([name, value]) => !isAbsent(name, value)));
}

/** The name of a setting of one stage. */
const ofStagePattern = /^([a-z][a-z0-9-]*)\.(\w+)$/;

/**
 * Reads the settings of an app from its context. It also has what the user's `~/.cdk.json` has for all apps: a name
 * that is unknown here may be known to another one.
 * @param place where the app's own settings are written.
 * @throws {SettingsError} as `readSettings` does.
 */
export function readContext(context: Readonly<Record<string, unknown>>, place: string): Settings {
  const foreign = Object.keys(contextOfUser()).filter((name) => !(name in settings.shape));
  const own = Object.entries(context).filter(([name]) => !foreign.includes(name));
  const { stage } = context;
  const ofStage = settingsOfStage(Object.fromEntries(own), String(stage ?? 'prod'));
  return readSettings({ ...ofStage, stage }, { place });
}

/** A line for each part of an ARN that differs from where the stack is. */
function misplaced(
  name: string,
  arn: string | undefined,
  { partition, region, accountId }: Omit<Origin, 'place'>,
): string[] {
  if (arn === undefined || isReference(arn)) return [];
  const [, itsPartition, , itsRegion, itsAccount] = arn.split(':');
  const parts = [
    ['partition', itsPartition, partition],
    ['region', itsRegion, region],
    ['account', itsAccount, accountId],
  ];
  return parts
    .filter(([, its, where]) => where !== undefined && !isReference(where) && where !== its)
    .map(([part, its, where]) => `setting ${name} is in the ${part} ${its}, the stack in ${where}`);
}

function contextOfUser(): object {
  try {
    return JSON.parse(readFileSync(join(homedir(), '.cdk.json'), 'utf8')).context ?? {};
  } catch {
    // Most users have no such file. The CDK's command says so if it is malformed.
    return {};
  }
}

function describe(
  issue: z.core.$ZodIssue,
  written: Readonly<Record<string, unknown>>,
  place: string | undefined,
): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(describeUnknown);
  const [setting, part] = issue.path.map(String);
  // It may be the secret, by mistake.
  const value = setting === 'originSecretHashes' ? undefined : JSON.stringify(written[setting!]);
  const given = part === undefined && value !== undefined ? `; it is ${value}` : '';
  const isMissing = issue.message === missingSubject && place !== undefined;
  const advice = isMissing ? `. Write it ${place}, or use -c ${setting}=…` : '';
  return [`setting ${setting} ${issue.message}${given}${advice}`];
}

function describeUnknown(name: string): string {
  const nearest = nearestName(ofStagePattern.exec(name)?.[2] ?? name, settingNames);
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

/** Longest e-mail address (RFC 5321 §4.5.3.1), with `mailto:`. */
const longestSubject = 261;

// Apple's push service refuses a subject that is at localhost or contains a space.
function isVapidSubject(subject: string): boolean {
  if (/[\s<>]/.test(subject) || subject.length > longestSubject) return false;
  const host = subject.startsWith('mailto:') ? mailHost(subject) : httpsHost(subject);
  return host !== undefined && !/(^|\.)localhost$/i.test(host);
}

// It runs for invalid subjects too.
function isExampleSubject(subject: string): boolean {
  return !isReference(subject) && isVapidSubject(subject) && isExampleAddress(subject);
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
