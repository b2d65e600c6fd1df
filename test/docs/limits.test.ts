import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { defaultLimits, limits } from '../../contract/wire/limits.ts';
import { signUserId } from '../../sdk/server/carillon-server.ts';

const { notificationRetentionDays, idempotencyHours } = limits;

/** Texts with a limit's number, which a change of the limit would make wrong. */
const written = new RegExp(
  `\\b${notificationRetentionDays}[ -]days?\\b|\\bkeys?\\b[^.]*\\b${idempotencyHours} hours\\b`,
);
const generated = /<!-- generated: [\s\S]*?<!-- end -->/g;
const folders = 'contract lambdas lib admin aws-emulator bin console sdk local bench examples docs';
const files = execFileSync('git', ['ls-files', ...folders.split(' '), '*.md'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|tsx|md)$/.test(file) && file !== 'CHANGELOG.md');

test('how long notifications and keys are kept is written in contract/wire/limits.ts only', () => {
  const wrong = files.filter((file) =>
    written.test(readFileSync(file, 'utf8').replaceAll(generated, '')),
  );
  expect(wrong).toEqual([]);
});

/** The second has a number of its own, so that its file stays small: the test below compares it. */
const exempt = ['contract/wire/limits.ts', 'sdk/server/carillon-server.ts'];
const number = (limit: number) => limit.toLocaleString('en');

test('lengths, sizes and numbers of things are written in contract/wire/limits.ts only', () => {
  const lengths = [limits.urlLength, limits.userIdLength, limits.titleLength];
  const sizes = [limits.messageBytes, limits.messageBytesEverywhere, limits.dataBytes];
  const patterns = [
    `\\b(${lengths.map(number).join('|')}) characters\\b`,
    `\\b(${[...sizes, ...Object.values(limits.bodyBytes)].map(number).join('|')}) bytes\\b`,
    `\\b${number(limits.userIds)} (user ids|\`?recipients|\`?userIds)\\b`,
    `\\b${limits.channels} channels\\b|\\b${limits.members} members\\b|\\bfour weeks\\b`,
    `\\b${limits.seenWithinDays} days\\b|\\b${defaultLimits.rateLimitPerMinute} requests\\b`,
  ].map((pattern) => new RegExp(pattern));
  const wrong = files.filter((file) => {
    if (!/\.tsx?$/.test(file) || exempt.includes(file)) return false;
    const text = readFileSync(file, 'utf8');
    return patterns.some((pattern) => pattern.test(text));
  });
  expect(wrong).toEqual([]);
});

test('the SDK signs user ids up to the limit', () => {
  const identityKey = `carillon_id_${'A'.repeat(43)}`;
  const longest = 'x'.repeat(limits.userIdLength);
  expect(signUserId(identityKey, longest)).toMatch(/^[\w-]{43}$/);
  expect(() => signUserId(identityKey, `${longest}x`)).toThrow(`1 to ${longest.length} characters`);
});

test('the sizes of a message in its document are the limits', () => {
  const { messageBytes, messageBytesEverywhere } = limits;
  const text = readFileSync('docs/message.md', 'utf8');
  expect(text).toContain(`| up to ${number(messageBytesEverywhere)} |`);
  expect(text).toContain(`| ${number(messageBytesEverywhere + 1)} to ${number(messageBytes)} |`);
  expect(text).toContain(`| above ${number(messageBytes)} |`);
});

test.each([
  [`It is kept for ${notificationRetentionDays} days.`, true],
  [`A key is recognised for\n${idempotencyHours} hours`, true],
  [`within ${idempotencyHours} hours`, false],
])('of %j, the pattern says %p', (text, expected) => {
  expect(written.test(text)).toBe(expected);
});
