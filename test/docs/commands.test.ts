import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { settingTexts } from '../../contract/wording/setting-texts.ts';
import { callWithoutStack, helpTexts, wordsOf } from '../fixtures/call-command.ts';

const documents = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' })
  .trim()
  .split('\n');

/** They begin with the alias `carillon`. */
const forOperators = ['docs/runbook.md', 'docs/backup.md'];

/** Lines of shell code, and texts between backquotes. */
function codeOf(document: string): readonly string[] {
  const text = readFileSync(document, 'utf8');
  const found = text.matchAll(/^ *```sh\n([\s\S]*?)```|`([^`]+)`/gm);
  return [...found].flatMap(([, lines, span]) => lines?.split('\n') ?? span!.replace(/\s+/g, ' '));
}

const calls = documents.flatMap((document) => {
  const program = forOperators.includes(document) ? 'carillon' : 'npm run -s carillon --';
  return codeOf(document).flatMap((line) => {
    const [before, call] = line.split(`${program} `);
    // Not the names of commands that are chosen by their reader.
    if (before!.trim() !== '' || call === undefined || /^[<…]/.test(call)) return [];
    return [[document, call.split(/ (?:[|<>#]|&&) /)[0]!] as const];
  });
});

test.each(calls)('%s: the command takes "%s"', async (_, call) => {
  const args = wordsOf(call.replace(/<[^>]*>/g, 'ada'));
  expect(await callWithoutStack(args)).not.toMatchObject({ code: 2 });
});

test.each(forOperators)('every option that %s names alone exists', async (document) => {
  const options = codeOf(document).filter((code) => code.startsWith('--'));
  const known = (await helpTexts()).join('\n');
  expect(options.filter((option) => !known.includes(`${option.split(/[ =]/)[0]} `))).toEqual([]);
  expect(options.length).toBeGreaterThan(3);
});

const options = Object.values(settingTexts).map(({ option }) => `--${option[0]}`);
test.each(options)('a document has the option %s of a project', (option) => {
  const codes = documents.flatMap(codeOf);
  expect(codes.some((code) => code.split(' ').includes(option))).toBe(true);
});
