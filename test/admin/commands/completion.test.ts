import { spawnSync } from 'node:child_process';
import { runCarillon } from '../../../admin/commands/run.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

async function script(shell: string): Promise<string> {
  const terminal = testTerminal();
  expect(await runCarillon(['completion', shell], terminal, 'none')).toBe(0);
  return terminal.written().output;
}

/** How a shell prints what it offers for the last of the words, one a line. */
const offers: Readonly<Record<string, (words: readonly string[]) => string>> = {
  bash: (words) => `
    COMP_WORDS=(${quoted(['carillon', ...words])}); COMP_CWORD=${words.length}
    _carillon; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // zsh leaves out what does not match.
  zsh: (words) => `
    COMP_WORDS=(${quoted(['carillon', ...words])}); COMP_CWORD=${words.length}
    compgen -F _carillon | grep -e '^${words.at(-1)}'; true`,
  fish: (words) =>
    `complete -C '${['carillon', ...words].join(' ')}' | string replace -r '\\t.*' ''`,
};

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ');
const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

describe.each(Object.keys(offers))('%s', (shell) => {
  const testHere = shell === 'bash' || isInstalled(shell) ? test : test.skip;

  async function offered(...words: readonly string[]): Promise<readonly string[]> {
    const commands = `${await script(shell)}\n${offers[shell]!(words)}`;
    const { stdout, stderr } = spawnSync(shell, ['-c', commands], { encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.split('\n').filter(Boolean).sort();
  }

  testHere('completes commands and options', async () => {
    expect(await offered('rot')).toEqual(['rotate-identity-key', 'rotate-key', 'rotate-vapid']);
    expect(await offered('subscriptions', 'e')).toEqual(['export']);
    expect(await offered('--local', 'subscriptions', 'i')).toEqual(['import']);
    expect(await offered('subscriptions', 'import', 'my-site', '--d')).toEqual(['--dry-run']);
    expect(await offered('send', 'my-site', '--t')).toEqual(['--title']);
  });

  testHere('completes those of the command, where others have the same name', async () => {
    expect(await offered('delete', 'my-site', '--d')).toEqual(['--dry-run']);
    expect(await offered('users', 'delete', 'my-site', '--d')).toEqual([]);
    // A project may be called like a command.
    expect(await offered('send', 'stats', '--wat')).toEqual([]);
  });
});

test('the script names the files of the command, whatever folder it is printed in', async () => {
  const root = process.cwd();
  process.chdir('/');
  try {
    expect(await script('bash')).toContain(`'${root}/bin/carillon.ts'`);
  } finally {
    process.chdir(root);
  }
});

test('another shell is refused with the known ones', async () => {
  const terminal = testTerminal();
  expect(await runCarillon(['completion', 'ksh'], terminal, 'none')).toBe(2);
  expect(terminal.written().messages).toContain('Allowed choices are bash, zsh, fish.');
});
