import { describeFlags, readArguments } from '../../../admin/terminal/arguments.ts';

const flags = {
  name: { value: '<text>', help: 'what people call it' },
  'send-cap': { value: '<N>', help: 'most sends' },
  yes: { help: 'do not ask' },
  help: { help: 'print this' },
} as const;

describe('readArguments', () => {
  it('tells operands, switches and values apart, in any order', () => {
    expect(readArguments(['demo', '--name', 'A b', '--yes', '--send-cap=3'], flags)).toEqual({
      operands: ['demo'],
      flags: { name: 'A b', yes: true, 'send-cap': '3' },
    });
  });

  it('takes a value that starts with one dash, as one key in 64 does', () => {
    expect(readArguments(['--name', '-abc'], flags).flags).toEqual({ name: '-abc' });
  });

  it('takes what follows a double dash as operands', () => {
    expect(readArguments(['--', '--yes'], flags)).toEqual({ operands: ['--yes'], flags: {} });
  });

  it('takes -h for --help', () => {
    expect(readArguments(['-h'], flags).flags).toEqual({ help: true });
  });

  it.each([
    [['--send-kap', '3'], 'There is no option --send-kap. Did you mean --send-cap?'],
    [['--frobnicate'], 'There is no option --frobnicate.'],
    [['--toString'], 'There is no option --toString.'],
    [['-x'], 'There is no option -x.'],
    [['--name'], '--name needs a value: --name=<text>.'],
    [['--name', '--yes'], '--name needs a value: --name=<text>.'],
    [['--name='], '--name needs a value: --name=<text>.'],
    [['--yes=no'], '--yes takes no value.'],
    [['--yes', '--yes'], '--yes is given twice.'],
  ])('refuses %j', (args, message) => {
    expect(() => readArguments(args, flags)).toThrow(
      expect.objectContaining({ name: 'UsageError', message }),
    );
  });
});

describe('describeFlags', () => {
  it('lines the explanations up', () => {
    expect(describeFlags({ name: flags.name, yes: flags.yes })).toBe(
      '  --name <text>  what people call it\n  --yes          do not ask\n',
    );
  });
});
