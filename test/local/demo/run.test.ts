import { runDemo } from '../../../local/demo/run.ts';
import { sharedAssembly } from '../../fixtures/assembly.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

/** The lines of a complete step on a stream that is not a terminal. */
const linesOf = (step: string, total: number) => [
  `  ${step}: 0 of ${total}`,
  `  ${step}: ${total} of ${total}`,
];

describe('runDemo', () => {
  it('finds the expected counts in every source', async () => {
    const terminal = testTerminal();
    const code = await runDemo(['--subscribers', '40', '--json'], terminal, {
      assembly: sharedAssembly(),
    });
    const { output, messages } = terminal.written();
    expect({ code, messages: messages.split('\n') }).toEqual({
      code: 0,
      messages: [
        '  Creating the tables …',
        ...linesOf('Subscribe', 40),
        ...linesOf('Broadcast', 40),
        ...linesOf('  beacons', 44),
        ...linesOf('Broadcast with faults', 40),
        ...linesOf('  beacons', 40),
        ...linesOf('Targeted send, one user id unknown', 1),
        ...linesOf('  beacons', 2),
        '',
      ],
    });
    const { notifications, differences } = JSON.parse(output);
    expect(differences).toEqual([]);
    expect(notifications).toMatchObject([
      { tables: { attempted: 40, delivered: 40, removed: 0, failed: 0, shown: 36, clicked: 8 } },
      { tables: { attempted: 40, delivered: 36, removed: 2, failed: 2, shown: 32, clicked: 8 } },
      { tables: { attempted: 1, delivered: 1, removed: 0, failed: 0, shown: 1, clicked: 1 } },
    ]);
  }, 60_000);

  it.each([
    [['--subscribers', '9'], 'a whole number from 10 to 100000'],
    [['--subscribers', 'many'], 'a whole number from 10 to 100000'],
    [['--subscriber', '20'], 'Did you mean --subscribers?'],
    [['now'], 'Too many arguments.'],
  ])('refuses %j with exit code 2', async (args, message) => {
    const terminal = testTerminal();
    expect(await runDemo(args, terminal)).toBe(2);
    expect(terminal.written().output).toBe('');
    expect(terminal.written().messages).toContain(message);
  });

  it('prints the help', async () => {
    const terminal = testTerminal();
    expect(await runDemo(['--help'], terminal)).toBe(0);
    expect(terminal.written().output).toContain('--subscribers <N>');
  });

  it('stops without a result when it is interrupted', async () => {
    const terminal = testTerminal();
    const interruption = new AbortController();
    const options = { assembly: sharedAssembly(), signal: interruption.signal };
    const demo = runDemo(['--subscribers', '5000'], terminal, options);
    interruption.abort();
    expect(await demo).toBe(130);
    expect(terminal.written().output).toBe('');
  });

  it('prints in one line why the stack cannot start', async () => {
    const terminal = testTerminal();
    expect(await runDemo([], terminal, { assembly: 'no/such/assembly' })).toBe(1);
    expect(terminal.written().messages).toMatch(/^Cannot read the assembly: .*\n$/);
  });
});
