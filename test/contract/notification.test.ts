import { eventCounterSchema } from '../../contract/wire/event.ts';
import { issuesOf } from '../../contract/wire/fields.ts';
import { sendSchema } from '../../contract/wire/notification.ts';
import { notificationListQuerySchema } from '../../contract/wire/notification-list.ts';
import { contentFields, defaultOf, sendFields } from '../../contract/wire/send-fields.ts';

/** What is wrong with a body of send. */
function issuesIn(body: unknown): string[] {
  const { error } = sendSchema.safeParse(body);
  return error ? issuesOf(error, sendSchema).map(({ path, message }) => `${path}: ${message}`) : [];
}

/** What is wrong with a send that has these fields besides its title. */
const refusals = (fields: object) => issuesIn({ title: 'a', ...fields });

const rows = Object.entries(sendFields);
/** What rows require, so that only the field itself can be refused. */
const requiredBy = (name: string) => ({
  ...{ tag: 'a', url: 'https://example.com/' },
  ...(name === 'test' && { userIds: ['ada'] }),
});

test.each(rows)('a sample of %s is accepted, and kept as it is', (name, { sample }) => {
  const title = name === 'recipients' ? 'Hello {{name}}' : 'a';
  const request = { title, ...requiredBy(name), [name]: sample };
  expect(sendSchema.parse(request)).toEqual(request);
});

test.each(rows)('of %s, what is invalid is refused', (name, { invalid }) => {
  const paths = refusals({ ...requiredBy(name), [name]: invalid }).map(
    (refusal) => refusal.split(/[:[.]/)[0],
  );
  expect(paths).toEqual([name]);
});

test.each(Object.entries(contentFields))('no sample of %s is its default', (_, row) => {
  expect(row.sample).not.toEqual(defaultOf(row));
});

const url = 'https://example.com/';
const action = { action: 'open', title: 'Open' };
const text = (length: number) => 'a'.repeat(length);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `a-${index}`);
const dataOf = (bytes: number) => ({ a: text(bytes - '{"a":""}'.length) });
/** JSON.parse() reads what JSON.stringify() cannot write: a stack overflow would be a 500. */
const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);

const flags = rows.filter(([, { kind }]) => kind === 'flag').map(([name]) => name);
const urls = ['url', 'icon', 'image', 'badge'];
const languageTag = 'must be a language tag such as "en" or "pt-BR"';

const tooLong = (max: number, length: number) =>
  `must be text of 1 to ${max} characters, and has ${length}`;
/** Texts of spaces, and of characters that Unicode calls ignorable or a blank. */
const blank = [' ', '\t\n', '\u00a0\u3000', '\u200b\u200d', '\ufeff', '\u2800', '\u3164\u115f'];
const notANumber = ', not a number: write it in quotes, "7"';

