import { Command, InvalidArgumentError } from 'commander';
import { runCommandLine, withExamples } from '../admin/terminal/command-line.ts';
import type { Terminal } from '../admin/terminal/terminal.ts';
import { readBaseUrl } from '../sdk/common/option-checks.ts';
import { startConsoleServer } from './console-server.ts';

interface ConsoleOptions {
  readonly baseUrl: string;
  readonly port: number;
  readonly watch: boolean;
}

const defaultPort = 4010;

/**
 * The command that serves the console of a deployed service, until the signal aborts.
 * @param root root directory of the repository.
 * @returns the exit code: 0, 1 if the server could not start, 2 if it was called wrongly.
 */
export function runConsole(
  args: readonly string[],
  terminal: Terminal,
  root: string,
  signal: AbortSignal,
): Promise<0 | 1 | 2> {
  const program = new Command('npm run -s console --')
    .description(
      'Serves the console of a deployed service on this machine, and forwards its calls to the service.\n' +
        'For the local service, open the address that npm start prints.',
    )
    .requiredOption('--base-url <url>', 'address of the service', readServiceUrl)
    .option('--port <number>', 'port on this machine', readPort, defaultPort)
    .option('--watch', 'builds and loads the page again when one of its files changes', false)
    .action(async ({ baseUrl, port, watch }: ConsoleOptions) => {
      const options = { root, baseUrl, port, watch: watch ? signal : undefined };
      const server = await startConsoleServer(options).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE') throw error;
        throw new Error(`Port ${port} is in use; choose another with --port.`);
      });
      terminal.output.write(
        `The console of ${baseUrl} is at ${server.origin}\nPress Ctrl-C to stop.\n`,
      );
      if (!signal.aborted) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }
      await server.stop();
    });
  withExamples(program, '--base-url https://push.example.com');
  return runCommandLine(program, args, terminal);
}

/** The page sends the secret key to this address. */
function readServiceUrl(text: string): string {
  let origin: string;
  try {
    origin = readBaseUrl(text);
  } catch {
    throw new InvalidArgumentError(
      'Write it with its scheme and without a path, such as "https://push.example.com".',
    );
  }
  const { protocol, hostname } = new URL(origin);
  if (protocol !== 'https:' && hostname !== 'localhost' && hostname !== '127.0.0.1') {
    throw new InvalidArgumentError('Use https: the secret key would be sent without encryption.');
  }
  return origin;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) {
    throw new InvalidArgumentError('Use a whole number from 1 to 65535.');
  }
  return port;
}
