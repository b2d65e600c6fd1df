import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of the benchmark's own, which answers messages one at a time. */
export interface Child {
  readonly process: ChildProcess;
  /** @throws {Error} where the process ends without an answer. */
  receive<Message>(): Promise<Message>;
  ask<Message>(question: object): Promise<Message>;
  /** Kills it. */
  stop(): Promise<void>;
  /** Leaves it to end by itself. */
  disconnect(): Promise<void>;
}

export interface ChildOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Node's own. */
  readonly flags?: readonly string[];
}

export function startChild(
  file: string,
  { args = [], env = {}, flags = [] }: ChildOptions = {},
): Child {
  const child = fork(file, args, { env: { ...process.env, ...env }, execArgv: [...flags] });
  const exited = once(child, 'exit');
  const receive = async <Message>() => {
    const received = new AbortController();
    const { signal } = received;
    try {
      return await Promise.race([
        once(child, 'message', { signal }).then(([message]) => message as Message),
        exited.then(([code]) => {
          throw new Error(`${file} ended with ${code}.`);
        }),
      ]);
    } finally {
      received.abort();
    }
  };
  return {
    process: child,
    receive,
    ask<Message>(question: object) {
      const answer = receive<Message>();
      child.send(question);
      return answer;
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill();
      await exited;
    },
    async disconnect() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
