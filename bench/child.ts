import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A child process that responds to one message at a time. */
export interface Child {
  readonly process: ChildProcess;
  /** @throws {Error} if the process exits without a message. */
  receive<Message>(): Promise<Message>;
  /** Sends a message. @returns the response. */
  request<Message>(message: object): Promise<Message>;
  /** Kills the process. */
  stop(): Promise<void>;
  /** Closes the channel and waits until the process exits. */
  disconnect(): Promise<void>;
}

export interface ChildOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node. */
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
          throw new Error(`${file} exited with code ${code} before it sent a message.`);
        }),
      ]);
    } finally {
      received.abort();
    }
  };
  return {
    process: child,
    receive,
    request<Message>(message: object) {
      const response = receive<Message>();
      child.send(message);
      return response;
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