/** Of each kind of field: what is accepted, what is refused, and the rule that the refusal states. */
test.each<[string, readonly unknown[], readonly unknown[], string]>([
  ['title', ['a', text(256)], ['', null], 'must be text of 1 to 256 characters'],
  ['title', ['💣'.repeat(256)], ['💣'.repeat(257)], tooLong(256, 257)],
  ['title', [], [7], `must be text of 1 to 256 characters${notANumber}`],
  ['title', ['\u00ad!', '\u200b\ud83d\udca3'], blank, 'must have a visible character'],
  ['body', ['', ' ', text(2000)], [null], 'must be text of at most 2000 characters'],
  ['body', [], [7], `must be text of at most 2000 characters${notANumber}`],
  ...urls.map((name): [string, unknown[], unknown[], string] => [
    name,
    ['https://example.com/a?b#c', 'http://localhost:3000/', 'HTTPS://a.b'],
    ['/a', 'javascript:alert(1)', 'https://', 'https:// a', 'x', 'https:/\\a'],
    'must be an absolute http or https URL',
  ]),
  [
    'ttl',
    [0, 2_419_200],
    [-1, 2_419_201, 1.5, '60', null],
    'must be a whole number of seconds from 0 to 2419200',
  ],
  [
    'urgency',
    ['very-low', 'low', 'normal', 'high'],
    ['urgent', '', 1],
    'must be "very-low", "low", "normal" or "high"',
  ],
  ['topic', ['a', '€'.repeat(64)], [''], 'must be text of 1 to 64 characters'],
  ['topic', [], [text(65)], tooLong(64, 65)],
  ['topic', [], ['\ud800'], 'must be well-formed Unicode'],
  ['tag', ['a', text(64)], [''], 'must be text of 1 to 64 characters'],
  ['tag', [], [text(65)], tooLong(64, 65)],
  ...flags.map((name): [string, unknown[], unknown[], string] => [
    name,
    [true],
    ['true'],
    'must be true or false',
  ]),
  ['actions', [], [{}], 'must be an array of actions'],
  [
    'actions',
    [[], [action, { ...action, action: 'b', url, icon: url }]],
    [['a', 'b', 'c'].map((name) => ({ ...action, action: name }))],
    'must have at most 2 actions',
  ],
  ['actions', [], [[action, action]], 'must differ from each other in "action"'],
  ['lang', ['en', 'zh-Hant-TW'], ['', 'en_US', '-', 'en-languages', null], languageTag],
  ['lang', [], [7], `${languageTag}${notANumber}`],
  [
    'lang',
    [`en${'-a'.repeat(16)}`],
    [`en${'-a'.repeat(17)}`],
    'must have at most 35 characters, and has 36',
  ],
  ['dir', ['auto', 'ltr', 'rtl'], ['left', '', 1], 'must be "auto", "ltr" or "rtl"'],
  [
    'timestamp',
    ['2026-11-21T19:00:00Z', '2026-11-21T19:00:00.123+05:30'],
    [
      ...['2026-11-21', '2026-11-21T19:00:00', '2026-11-21T19:00Z', '2026-02-29T19:00:00Z'],
      ...['2026-11-21 19:00:00Z', '', 1_763_751_600_000],
    ],
    'must be a date-time with its offset, such as "2026-11-21T19:00:00Z"',
  ],
  ['data', [{}], ['{}', [], null, 7], 'must be an object'],
  [
    'data',
    [dataOf(2048)],
    [dataOf(2049), { a: '€'.repeat(700) }, deep],
    'must have at most 2048 bytes as JSON',
  ],
  ['appBadge', [0, 99_999], [-1, 100_000, 0.5, '1'], 'must be a whole number from 0 to 99999'],
  [
    'seenWithinDays',
    [1, 365],
    [0, 366, 1.5, '7', null],
    'must be a whole number of days from 1 to 365',
  ],
  // None of these must ever become a broadcast.
  ['userIds', [numbered(1000)], [numbered(1001)], 'must name at most 1000 user ids'],
  ['userIds', [], [null], 'must be an array of user ids'],
  ['userIds', [], [[]], 'must name at least one user id; leave the field out to broadcast'],
  ['channels', [numbered(20)], [numbered(21)], 'must name at most 20 channels'],
  ['channels', [], [null], 'must be an array of channels'],
  [
    'channels',
    [],
    [[]],
    'must name at least one channel; leave the field out for all subscriptions',
  ],
])('%s is accepted up to its bounds, and refused beyond them', (name, accepted, refused, rule) => {
  for (const value of accepted) {
    const request = { title: 'a', ...requiredBy(name), [name]: value };
    expect(sendSchema.parse(request)).toEqual(request);
  }
  for (const value of refused) {
    expect(refusals({ ...requiredBy(name), [name]: value })).toEqual([`${name}: ${rule}`]);
  }
});

