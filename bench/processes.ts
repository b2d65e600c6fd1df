import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

/** For files until this process exits. */
const temporaryFolder = mkdtempSync(join(tmpdir(), 'carillon-bench-'));
process.once('exit', () => rmSync(temporaryFolder, { recursive: true }));

/**
 * Bundles a program like the functions. A loader that compiles at run time would make each closure slower, and so
 * some senders more than others.
 * @returns the file.
 */
export async function bundle(entry: string): Promise<string> {
  const file = join(temporaryFolder, entry.replaceAll('/', '-').replace(/\.ts$/, '.mjs'));
  if (existsSync(file)) return file;
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    banner: {
      js:
        "import { createRequire as nodeCreateRequire } from 'node:module';" +
        'const require = nodeCreateRequire(import.meta.url);',
    },
    logLevel: 'error',
  });
  return file;
}

/** Starts a program in a process that ends with this one. The program gets the arguments as JSON. */
export function startChild(file: string, args: object) {
  const child = fork(file, [JSON.stringify(args)], { execArgv: [] });
  const exited = once(child, 'exit');
  return {
    /** Waits for the next message. @throws {Error} if the process exits without one. */
    async receive<Message>(): Promise<Message> {
      const exitCode = exited.then(([code]) => {
        throw new Error(`${file} exited with code ${code} before it sent a message.`);
      });
      const [message] = await Promise.race([once(child, 'message'), exitCode]);
      return message;
    },
    send: (message: object) => child.send(message),
    /** Kills the process. */
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill();
      await exited;
    },
  };
}
