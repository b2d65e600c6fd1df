import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

// Only the owner can read the files that the command creates: private keys are among its data.
// A shell without job control gives background commands /dev/null as standard input. Descriptor 3
// is a copy of the shell's own.
const shellScript = `
umask 077
exec 3<&0
"$@" </dev/null 3<&- & program=$!
{ cat <&3; kill $program; } >/dev/null 2>&1 &
wait $program
`;

/** How many characters of standard error are kept for an error message. */
const keptErrorCharacters = 2000;

/**
 * Starts a child process that ends when this process ends, even if this process is killed: a signal handler
 * could not ensure that. A shell between the two does: its standard input closes when this process
 * ends. The shell leads a process group, so that Ctrl-C in the terminal reaches this process only,
 * which then stops its children in order.
 * @param command a program and its parameters.
 */
export function startChildProcess(command: readonly string[], killTimeoutMs = 2000) {
  const shell = spawn('/bin/sh', ['-c', shellScript, 'sh', ...command], {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
  let errors = '';
  shell.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors = (errors + chunk).slice(-keptErrorCharacters);
  });
  const ended = exitCode(shell).then((code) => {
    shell.stdin.destroy();
    return {
      /** Exit code; 128 and more after a signal. Null: it could not be started, or was killed. */
      code,
      /** The last text of its standard error. */
      errors: errors.trim(),
    };
  });
  return {
    /** Resolves when the child has ended. */
    ended,
    /** Sends SIGTERM, and SIGKILL after the timeout. Resolves when the child has ended. */
    async stop() {
      shell.stdin.end();
      const timer = setTimeout(() => killGroup(shell), killTimeoutMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

async function exitCode(shell: ChildProcess): Promise<number | null> {
  // Not `close`: that event also waits for the background `cat`, which runs until the pipe closes.
  const [code] = await Promise.race([once(shell, 'exit'), once(shell, 'error')]);
  return typeof code === 'number' ? code : null;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}
