import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { limits } from '../../contract/limits.ts';

const { notificationRetentionDays, idempotencyHours } = limits;

/** Texts with a limit's number, which a change of the limit would make wrong. */
const written = new RegExp(
  `\\b${notificationRetentionDays}[ -]days?\\b|\\bkeys?\\b[^.]*\\b${idempotencyHours} hours\\b`,
);
const generated = /<!-- generated: [\s\S]*?<!-- end -->/g;
const folders = 'contract lambdas lib admin bin console sdk local bench examples docs';
const files = execFileSync('git', ['ls-files', ...folders.split(' '), '*.md'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|tsx|md)$/.test(file) && file !== 'CHANGELOG.md');

test('how long notifications and keys are kept is written in contract/limits.ts only', () => {
  const wrong = files.filter((file) =>
    written.test(readFileSync(file, 'utf8').replaceAll(generated, '')),
  );
  expect(wrong).toEqual([]);
});

test.each([
  [`It is kept for ${notificationRetentionDays} days.`, true],
  [`A key is recognised for\n${idempotencyHours} hours`, true],
  [`within ${idempotencyHours} hours`, false],
])('of %j, the pattern says %p', (text, expected) => {
  expect(written.test(text)).toBe(expected);
});
