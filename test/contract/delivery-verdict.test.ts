import { failureReasons } from '../../contract/wire/counts.ts';
import {
  audienceText,
  deliveryVerdict,
  failureTexts,
  isLossNoticeable,
  needsAttention,
} from '../../contract/wording/delivery-verdict.ts';
import { judgedOf, outcomeRows } from '../fixtures/outcome-rows.ts';

const subscribers = 12_480;

test.each(outcomeRows)('%j is %s', (...row) => {
  const [, word, tone, icon, sentence] = row;
  const expected = { word, tone, icon, sentence };
  expect(deliveryVerdict(judgedOf(row), subscribers)).toEqual(expected);
});

test('a send whose project is not known has no total', () => {
  const sending = { ...judgedOf([{ status: 'sending' }, 'Sending', 'info', 'ring', '']) };
  expect(deliveryVerdict(sending).sentence).toBe('0 delivered so far.');
});

test('more may be delivered than there were subscribers when they were counted', () => {
  const sending = { ...judgedOf(outcomeRows[1]!), attempted: 20_000, delivered: 20_000 };
  expect(deliveryVerdict(sending, subscribers).sentence).toBe(
    '20,000 delivered so far, of about 20,000.',
  );
});

test('somebody should look at what was lost, not at what is going on, was stopped or had nobody', () => {
  const words = outcomeRows.filter((row) => needsAttention(judgedOf(row))).map(([, word]) => word);
  expect([...new Set(words)].sort()).toEqual([
    'Failed',
    'Interrupted',
    'Mostly failed',
    'Partly delivered',
  ]);
});

test('a loss is noticeable from a twentieth of the audience on', () => {
  const counts = { audience: 'everyone', delivered: 0 } as const;
  expect(isLossNoticeable({ ...counts, attempted: 100, failed: 5 })).toBe(true);
  expect(isLossNoticeable({ ...counts, attempted: 101, failed: 5 })).toBe(false);
  expect(isLossNoticeable({ ...counts, attempted: 95, failed: 0, unreached: 5 })).toBe(true);
});

test.each([
  ['everyone', 'everyone'],
  [{ users: 1 }, '1 user'],
  [{ users: 1200 }, '1,200 users'],
  [{ channels: ['news'] }, 'channel news'],
  [
    { seenWithinDays: 30, channels: ['news', 'sales'] },
    'channels news or sales, seen within 30 days',
  ],
  [{ seenWithinDays: 1 }, 'subscribers seen within 1 day'],
  [{ users: 2, channels: ['news'] }, '2 users, channel news'],
] as const)('the audience %j is "%s"', (audience, text) => {
  expect(audienceText({ audience } as Parameters<typeof audienceText>[0])).toBe(text);
});

test('an audience whose users each get a text is personal', () => {
  expect(audienceText({ audience: { users: 2 }, title: 'Hello {{name}}' })).toBe(
    '2 users, personal',
  );
});

test('each reason for a failure has a heading, sentences, and not more than one action', () => {
  expect(Object.keys(failureTexts).sort()).toEqual(Object.keys(failureReasons).sort());
  const headings = Object.values(failureTexts).map(({ heading }) => heading);
  expect(new Set(headings).size).toBe(headings.length);
  for (const { heading, text } of Object.values(failureTexts)) {
    expect(heading).toMatch(/^[A-Z].*[^.]$/);
    expect(text).toMatch(/\.$/);
  }
});

test('every reason for failure is a sentence that may follow "because"', () => {
  for (const { meaning } of Object.values(failureReasons)) {
    expect(meaning).toMatch(/^(The|There|This) .*[^.]\.$/);
  }
});
