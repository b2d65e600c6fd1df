import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * A program that ends with this process, however this process ends. A signal handler could not
 * see to that when the process is killed; the shell in between does, since its standard input
 * closes then. The program leads a process group of its own, so that Ctrl-C in the terminal
 * reaches this process alone, which stops what it started in its own order.
 */
export interface BoundProcess {
  /** Settles when the program has ended, with what it wrote last to standard error. */
  readonly ended: Promise<string>;
  /** Asks the program to end, insists after two seconds, and waits for it. */
  stop(): Promise<void>;
}

// A background command of a shell without job control has no standard input of its own: hence
// the copy as descriptor 3.
const lifeline = `
exec 3<&0
"$@" </dev/null 3<&- & program=$!
{ cat <&3; kill $program; } >/dev/null 2>&1 &
wait $program
`;

/** Characters of standard error kept for a message. */
const errorTail = 2000;

export function startBoundProcess(command: string, ...parameters: string[]): BoundProcess {
  const shell = spawn('/bin/sh', ['-c', lifeline, 'sh', command, ...parameters], {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
  let errors = '';
  shell.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors = (errors + chunk).slice(-errorTail);
  });
  const ended = ending(shell).then(() => {
    shell.stdin.destroy();
    return errors.trim();
  });
  return {
    ended,
    async stop() {
      shell.stdin.end();
      const insist = setTimeout(() => killGroup(shell), 2000);
      await ended;
      clearTimeout(insist);
    },
  };
}

async function ending(shell: ChildProcess): Promise<void> {
  // `close` would wait for the watching half of the shell, which lives as long as the pipe.
  await Promise.race([once(shell, 'exit'), once(shell, 'error')]);
}

function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}
