import { runDemo } from '../../../local/demo/run.ts';
import { sharedAssembly } from '../../fixtures/assembly.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

/** The lines of a step that was done in full, where there is no terminal. */
const steps = (step: string, total: number) => [
  `  ${step}: 0 of ${total}`,
  `  ${step}: ${total} of ${total}`,
];

describe('runDemo', () => {
  it('finds that all witnesses agree on what became of every notification', async () => {
    const terminal = testTerminal();
    const code = await runDemo(['--subscribers', '40', '--json'], terminal, {
      assembly: sharedAssembly(),
    });
    const { output, messages } = terminal.written();
    expect({ code, messages: messages.split('\n') }).toEqual({
      code: 0,
      messages: [
        '  Creating the tables …',
        ...steps('Subscribing', 40),
        ...steps('To everyone', 40),
        ...steps('  and their beacons', 44),
        ...steps('To everyone, some of whom left', 40),
        ...steps('  and their beacons', 40),
        ...steps('To some users, one of them unknown', 1),
        ...steps('  and their beacons', 2),
        '',
      ],
    });
    const { accounts, differences } = JSON.parse(output);
    expect(differences).toEqual([]);
    expect(accounts).toMatchObject([
      { stored: { attempted: 40, delivered: 40, removed: 0, failed: 0, shown: 36, clicked: 8 } },
      { stored: { attempted: 40, delivered: 36, removed: 2, failed: 2, shown: 32, clicked: 8 } },
      { stored: { attempted: 1, delivered: 1, removed: 0, failed: 0, shown: 1, clicked: 1 } },
    ]);
  }, 60_000);

  it.each([
    [['--subscribers', '9'], 'a whole number from 10 to 20000'],
    [['--subscribers', 'many'], 'a whole number from 10 to 20000'],
    [['--subscriber', '20'], 'Did you mean --subscribers?'],
    [['now'], 'Too many arguments.'],
  ])('answers %j with code 2', async (args, message) => {
    const terminal = testTerminal();
    expect(await runDemo(args, terminal)).toBe(2);
    expect(terminal.written().output).toBe('');
    expect(terminal.written().messages).toContain(message);
  });

  it('answers --help', async () => {
    const terminal = testTerminal();
    expect(await runDemo(['--help'], terminal)).toBe(0);
    expect(terminal.written().output).toContain('--subscribers <N>');
  });

  it('ends early when it is told to, and prints no result', async () => {
    const terminal = testTerminal();
    const interruption = new AbortController();
    const options = { assembly: sharedAssembly(), signal: interruption.signal };
    const demo = runDemo(['--subscribers', '5000'], terminal, options);
    interruption.abort();
    expect(await demo).toBe(130);
    expect(terminal.written().output).toBe('');
  });

  it('says in one line why a stack cannot start', async () => {
    const terminal = testTerminal();
    expect(await runDemo([], terminal, { assembly: 'no/such/assembly' })).toBe(1);
    expect(terminal.written().messages).toMatch(/^The assembly is broken: .*\n$/);
  });
});