/** Rules about several fields, and about the entries of lists. */
test.each<[object, string]>([
  [{ renotify: true }, 'renotify: needs "tag", which names the notification to replace'],
  [
    { worker: false },
    'worker: needs "url" when it is false: without a worker, browsers open absolute URLs only',
  ],
  [{ actions: ['open'] }, 'actions[0]: must be an object'],
  [{ actions: [{ title: 'a' }] }, 'actions[0].action: is required'],
  [{ actions: [{ action: 'a' }] }, 'actions[0].title: is required'],
  ...[
    ['action', 32],
    ['title', 64],
  ].flatMap(([name, max]): [object, string][] => [
    [
      { actions: [{ ...action, [name!]: '' }] },
      `actions[0].${name}: must be text of 1 to ${max} characters`,
    ],
    [
      { actions: [{ ...action, [name!]: text(65) }] },
      `actions[0].${name}: ${tooLong(Number(max), 65)}`,
    ],
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
  [{ userIds: ['u', ''] }, 'userIds[1]: must be text of 1 to 256 characters'],
  [{ channels: ['a', 'B'] }, 'channels[1]: must be 1 to 32 lowercase letters, digits or hyphens'],
  // Names of built-in properties, such as __proto__: test/reliability.
  [
    { idempotencyKey: 'job-17' },
    'idempotencyKey: is not a field of this request; it is a header, "Idempotency-Key"',
  ],
  [
    { send_at: '2026-12-24T18:00:00Z' },
    'send_at: is not a field of this request; see "Later" in docs/sending.md',
  ],
  [{ message: 'Hi' }, 'message: is not a field of this request; did you mean "body"?'],
  [
    { translations: { de: { text: 'Hallo' } } },
    'translations.de.text: is not a field of this object; did you mean "body"?',
  ],
  [{ app_badge: 1 }, 'app_badge: is not a field of this request; did you mean "appBadge"?'],
])('%j is refused', (fields, refusal) => {
  expect(refusals(fields)).toEqual([refusal]);
});

test.each([
  { renotify: false },
  { worker: true },
  { actions: [{ action: text(32), title: text(64) }] },
])('%j is accepted, and kept as it is', (fields) => {
  expect(sendSchema.parse({ title: 'a', ...fields })).toEqual({ title: 'a', ...fields });
});

test('only the title is required', () => {
  expect(sendSchema.parse({ title: 'Hello' })).toEqual({ title: 'Hello' });
  expect(issuesIn({ body: 'Hello' })).toEqual(['title: is required']);
});

test.each([null, [], 'text', 7])('the body %j is refused', (body) => {
  expect(issuesIn(body)).toEqual([': must be an object']);
});

test('a repeated user id or channel is removed', () => {
  const twice = ['u', 'v', 'u'];
  const { userIds, channels } = sendSchema.parse({ title: 'a', userIds: twice, channels: twice });
  expect([userIds, channels]).toEqual([
    ['u', 'v'],
    ['u', 'v'],
  ]);
});

const parse = (query: object) => notificationListQuerySchema.safeParse(query);

test.each([
  [{}, 20],
  [{ limit: '1' }, 1],
  [{ limit: '99' }, 99],
  [{ limit: '100' }, 100],
  [{ limit: '7', other: 'x' }, 7],
])('the query %j has a limit of %i and no cursor', (query, limit) => {
  expect(parse(query).data).toEqual({ limit, cursor: undefined });
});

test.each([
  '',
  '0',
  '00',
  '01',
  '101',
  '1000',
  '-1',
  '+1',
  '1.0',
  '1e1',
  ' 1',
  '1,2',
  'x',
  null,
  5,
])('the limit %j is invalid', (limit) => {
  expect(parse({ limit }).error?.issues).toMatchObject([{ path: ['limit'] }]);
});

test('a cursor has 16 bytes', () => {
  const cursor = Buffer.alloc(16, 255).toString('base64url');
  expect(parse({ cursor }).data?.cursor).toEqual(new Uint8Array(16).fill(255));
  for (const length of [0, 15, 17]) {
    const other = Buffer.alloc(length, 255).toString('base64url');
    expect(parse({ cursor: other }).success).toBe(false);
  }
});

test.each([
  [undefined, 0],
  ['0', 0],
  ['3', 3],
  ['9999', 9999],
])('the query tally=%s names event counter %i', (query, counter) => {
  expect(eventCounterSchema.parse(query)).toBe(counter);
});

test.each(['', '-1', '1.5', '1e3', ' 1', '10000', 'x', null])('tally=%j is invalid', (query) => {
  expect(eventCounterSchema.safeParse(query).success).toBe(false);
});
