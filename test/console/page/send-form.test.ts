import { timeText } from '../../../console/page/format.ts';
import {
  contentTexts,
  emptySendForm,
  fieldAt,
  fields,
  formOf,
  oddUserIds,
  readSendForm,
  type SendForm,
  splitUserIds,
  whomText,
} from '../../../console/page/send/send-form.ts';
import { conditionsOf } from '../../../contract/wire/content.ts';
import { contentOf, sampleContent, sendFields } from '../../../contract/wire/send-fields.ts';

/** Recipients take the place of user ids, and a test has no form. */
const {
  recipients,
  test: _,
  ...sampled
}: Record<string, unknown> = Object.fromEntries(
  Object.entries(sendFields).map(([name, { sample }]) => [name, sample]),
);
const full: SendForm = {
  ...formOf({ ...sampleContent, audience: { users: 2, ...conditionsOf(sampled) } }),
  userIds: 'ada\n grace \n\n',
};

test('a full form is every field of send', () => {
  // The control of a time has no seconds.
  const timestamp = '2026-11-21T18:00:00.000Z';
  expect(readSendForm(full)).toEqual({ notification: { ...sampled, timestamp }, issues: [] });
});

describe('languages', () => {
  const german = { tag: ' de ', title: 'Einlass', body: ' ', url: '' };
  const form = (...translations: readonly (typeof german)[]) =>
    readSendForm({ ...emptySendForm, title: 'Doors', translations });

  test('have what is written for them', () => {
    expect(form(german)).toEqual({
      notification: { title: 'Doors', translations: { de: { title: 'Einlass' } } },
      issues: [],
    });
  });

  test('of what was sent are kept, with what has no control', () => {
    const translations = { ar: { title: 'الأبواب', dir: 'rtl' } } as const;
    const again = formOf({ title: 'Doors', translations, audience: 'everyone' });
    expect(readSendForm(again).notification).toEqual({ title: 'Doors', translations });
  });

  test.each([
    ['twice', [german, { ...german, title: 'Türen' }], 'translations'],
    ['without a tag', [{ ...german, tag: '' }], 'translations'],
    ['with an invalid tag', [{ ...german, tag: 'en_US' }], 'translations.en_US'],
    ['with a long title', [{ ...german, title: 'x'.repeat(257) }], 'translations.de.title'],
  ])('%s are refused', (_, translations, path) => {
    expect(form(...translations).issues).toMatchObject([{ path }]);
    expect(fieldAt(path)?.label).toBe(path.endsWith('title') ? 'Title' : 'Translations');
  });
});

test('an empty form is a title only: what is empty is left out', () => {
  expect(readSendForm({ ...emptySendForm, title: ' Hello ' })).toEqual({
    notification: { title: 'Hello' },
    issues: [],
  });
});

test.each<[Partial<SendForm>, string]>([
  [{ url: '/relative' }, 'url'],
  [{ ttl: 'soon' }, 'ttl'],
  [{ ttl: '1.5' }, 'ttl'],
  [{ appBadge: '-1' }, 'appBadge'],
  [{ renotify: true }, 'renotify'],
  [{ worker: false }, 'worker'],
  [{ actions: [{ action: '', title: 'Watch', url: '', icon: '' }] }, 'actions[0].action'],
  [{ to: 'users', userIds: ' \n' }, 'userIds'],
  [{ to: 'some' }, 'channels'],
  [{ to: 'some', channels: 'news, sales' }, 'channels[0]'],
  [{ to: 'some', seenWithinDays: '0' }, 'seenWithinDays'],
  [{ to: 'users', userIds: `ada\n${'a'.repeat(257)}` }, 'userIds[1]'],
])('%p has an issue at %s', (changes, path) => {
  const { issues } = readSendForm({ ...emptySendForm, title: 'Hello', ...changes });
  expect(issues.map((issue) => issue.path)).toEqual([path]);
});

test.each<[Partial<SendForm>, string]>([
  [{ title: ' \t' }, 'Write a title'],
  [{ title: '\u200b \u3164\u2800' }, 'Write a title'],
  [{ actions: [{ action: 'a', title: ' ', url: '', icon: '' }] }, 'Write the text of the button'],
  [{ to: 'users' }, 'Enter at least one user id'],
  [{ to: 'users', isPersonal: true }, 'Enter a line of names, and one for each user id'],
])('of a blank field, %j, the message says what to do in the form', (changes, message) => {
  const { issues } = readSendForm({ ...emptySendForm, title: 'Hello', ...changes });
  expect(issues).toEqual([{ path: expect.any(String), message }]);
});

test('a blank title is an issue beside others, once', () => {
  const { issues } = readSendForm({ ...emptySendForm, title: '\u200b', ttl: 'soon' });
  expect(issues.map(({ path }) => path)).toEqual(['title', 'ttl']);
});

test('what was entered for another audience is kept, and not sent', () => {
  const entered = {
    ...emptySendForm,
    title: 'Hello',
    channels: 'news',
    seenWithinDays: '7',
    userIds: 'ada',
    recipients: 'id,name\nada,Ada',
  };
  const bodyOf = (changes: Partial<SendForm>) =>
    readSendForm({ ...entered, ...changes }).notification;
  expect(bodyOf({})).toEqual({ title: 'Hello' });
  const conditions = { channels: ['news'], seenWithinDays: 7 };
  expect(bodyOf({ to: 'some' })).toEqual({ title: 'Hello', ...conditions });
  expect(bodyOf({ to: 'users' })).toEqual({ title: 'Hello', userIds: ['ada'] });
  expect(bodyOf({ to: 'users', isNarrowed: true })).toEqual({
    title: 'Hello',
    userIds: ['ada'],
    ...conditions,
  });
  expect(bodyOf({ to: 'users', isPersonal: true })).toEqual({
    title: 'Hello',
    recipients: [{ userId: 'ada', values: { name: 'Ada' } }],
  });
});

