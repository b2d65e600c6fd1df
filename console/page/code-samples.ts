import { pathOf } from '../../contract/text/addresses.ts';
import { shellString } from '../../contract/text/text.ts';
import type { SendRequest } from '../../contract/wire/notification.ts';
import { routes } from '../../contract/wire/routes.ts';

/** Names for people, in the order of the tabs. */
export const sampleLanguages = {
  curl: 'curl',
  node: 'Node.js',
} as const;
export type SampleLanguage = keyof typeof sampleLanguages;

/** A send as the console's form has it. */
interface SampleSend {
  /** Address of the service, without a path. */
  readonly baseUrl: string;
  readonly projectId: string;
  readonly notification: SendRequest;
  /** Whether the service responds before the delivery. */
  readonly respondAsync: boolean;
}

/**
 * A complete program that sends the notification once. It reads the secret key from the environment
 * variable CARILLON_SECRET_KEY, and does not follow redirects: they would get the key.
 */
export function codeSample(language: SampleLanguage, send: SampleSend): string {
  return { curl, node }[language](send);
}

const curl = ({ baseUrl, projectId, notification, respondAsync }: SampleSend) => `\
# In Bash.
# One attempt. To retry, use the same key:
# examples/senders/send.sh
key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')
# Every user of the machine can see arguments:
# the secret key is passed as a file.
# A redirect is an error (-L with 0 redirects).
curl -sS --fail-with-body -L --max-redirs 0 --max-time 35 \\
  ${shellString(baseUrl + pathOf(routes.send, { projectId }))} \\
  -H @<(echo "Authorization: Bearer \${CARILLON_SECRET_KEY:?}") \\
  -H 'Content-Type: application/json' -H "Idempotency-Key: $key" \\
${respondAsync ? "  -H 'Prefer: respond-async' \\\n" : ''}\
  --data-binary ${shellString(jsonOf(notification))}
`;

/**
 * JSON is JavaScript, but that this name alone would set the prototype. Within a string, a quotation mark has a
 * backslash before it.
 */
const node = ({ baseUrl, projectId, notification, respondAsync }: SampleSend) => `\
import { CarillonServer } from 'carillon/server';

const carillon = new CarillonServer({
  baseUrl: '${baseUrl}',
  projectId: '${projectId}',
  secretKey: process.env.CARILLON_SECRET_KEY,
});

const notification = ${jsonOf(notification).replace(/(?<!\\)"__proto__":/g, '["__proto__"]:')};

// After a failure, repeats it with the same key:
// docs/sending.md#nodejs
const result = await carillon.send(notification, {
  idempotencyKey: crypto.randomUUID(),
${respondAsync ? '  respondAsync: true,\n' : ''}\
});
console.log(JSON.stringify(result));
`;

/**
 * Characters that JSON allows unescaped, but that a terminal runs as keys, that
 * end a line of JavaScript, or that show code in another order than it has.
 */
const deceptive = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

/** JSON text on several lines, with only characters that are safe to copy. */
function jsonOf(value: unknown): string {
  // The line feeds that indent the text are not part of the value.
  const escaped = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => line.replace(deceptive, escaped))
    .join('\n');
}
