import { styleText } from 'node:util';
import { Command } from 'commander';
import { newCommand, runCommandLine } from '../../../admin/terminal/command-line.ts';
import { type Column, table } from '../../../admin/terminal/table.ts';
import { paintFor, printable, printableJson } from '../../../admin/terminal/terminal.ts';
import packageJson from '../../../package.json';
import { testTerminal } from '../../fixtures/terminal.ts';

describe('paintFor', () => {
  const red = '\u001b[31mx\u001b[39m';

  it('adds no colours if NO_COLOR is set and not empty', () => {
    const { output } = testTerminal({ isTTY: true });
    expect(paintFor(output, { NO_COLOR: '1' })('red', 'x')).toBe('x');
    expect(paintFor(output, { NO_COLOR: '' })('red', 'x')).toBe(red);
  });
});

describe('printable', () => {
  it.each([
    ['\u001b[31m', '\\u001b[31m'],
    ['a\nb\tc\r', 'a\\u000ab\\u0009c\\u000d'],
    ['\u007f\u009b', '\\u007f\\u009b'],
    ['\u2028\u2029', '\\u2028\\u2029'],
    ['\u202e\u2066', '\\u202e\\u2066'],
    ['\ud800', '\\ud800'],
  ])('escapes %j', (text, escaped) => {
    expect(printable(text)).toBe(escaped);
  });

  it.each(['', 'Übergröße', '鐘楼', '🔔', '👩‍👩‍👧'])('keeps %j', (text) => {
    expect(printable(text)).toBe(text);
  });
});

describe('printableJson', () => {
  it('parses to the same value and has no control characters except line feeds', () => {
    const value = { name: 'a\u001b\u009b\n\u2028\u202e"\\🔔', list: [1, null] };
    const text = printableJson(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Bidi_Control}]/u);
    expect(text.split('\n')).toHaveLength(7);
  });
});

describe('table', () => {
  it('aligns cells under their titles, without trailing spaces', () => {
    const columns: readonly Column<readonly [string, string, string]>[] = [
      ['name', ([name]) => name],
      ['count', ([, count]) => count, 'right'],
      ['note', ([, , note]) => note],
    ];
    const rows = [
      ['a', '1', ''],
      ['longer', '12,345', 'yes'],
    ] as const;
    expect(table(columns, rows)).toBe(
      'name     count  note\n' + 'a            1\n' + 'longer  12,345  yes\n',
    );
  });

  it('ignores colour codes when it aligns', () => {
    const red = styleText('red', 'ab', { validateStream: false });
    expect(
      table(
        [
          ['x', ({ x }) => x],
          ['y', ({ y }) => y],
        ],
        [
          { x: red, y: '1' },
          { x: 'abc', y: '2' },
        ],
      ),
    ).toBe(`x    y\n${red}   1\nabc  2\n`);
  });
});

/** Runs `tool add`, whose action keeps what it is called with. */
async function run(...args: readonly string[]) {
  const terminal = testTerminal();
  const calls: unknown[] = [];
  const program = new Command('tool').option('--json', 'print JSON');
  const add = newCommand('add', 'Adds an item.', 'demo --yes', '')
    .argument('[item]')
    .option('--name <text>', 'its name')
    .option('--send-cap <N>', 'most sends')
    .option('--yes', 'do not ask')
    .action((item: string | undefined, options: object) => {
      if (item === 'broken') throw new Error('It\nbroke.');
      calls.push({ item, ...options, ...program.opts() });
    });
  program.addCommand(add);
  const code = await runCommandLine(program, args, terminal);
  return { code, calls, ...terminal.written() };
}

describe('runCommandLine', () => {
  it('accepts arguments, switches and values in any order', async () => {
    const { calls } = await run('--json', 'add', '--name', 'A b', 'demo', '--yes', '--send-cap=3');
    expect(calls).toEqual([{ item: 'demo', name: 'A b', yes: true, sendCap: '3', json: true }]);
  });

  // One VAPID key in 64 starts with a hyphen, one in 4,096 with two.
  it.each([
    [['--name', '-abc'], '-abc'],
    [['--name', '-habc'], '-habc'],
    [['--name=--abc'], '--abc'],
  ])('accepts a value that starts with a hyphen: %j', async (args, name) => {
    expect((await run('add', ...args)).calls).toEqual([{ name }]);
  });

  it('accepts an option as the API would spell it', async () => {
    expect((await run('add', '--sendCap', '3')).calls).toEqual([{ sendCap: '3' }]);
    expect((await run('add', '--sendCap=3')).calls).toEqual([{ sendCap: '3' }]);
    expect((await run('add', '--', '--sendCap')).calls).toEqual([{ item: '--sendCap' }]);
  });

  it('takes what follows a double hyphen as an argument', async () => {
    expect((await run('add', '--', '--yes')).calls).toEqual([{ item: '--yes' }]);
  });

  it.each([
    [['--send-kap', '3'], "Unknown option '--send-kap'. Did you mean --send-cap?"],
    [['--sendKap', '3'], "Unknown option '--sendKap'. Did you mean --send-cap?"],
    [['--frobnicate'], "Unknown option '--frobnicate'."],
    [['--toString'], "Unknown option '--toString'."],
    [['-x'], "Unknown option '-x'."],
    [['--name'], "Option '--name <text>' argument missing."],
    [['--name', '--yes'], "Option '--name <text>' argument missing."],
    [['--name='], "Option '--name <text>' argument missing."],
    [['--yes=no'], "Unknown option '--yes=no'. Did you mean --yes?"],
    [['--yes', '--yes'], "Option '--yes' is given twice."],
    [['--name=a', '--name=b'], "Option '--name <text>' is given twice."],
    [['--json', '--yes', '--yes'], "Option '--yes' is given twice."],
  ])('refuses %j', async (args, message) => {
    const { code, calls, output, messages } = await run('add', ...args);
    expect({ code, calls, output }).toEqual({ code: 2, calls: [], output: '' });
    if (args.includes('--json')) {
      expect(JSON.parse(messages)).toEqual({ error: { code: 'usage', message } });
    } else {
      expect(messages).toBe(`${message}\nSee: tool add --help\n`);
    }
  });

  it('prints a failure of the action as one line', async () => {
    const { code, messages } = await run('add', 'broken');
    expect({ code, messages }).toEqual({ code: 1, messages: 'It broke.\n' });
  });

  it('prints the help of a command with its examples', async () => {
    const { code, output, messages } = await run('add', '-h');
    expect({ code, messages }).toEqual({ code: 0, messages: '' });
    expect(output).toContain('Usage: tool add [options] [item]\n');
    expect(output).toMatch(/ {2}--name <text> +its name\n/);
    expect(output).toMatch(/Examples:\n {2}tool add demo --yes\n {2}tool add\n$/);
  });

  it('prints the version of the package', async () => {
    expect(await run('--version')).toMatchObject({ code: 0, output: `${packageJson.version}\n` });
  });
});
