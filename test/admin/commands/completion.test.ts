import { spawnSync } from 'node:child_process';
import { runCarillon } from '../../../admin/commands/run.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

async function script(shell: string): Promise<string> {
  const terminal = testTerminal();
  expect(await runCarillon(['completion', shell], terminal, 'none')).toBe(0);
  return terminal.written().output;
}

/** What bash offers for the last of the words. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const line = ['carillon', ...words].map((word) => `'${word}'`).join(' ');
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-s'], {
    input: `${await script('bash')}
      COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _carillon; printf '%s\\n' "\${COMPREPLY[@]}"`,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

test('bash completes commands and options', async () => {
  expect(await offered('rot')).toEqual(['rotate-key', 'rotate-identity-key', 'rotate-vapid']);
  expect(await offered('subscriptions', '')).toEqual(
    expect.arrayContaining(['import', 'export', '--local', '--help']),
  );
  expect(await offered('subscriptions', 'import', 'my-site', '--d')).toEqual(['--dry-run']);
  expect(await offered('send', 'my-site', '--t')).toEqual(['--title']);
  // A project may be called like a command.
  expect(await offered('send', 'stats', '--wat')).toEqual([]);
});

test('the script for zsh lets it run the one for bash', async () => {
  expect(await script('zsh')).toContain(await script('bash'));
});

test('the script for fish has every command', async () => {
  const text = await script('fish');
  expect(text).toContain("-n '__fish_seen_subcommand_from send' -a '--user --channel");
  expect(text).toContain(
    "-n '__fish_seen_subcommand_from subscriptions; and __fish_seen_subcommand_from import' -a '--dry-run",
  );
});

test('another shell is refused with the known ones', async () => {
  const terminal = testTerminal();
  expect(await runCarillon(['completion', 'ksh'], terminal, 'none')).toBe(2);
  expect(terminal.written().messages).toContain('Allowed choices are bash, zsh, fish.');
});
