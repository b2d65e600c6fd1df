import { failureText, pollPauseMs } from '../../../console/page/calls.ts';
import {
  agoText,
  dateText,
  monthEndText,
  rateText,
  shownRate,
} from '../../../console/page/format.ts';
import { issueAt } from '../../../console/page/send/send-field.tsx';
import { countOf } from '../../../contract/text/text.ts';
import { errorTable } from '../../../contract/wire/errors.ts';
import { CarillonError } from '../../../sdk/common/error.ts';

test.each([
  [1, 3, '33 %'],
  [1, 1000, '0.1 %'],
  [2, 10_000, '< 0.1 %'],
  [9996, 10_000, '99.9 %'],
  [5, 5, '100 %'],
  [0, 5, '0 %'],
  [0, 0, ''],
  // More clicks than deliveries: events of the others were lost.
  [110, 100, ''],
])('%i of %i is "%s"', (part, whole, text) => {
  expect(rateText(part, whole)).toBe(text);
});

test('counts have separators, and months an end', () => {
  expect(countOf(1, 'subscriber')).toBe('1 subscriber');
  expect(countOf(12_000, 'subscriber')).toBe('12,000 subscribers');
  expect(monthEndText('2026-11')).toBe('December 1');
  expect(monthEndText('2026-12')).toBe('January 1');
});

test.each([
  ['2026-11-24T11:59:30Z', '30s ago'],
  ['2026-11-24T11:58:30Z', expect.stringMatching(/^1m(in)? ago$/)],
  ['2026-11-24T10:00:00Z', '2h ago'],
  ['2026-11-23T12:00:00Z', 'Yesterday'],
  ['2026-11-20T12:00:00Z', 'Nov 20'],
  ['2025-11-20T12:00:00Z', 'Nov 20, 2025'],
  ['2026-11-24T12:00:05Z', 'Now'],
])('%s is "%s"', (iso, text) => {
  expect(agoText(iso, Date.parse('2026-11-24T12:00:00Z'))).toEqual(text);
});

test('a day of another year has the year', () => {
  expect(dateText('2025-12-31T12:00:00Z', Date.parse('2026-01-01T12:00:00Z'))).toBe('Dec 31, 2025');
});

/** The service tells these to a program. */
const ownSentences = [
  ...['unauthorized', 'unavailable', 'request_in_progress', 'idempotency_key_reused'],
  'outcome_unknown',
];

test.each(Object.entries(errorTable))(
  '%s has the sentence of the service, or one for a person',
  (code, { status }) => {
    const error = new CarillonError(code as keyof typeof errorTable, 'Its sentence.', { status });
    const { what } = failureText(error);
    expect(what).toMatch(/^[A-Z].+\.$/);
    expect(what === 'Its sentence.').toBe(!ownSentences.includes(code));
  },
);

test('a rate limit says when to try again', () => {
  const error = new CarillonError('rate_limited', 'Too many.', { status: 429, retryAfter: 7 });
  expect(failureText(error)).toEqual({ what: 'Too many.', advice: 'Try again in 7 s.' });
});

test.each([
  [false, 'Check your connection.'],
  [true, 'Is npm start running?'],
])('without a response, local %s, the advice is "%s"', (isLocal, advice) => {
  const error = new CarillonError('network_error', 'No response.');
  expect(failureText(error, isLocal)).toEqual({ what: 'No response from Carillon.', advice });
});

test.each([
  [0, 'sending', undefined, 2000],
  [3_600_000, 'sending', undefined, 2000],
  [59_000, 'sent', undefined, 2000],
  [61_000, 'sent', undefined, 10_000],
  [901_000, 'sent', undefined, undefined],
  [0, undefined, 30, 30_000],
] as const)(
  'after %i ms, status %s and Retry-After %s, the pause is %s ms',
  (elapsedMs, status, retryAfter, pauseMs) => {
    expect(pollPauseMs(elapsedMs, status, retryAfter)).toBe(pauseMs);
  },
);

test('an issue is a sentence with the labels of the form, and the line of a user id', () => {
  const issues = [
    { path: 'userIds[3]', message: 'is wrong' },
    { path: 'recipients[1].values.name', message: 'is required' },
    { path: 'recipients[2].userId', message: 'is the user id of recipients[0] too' },
    { path: 'recipients[2]', message: 'makes an invalid "title": it is too long' },
    { path: 'actions[0].title', message: 'is required' },
    { path: 'actions', message: 'must differ from each other in "action"' },
    { path: 'renotify', message: 'needs "tag", which names the notification to replace' },
    { path: 'lang', message: 'must be a language tag such as "en"' },
  ];
  const sentence = (path: string) => issueAt(issues, path);
  expect(sentence('recipients')).toBe('Recipients in row 3: name is required.');
  expect(issueAt(issues.slice(2), 'recipients')).toBe(
    'Recipients in row 4: userId is the user id of row 2 too.',
  );
  expect(issueAt(issues.slice(3), 'recipients')).toBe(
    'Recipients in row 4 makes an invalid “Title”: it is too long.',
  );
  expect(sentence('userIds')).toBe('User ids in line 4 is wrong.');
  expect(sentence('actions[0].title')).toBe('Text is required.');
  expect(sentence('actions[1].title')).toBeUndefined();
  expect(sentence('renotify')).toBe(
    'Alert again needs “Tag”, which names the notification to replace.',
  );
  expect(sentence('lang')).toBe('Language must be a language tag such as "en".');
  expect(issueAt([{ path: 'title', message: 'Write a title' }], 'title')).toBe('Write a title.');
  const ofAll = issues.filter(({ path }) => path === 'actions');
  expect(issueAt(ofAll, 'actions')).toBe('Buttons must differ from each other in “Name”.');
});

test('figures that follow from a sample of the browsers say so', () => {
  expect(shownRate({ delivered: 200, shown: 100, shownSample: 10 })).toBe('about 50 %');
  expect(shownRate({ delivered: 200, shown: 210, shownSample: 10 })).toBe('about 100 %');
  expect(shownRate({ delivered: 200, shown: 100 })).toBe('50 %');
  expect(shownRate({ delivered: 0, shown: 0, shownSample: 10 })).toBe('');
  expect(shownRate({ delivered: 200, shown: 210 })).toBe('');
  expect(shownRate({ delivered: 200, shown: null })).toBe('');
});
