import { failureText } from '../../../console/page/calls/failure-text.ts';
import { pollPauseMs } from '../../../console/page/calls/poll-pause.ts';
import { agoText, monthText, rateText } from '../../../console/page/format.ts';
import { clickRate, deliveredRate } from '../../../console/page/notifications/figures.ts';
import { issueAt } from '../../../console/page/send/form-context.ts';
import { countOf } from '../../../contract/count-text.ts';
import { errorTable } from '../../../contract/errors.ts';
import { audienceText } from '../../../contract/openapi/audience-text.ts';
import { CarillonError } from '../../../sdk/common/error.ts';

test('an audience is everyone, or a number of user ids', () => {
  expect(audienceText({ audience: 'everyone' })).toBe('everyone');
  expect(audienceText({ audience: { users: 1 } })).toBe('1 user id');
  expect(audienceText({ audience: { users: 12 } })).toBe('12 user ids');
});

test('an audience with conditions names those that were given', () => {
  const [channels, seenWithinDays] = [['news', 'sales'], 30];
  expect(audienceText({ audience: { channels } })).toBe('everyone, with news or sales');
  expect(audienceText({ audience: { seenWithinDays: 1 } })).toBe('everyone, seen within 1 day');
  expect(audienceText({ audience: { users: 2, channels, seenWithinDays } })).toBe(
    '2 user ids, with news or sales, seen within 30 days',
  );
});

test.each([
  [1, 3, '33 %'],
  [1, 1000, '0.1 %'],
  [2, 10_000, '< 0.1 %'],
  [9996, 10_000, '99.9 %'],
  [5, 5, '100 %'],
  [0, 5, '0 %'],
  [0, 0, ''],
])('%i of %i is "%s"', (part, whole, text) => {
  expect(rateText(part, whole)).toBe(text);
});

test('counts have separators and months have names', () => {
  expect(countOf(1, 'subscriber')).toBe('1 subscriber');
  expect(countOf(12_000, 'subscriber')).toBe('12,000 subscribers');
  expect(monthText('2026-01')).toBe('January 2026');
});

test.each([
  ['2026-11-24T11:59:30Z', '30s ago'],
  ['2026-11-24T11:00:00Z', '1h ago'],
  ['2026-11-23T12:00:00Z', 'yesterday'],
  ['2026-11-24T12:00:05Z', 'now'],
  ['2026-08-01T12:00:00Z', 'Aug 1, 2026'],
])('%s is "%s"', (iso, text) => {
  expect(agoText(iso, Date.parse('2026-11-24T12:00:00Z'))).toBe(text);
});

test.each(Object.entries(errorTable))(
  '%s has the sentence of the service, or a clearer one',
  (code, { status }) => {
    const error = new CarillonError(code as keyof typeof errorTable, 'Its sentence.', { status });
    const { what, advice } = failureText(error);
    expect(code === 'unauthorized' ? advice : what).toBeTruthy();
    if (code !== 'unauthorized') expect(what).toBe('Its sentence.');
  },
);

test('a rate limit says when to try again', () => {
  const error = new CarillonError('rate_limited', 'Too many.', { status: 429, retryAfter: 7 });
  expect(failureText(error)).toEqual({ what: 'Too many.', advice: 'Try again in 7 s.' });
});

test('without a response, the advice names the connection and the command that serves the page', () => {
  const { advice } = failureText(new CarillonError('network_error', 'No response.'));
  expect(advice).toContain('your connection, or that npm start');
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
    { path: 'recipients[2]', message: 'makes an invalid "title": it is too long' },
    { path: 'actions[0].title', message: 'is required' },
    { path: 'actions', message: 'must differ from each other in "action"' },
    { path: 'renotify', message: 'needs "tag", which names the notification to replace' },
    { path: 'lang', message: 'must be a language tag such as "en"' },
  ];
  const sentence = (path: string) => issueAt(issues, path);
  expect(sentence('recipients')).toBe('Recipients in line 3: name is required.');
  expect(issueAt(issues.slice(2), 'recipients')).toBe(
    'Recipients in line 4 makes an invalid “Title”: it is too long.',
  );
  expect(sentence('userIds')).toBe('User ids in line 4 is wrong.');
  expect(sentence('actions[0].title')).toBe('Text is required.');
  expect(sentence('actions[1].title')).toBeUndefined();
  expect(sentence('renotify')).toBe(
    'Alert again needs “Tag”, which names the notification to replace.',
  );
  expect(sentence('lang')).toBe('Language must be a language tag such as "en".');
  const ofAll = issues.filter(({ path }) => path === 'actions');
  expect(issueAt(ofAll, 'actions')).toBe('Buttons must differ from each other in “Name”.');
});

test('figures that follow from a sample of the browsers say so', () => {
  const counts = { attempted: 200_000, delivered: 200_000, shown: 100_000, clicked: 5000 };
  expect(clickRate({ ...counts, shownSample: 10 })).toBe('about 5 %');
  expect(clickRate(counts)).toBe('5 %');
  expect(clickRate({ ...counts, shown: 0, shownSample: 10 })).toBe('–');
  expect(deliveredRate({ ...counts, shownSample: 10 })).toBe('100 %');
});
