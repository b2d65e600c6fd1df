import * as z from 'zod';
import { freeTier } from '../contract/limits.ts';
import { nearestName } from '../contract/nearest-name.ts';

/** For the stage `dev` alone, which may go without an address at which someone can be reached. */
const devVapidSubject = 'mailto:operator@example.com';

// The command line passes every value as text, cdk.json may hold a number: both come through here.
const count = z.coerce
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'must be a whole number from 1 to 999999999')
  .transform(Number);

const stageRule =
  'must be 1 to 32 characters of a-z, 0-9 and -, beginning with a letter and not ending with -';
const stage = z.string(stageRule).regex(/^[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?$/, stageRule);

const subjectRule =
  'must be mailto:someone@your-domain or an https URL, without spaces and not at localhost';
const missingSubject =
  'is missing: write "vapidSubject": "mailto:you@your-domain.example" under "context" in cdk.json';
const vapidSubject = z
  .string({ error: ({ input }) => (input === undefined ? missingSubject : subjectRule) })
  .refine(isVapidSubject, subjectRule);

const extraPushOrigins = z
  .string('must be origins separated by commas')
  .transform((text) =>
    text
      .split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ''),
  )
  .superRefine((origins, context) => {
    for (const [index, origin] of origins.entries()) {
      if (isOrigin(origin)) continue;
      context.addIssue({ code: 'custom', path: [index], message: originAdvice(origin) });
    }
  });

const preferIpv6 = z.coerce
  .string()
  .regex(/^(?:true|false)$/, 'must be true or false')
  .transform((text) => text === 'true');

/** What an operator can set: `context` in cdk.json, or `-c name=value` for one command. */
const settings = z.strictObject({
  /** Names the stack. The stage `dev` may be destroyed whole, data included. */
  stage: stage.default('prod'),
  /** Subscribers a project may have, where its own plan says nothing. */
  subscriberCap: count.default(freeTier.subscriberCap),
  /** Notifications a project may send in a UTC month, where its own plan says nothing. */
  monthlySendCap: count.default(freeTier.monthlySendCap),
  /** Requests a minute per address, project and action, where the project's plan says nothing. */
  rateLimitPerMinute: count.default(freeTier.rateLimitPerMinute),
  /** Whom a push service writes to about this sender (RFC 8292 §2.1). */
  vapidSubject,
  /** Push services admitted besides the browsers' own, scheme and port included. */
  extraPushOrigins: extraPushOrigins.default([]),
  /** Whether push services are connected to over IPv6 where they have it. */
  preferIpv6: preferIpv6.default(false),
});

export type Settings = Readonly<z.infer<typeof settings>>;

/** Settings that cannot be used. Its message has one line for each mistake. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Reads the settings from the context of a CDK app, leaving CDK's own entries aside.
 * @throws {SettingsError} for an unknown name, a missing setting and an invalid value.
 */
export function readSettings(context: Readonly<Record<string, unknown>>): Settings {
  const given = Object.entries(context).filter(([name]) => !belongsToCdk(name));
  const parsed = settings.safeParse({
    ...(context.stage === 'dev' && { vapidSubject: devVapidSubject }),
    ...Object.fromEntries(given),
  });
  if (parsed.success) return parsed.data;
  throw new SettingsError(
    parsed.error.issues.flatMap((issue) => explain(issue, context)).join('\n'),
  );
}

function explain(issue: z.core.$ZodIssue, context: Readonly<Record<string, unknown>>): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(explainUnknown);
  const [setting, part] = issue.path.map(String);
  const value = JSON.stringify(context[setting!]);
  const given = part === undefined && value !== undefined ? `; it is ${value}` : '';
  return [`setting ${setting} ${issue.message}${given}`];
}

function explainUnknown(name: string): string {
  const names = Object.keys(settings.shape);
  const nearest = nearestName(name, names);
  const advice =
    nearest === undefined ? `the settings are ${names.join(', ')}` : `did you mean ${nearest}?`;
  return `unknown setting ${name}; ${advice}`;
}

/** Names that the CDK's CLI and library use in the context, besides those with `@` or a colon. */
const cdkNames = ['acknowledged-issue-numbers', 'assets-ecr-repository-name', 'cli-telemetry'];

// Feature flags begin with `@`; the toolkit's entries (`aws:cdk:…`, `aws-cdk:…`) and cached
// look-ups (`availability-zones:…`) contain a colon.
function belongsToCdk(name: string): boolean {
  return name.startsWith('@') || name.includes(':') || cdkNames.includes(name);
}

// Apple's push service refuses a token whose subject is at localhost or has a space in it.
function isVapidSubject(subject: string): boolean {
  if (/[\s<>]/.test(subject)) return false;
  const host = subject.startsWith('mailto:') ? mailHost(subject) : httpsHost(subject);
  return host !== undefined && !/(^|\.)localhost$/i.test(host);
}

function mailHost(subject: string): string | undefined {
  return /^mailto:[^@]+@([^@.]+(?:\.[^@.]+)+)$/.exec(subject)?.[1];
}

function httpsHost(subject: string): string | undefined {
  return /^https:\/\//.test(subject) && URL.canParse(subject)
    ? new URL(subject).hostname
    : undefined;
}

function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function originAdvice(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : '';
  const better = isOrigin(origin) ? origin : 'one such as https://push.example.com';
  return `holds ${JSON.stringify(text)}, which is not an origin: write ${better}`;
}
