import { fork } from 'node:child_process';
import { once } from 'node:events';

interface ChildOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node. */
  readonly flags?: readonly string[];
}

/** Starts a child process that responds to one message at a time. */
export function startChild(file: string, { args = [], env = {}, flags = [] }: ChildOptions = {}) {
  const child = fork(file, args, { env: { ...process.env, ...env }, execArgv: [...flags] });
  const exited = once(child, 'exit');
  /** @throws {Error} if the process exits without a message. */
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
    receive,
    /** Sends a message. @returns the response. */
    request<Message>(message: object) {
      const response = receive<Message>();
      child.send(message);
      return response;
    },
    /** Kills the process. */
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill();
      await exited;
    },
    /** Closes the channel and waits until the process exits. */
    async disconnect() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
