import { defaultOf } from '../../contract/field-kinds.ts';
import { issuesOf } from '../../contract/issues.ts';
import { limits } from '../../contract/limits.ts';
import { sendSchema } from '../../contract/schemas/notification.ts';
import { contentFields, sendFields } from '../../contract/send-fields.ts';

/** What is wrong with a send that has these fields besides its title. */
function refusals(fields: object): string[] {
  const { error } = sendSchema.safeParse({ title: 'a', ...fields });
  return error ? issuesOf(error, sendSchema).map(({ path, message }) => `${path}: ${message}`) : [];
}

const rows = Object.entries(sendFields);
/** What rows require, so that only the field itself can be refused. */
const required = { tag: 'a', url: 'https://example.com/' };

test.each(rows)('a sample of %s is accepted, and kept as it is', (name, { sample }) => {
  const request = { title: 'a', ...required, [name]: sample };
  expect(sendSchema.parse(request)).toEqual(request);
});

test.each(rows)('of %s, what is invalid is refused', (name, { invalid }) => {
  const paths = refusals({ ...required, [name]: invalid }).map(
    (refusal) => refusal.split(/[:[]/)[0],
  );
  expect(paths).toEqual([name]);
});

test.each(Object.entries(contentFields))('no sample of %s is its default', (_, row) => {
  expect(row.sample).not.toEqual(defaultOf(row));
});

const url = 'https://example.com/';
const action = { action: 'open', title: 'Open' };
const ofBytes = (bytes: number) => ({ data: { a: 'x'.repeat(bytes - '{"a":""}'.length) } });

test.each<[string, object]>([
  ['the least ttl', { ttl: 0 }],
  ['the greatest ttl', { ttl: 2_419_200 }],
  ...['very-low', 'low', 'normal', 'high'].map((urgency): [string, object] => [
    `the urgency ${urgency}`,
    { urgency },
  ]),
  ['the shortest topic', { topic: 'a' }],
  ['the longest topic', { topic: '€'.repeat(64) }],
  ['the shortest tag', { tag: 'a' }],
  ['the longest tag', { tag: 'a'.repeat(64) }],
  ['renotify with a tag', { renotify: true, tag: 'a' }],
  ['renotify that is false without a tag', { renotify: false }],
  ['no actions', { actions: [] }],
  ['two actions', { actions: [action, { ...action, action: 'b', url, icon: url }] }],
  ['the longest action', { actions: [{ action: 'a'.repeat(32), title: 'b'.repeat(64) }] }],
  ['a language', { lang: 'en' }],
  ['a language with script and region', { lang: 'zh-Hant-TW' }],
  ...['auto', 'ltr', 'rtl'].map((dir): [string, object] => [`the direction ${dir}`, { dir }]),
  ['a time in UTC', { timestamp: '2026-11-21T19:00:00Z' }],
  ['a time with an offset', { timestamp: '2026-11-21T19:00:00.123+05:30' }],
  ['the most data', ofBytes(2048)],
  ['empty data', { data: {} }],
  ['the least appBadge', { appBadge: 0 }],
  ['the greatest appBadge', { appBadge: 99_999 }],
  ['the fewest days', { seenWithinDays: 1 }],
  ['the most days', { seenWithinDays: 365 }],
  ['worker that is false with a URL', { worker: false, url }],
  ['worker that is true without a URL', { worker: true }],
])('%s is accepted, and kept as it is', (_, fields) => {
  expect(refusals(fields)).toEqual([]);
  expect(sendSchema.parse({ title: 'a', ...fields })).toEqual({ title: 'a', ...fields });
});

const ttl = 'ttl: must be a whole number of seconds from 0 to 2419200';
const appBadge = 'appBadge: must be a whole number from 0 to 99999';
const seenWithinDays = 'seenWithinDays: must be a whole number of days from 1 to 365';
const topic = 'topic: must be text of 1 to 64 characters';
const tag = 'tag: must be text of 1 to 64 characters';
const lang = 'lang: must be a language tag such as "en" or "pt-BR"';
const timestamp = 'timestamp: must be a date-time with its offset, such as "2026-11-21T19:00:00Z"';
const flags = Object.entries(sendFields).flatMap(([name, { kind }]) =>
  kind === 'flag' ? [name] : [],
);

test.each<[object, string]>([
  ...[-1, 2_419_201, 1.5, '60', null].map((value): [object, string] => [{ ttl: value }, ttl]),
  ...[-1, 100_000, 0.5, '1'].map((value): [object, string] => [{ appBadge: value }, appBadge]),
  ...[0, 366, 1.5, '7', null].map((value): [object, string] => [
    { seenWithinDays: value },
    seenWithinDays,
  ]),
  ...['urgent', '', 1].map((urgency): [object, string] => [
    { urgency },
    'urgency: must be "very-low", "low", "normal" or "high"',
  ]),
  ...['', 'a'.repeat(65), 7].map((value): [object, string] => [{ topic: value }, topic]),
  [{ topic: '\ud800' }, 'topic: must be well-formed Unicode'],
  ...['', 'a'.repeat(65), 7].map((value): [object, string] => [{ tag: value }, tag]),
  ...flags.map((name): [object, string] => [{ [name]: 'true' }, `${name}: must be true or false`]),
  [{ renotify: true }, 'renotify: needs "tag", which names the notification to replace'],
  [
    { worker: false },
    'worker: needs "url" when it is false: without a worker, browsers open absolute URLs only',
  ],
  [{ actions: {} }, 'actions: must be an array of actions'],
  [
    { actions: ['a', 'b', 'c'].map((name) => ({ ...action, action: name })) },
    'actions: must have at most 2 actions',
  ],
  [{ actions: [action, action] }, 'actions: must differ from each other in "action"'],
  [{ actions: ['open'] }, 'actions[0]: must be an object'],
  [{ actions: [{ title: 'a' }] }, 'actions[0].action: is required'],
  [{ actions: [{ action: 'a' }] }, 'actions[0].title: is required'],
  ...['', 'a'.repeat(33), 7].map((value): [object, string] => [
    { actions: [{ ...action, action: value }] },
    'actions[0].action: must be text of 1 to 32 characters',
  ]),
  ...['', 'a'.repeat(65), 7].map((value): [object, string] => [
    { actions: [{ ...action, title: value }] },
    'actions[0].title: must be text of 1 to 64 characters',
  ]),
  ...['url', 'icon'].map((name): [object, string] => [
    { actions: [{ ...action, [name]: '/open' }] },
    `actions[0].${name}: must be an absolute http or https URL`,
  ]),
  [
    { actions: [action, { ...action, action: 'b', target_url: url }] },
    'actions[1].target_url: is not a field of this object; the fields are action, title, url, icon',
  ],
  [
    { actions: [{ ...action, Icon: url }] },
    'actions[0].Icon: is not a field of this object; did you mean "icon"?',
  ],
  ...['', 'en_US', '-', 'en-languages', 7].map((value): [object, string] => [
    { lang: value },
    lang,
  ]),
  [{ lang: `en${'-a'.repeat(17)}` }, 'lang: must have at most 35 characters'],
  ...['left', '', 1].map((dir): [object, string] => [
    { dir },
    'dir: must be "auto", "ltr" or "rtl"',
  ]),
  ...[
    '2026-11-21',
    '2026-11-21T19:00:00',
    '2026-11-21T19:00Z',
    '2026-02-29T19:00:00Z',
    '2026-11-21 19:00:00Z',
    '',
    1_763_751_600_000,
  ].map((value): [object, string] => [{ timestamp: value }, timestamp]),
  ...['{}', [], null, 7].map((value): [object, string] => [
    { data: value },
    'data: must be an object',
  ]),
  [ofBytes(2049), 'data: must have at most 2048 bytes as JSON'],
  [{ data: { a: '€'.repeat(700) } }, 'data: must have at most 2048 bytes as JSON'],
])('%j is refused', (fields, refusal) => {
  expect(refusals(fields)).toEqual([refusal]);
});

test.each([
  ['require_interaction', 'requireInteraction'],
  ['Silent', 'silent'],
  ['urgent', 'urgency'],
  ['TTL', 'ttl'],
  ['topics', 'topic'],
  ['app_badge', 'appBadge'],
  ['timeStamp', 'timestamp'],
  ['action', 'actions'],
  ['channel', 'channels'],
  ['seenWithin', 'seenWithinDays'],
])('instead of the unknown field %s, %s is suggested', (typed, meant) => {
  expect(refusals({ [typed]: 1 })).toEqual([
    `${typed}: is not a field of this request; did you mean "${meant}"?`,
  ]);
});

// JSON.parse() reads what JSON.stringify() cannot write: a stack overflow would be a 500.
test('data that is nested too deeply to be serialised is refused', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
  expect(refusals({ data: deep })).toEqual(['data: must have at most 2048 bytes as JSON']);
});

test('the default ttl is the greatest one', () => {
  expect(refusals({ ttl: limits.messageTtl })).toEqual([]);
  expect(refusals({ ttl: limits.messageTtl + 1 })).toEqual([ttl]);
});
