import { estimateText } from '../../../console/page/format.ts';
import { audienceSize, sizeText } from '../../../console/page/send/audience-fields.tsx';
import { emptySendForm, type SendForm } from '../../../console/page/send/send-form.ts';
import { limits } from '../../../contract/wire/limits.ts';
import type { AudienceCounts } from '../../../contract/wire/project-result.ts';

const sample: AudienceCounts = {
  subscribers: 1000,
  seenWithinDays: { 7: 500, 30: 800, 90: 1000, 365: 1000 },
  channels: { news: 300, sales: 100 },
  locales: { de: 200, 'de-CH': 50, 'zh-Hant': 100 },
  pushServices: {},
};
const some = { to: 'some' } as const;
const users = { to: 'users' } as const;

const sizeOf = (form: Partial<SendForm>, subscribers: number | undefined, counts = sample) =>
  audienceSize(
    { ...emptySendForm, ...form },
    { ...(subscribers !== undefined && { subscribers }), sample: counts },
  );

test.each<[form: Partial<SendForm>, note: string | undefined]>([
  [{ ...users, userIds: 'ada\nada\ngrace' }, '1 duplicate left out'],
  [{ ...users, userIds: 'ada\ngrace' }, undefined],
  [{ ...users, userIds: 'ada, grace\nbob' }, '“ada, grace” is one user id'],
  [{ ...users, isPersonal: true, recipients: 'id,name\nada,Ada' }, 'User ids from the column “id”'],
])('of %j is known: %p', (form, note) => {
  expect(sizeOf(form, 4000).note).toBe(note);
});

test.each<[form: Partial<SendForm>, subscribers: number | undefined, text: string]>([
  [{}, 4000, '4,000'],
  [{}, undefined, 'everyone'],
  [{ ...some, channels: 'news' }, undefined, 'some'],
  [{ ...some, channels: 'news' }, 1000, '300'],
  [{ ...some, channels: 'news' }, 4000, 'about 1,200'],
  [{ ...some, seenWithinDays: '7' }, 4000, 'about 2,000'],
  // Some have both channels.
  [{ ...some, channels: 'news\nsales' }, 1000, 'at most 400'],
  [{ ...some, channels: 'news', seenWithinDays: '7' }, 4000, 'at most about 1,200'],
  [{ ...some, locales: 'DE' }, 1000, '200'],
  [{ ...some, locales: 'de\nzh-hant' }, 1000, 'at most 300'],
  // None of the sample is not none at all.
  [{ ...some, channels: 'rare' }, 4000, 'a few'],
  [{ ...users, userIds: 'ada\ngrace\n' }, 4000, '2 users'],
  [{ ...users, userIds: 'ada\nada' }, 4000, '1 user'],
  [{ ...users, userIds: 'ada\nbob', isNarrowed: true, channels: 'news' }, 4000, 'at most 2 users'],
  [{ ...users, isPersonal: true, recipients: 'userId,name\nada,Ada' }, 4000, '1 user'],
  // What is not shown does not count.
  [{ channels: 'news', userIds: 'ada' }, 4000, '4,000'],
])('%j of %p subscribers goes to %p', (form, subscribers, text) => {
  const size = sizeOf(form, subscribers);
  expect(sizeText(size)).toBe(text);
  expect(size.nobody).toBeUndefined();
});

test.each([
  [193, 1000, 12_480, '2,400'],
  [51, 1000, 12_480, '640'],
  [1000, 1000, 12_480, '12,480'],
  [740, 1000, 1_000_000, '740,000'],
  [3, 9, 9, '3'],
])('%i of a sample of %i is %s of %s', (found, size, all, text) => {
  expect(estimateText(found, size, all)).toBe(text);
});

test('of a channel that a sample with many does not list, nothing is said', () => {
  const channels = Object.fromEntries(
    Array.from({ length: limits.sampled }, (_, at) => [`c-${at}`, 9]),
  );
  const size = sizeOf({ ...some, channels: 'rare' }, 1000, { ...sample, channels });
  expect(sizeText(size)).toBe('at most 1,000');
});

test.each<[form: Partial<SendForm>, subscribers: number, reason: string]>([
  [{}, 0, 'Nobody is subscribed yet.'],
  [{ ...some, channels: 'news' }, 0, 'Nobody is subscribed yet.'],
  [some, 4000, 'Choose a channel or a last visit.'],
  [{ ...some, channels: 'rare' }, 1000, 'No subscriber meets this.'],
  [users, 4000, 'Enter the id of a user.'],
])('%j of %p subscribers goes to nobody, because: %s', (form, subscribers, reason) => {
  expect(sizeOf(form, subscribers)).toMatchObject({ number: '0', nobody: reason });
});