test('data that is not JSON, or no object, says so', () => {
  const messageFor = (data: string) =>
    readSendForm({ ...emptySendForm, title: 'Hello', data }).issues[0]!.message;
  expect(messageFor('{')).toBe('is not JSON; check quotes and commas');
  expect(messageFor('[1]')).toBe('must be an object');
});

test('the form of a notification to users asks for user ids again, and never becomes a broadcast', () => {
  const { notification, issues } = readSendForm(formOf({ title: 'Hello', audience: { users: 2 } }));
  expect(notification).toEqual({ title: 'Hello', userIds: [] });
  expect(issues.map(({ path }) => path)).toEqual(['userIds']);
});

test('the form of a notification with a text for each user asks for the table again', () => {
  const form = formOf({ title: 'Hello {{name}}', audience: { users: 2, channels: ['news'] } });
  expect(form).toMatchObject({ to: 'users', isPersonal: true, recipients: '', channels: 'news' });
  expect(form.isNarrowed).toBe(true);
  // To everyone, braces are literal.
  expect(formOf({ title: '{{name}}', audience: 'everyone' }).to).toBe('everyone');
});

test.each([
  ['ada, grace', ['ada, grace'], 'ada\ngrace'],
  ['ada\n grace;bob ', ['grace;bob'], 'ada\ngrace\nbob'],
  ['ada\tgrace', ['ada\tgrace'], 'ada\ngrace'],
  ['ada grace', ['ada grace'], 'ada\ngrace'],
  ['Ada Lovelace, Grace Hopper', ['Ada Lovelace, Grace Hopper'], 'Ada Lovelace\nGrace Hopper'],
  ['ada\ngrace', [], 'ada\ngrace'],
])('in %j, what may be several user ids is %j, and is split into %j', (userIds, odd, split) => {
  expect(oddUserIds({ ...emptySendForm, to: 'users', userIds })).toEqual(odd);
  expect(splitUserIds(userIds)).toBe(split);
});

test.each<[Partial<SendForm>, string]>([
  [{}, 'everyone'],
  [
    { to: 'some', channels: 'shop\noffers', seenWithinDays: '30' },
    'channels shop or offers, seen within 30 days',
  ],
  [{ to: 'some', seenWithinDays: '7' }, 'subscribers seen within 7 days'],
  [{ to: 'users', userIds: 'ada' }, 'ada'],
  [{ to: 'users', userIds: 'ada, bob\ncyd' }, '“ada, bob” and cyd'],
  [{ to: 'users', userIds: 'ada\nada\nbob\ncyd\ndan' }, 'ada, bob, cyd, and dan'],
  [{ to: 'users', userIds: 'ada\nbob\ncyd\ndan\neve' }, 'ada, bob, cyd, and 2 more users'],
  [{ to: 'users', userIds: 'ada', isNarrowed: true, channels: 'shop' }, 'ada, channel shop'],
  [{ to: 'users', isPersonal: true, recipients: 'id,name\nada,Ada\nbob,Bob' }, 'ada and bob'],
])('%j goes to %s', (changes, whom) => {
  const { notification } = readSendForm({ ...emptySendForm, title: 'Hello', ...changes });
  expect(whomText(notification)).toBe(whom);
});

test('the form of a sent notification sends the same again, to everyone who matches', () => {
  const { userIds, ...toEveryone } = readSendForm(full).notification;
  const content = contentOf(toEveryone);
  const again = readSendForm(formOf({ ...content, audience: conditionsOf(toEveryone) }));
  expect(again).toEqual({ notification: toEveryone, issues: [] });
  const unconditional = readSendForm(formOf({ ...content, audience: 'everyone' }));
  expect(unconditional).toEqual({ notification: content, issues: [] });
});

test('a sent notification is shown with the labels of the form', () => {
  const content = contentOf(readSendForm(full).notification);
  const texts = Object.fromEntries(contentTexts(content));
  // The preview has title and text.
  const { title, body, ...others } = content;
  const labels = Object.keys(others).map((name) => fieldAt(name)!.label);
  expect(Object.keys(texts).sort()).toEqual(labels.sort());
  expect(texts).toMatchObject({
    'Waits for': '1 hour',
    Urgency: 'High',
    'Handled by the service worker': 'No',
    'Time of the event': timeText(content.timestamp!),
    Buttons: 'Map, https://www.example.com/map, https://www.example.com/map.png; Later',
    Data: '{"order":{"id":7}}',
  });
});

test('labels of the form differ, and no hint speaks of the API', () => {
  const rows = Object.values(fields);
  expect(new Set(rows.map(({ label }) => label)).size).toBe(rows.length);
  for (const { hint = '' } of rows) expect(hint).not.toMatch(/RFC|BCP|leave|`|field|undefined/);
});

test.each([
  ['title', 'Title'],
  ['userIds[3]', 'User ids'],
  ['recipients[1].values.name', 'Recipients'],
  ['actions[0].title', 'Text'],
  ['actions', 'Buttons'],
  ['constructor', undefined],
])('the field of an issue at %s is %s', (path, label) => {
  expect(fieldAt(path)?.label).toBe(label);
});
