import { once } from 'node:events';
import { join } from 'node:path';
import { fieldLines } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { fragmentOf } from '../console/page/place.ts';
import { demoProject } from './demo-project.ts';
import {
  findFirefox,
  type LocalBrowser,
  manualSteps,
  type OpenFirefox,
  openFirefox,
} from './firefox.ts';
import { type LocalConsole, openLocalConsole } from './local-console.ts';
import { functionLog, functionLogFile, requestLine } from './log.ts';
import { readStartOptions, type StartOptions, startHelp, UsageError } from './options.ts';
import { startingResponse } from './pages.ts';
import { simulatedProxy } from './simulated-browsers.ts';
import { startStack } from './stack.ts';
import { shellFileOf, stateFile, stateOf, writeState } from './state-file.ts';

const { output, messages } = processTerminal;
const print = (text: string) => output.write(`${text}\n`);
const paint = paintFor(output);

async function main(parameters: readonly string[]): Promise<number> {
  if (parameters.includes('--help') || parameters.includes('-h')) {
    output.write(startHelp);
    return 0;
  }
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Once: a second signal ends this process immediately, and its children end with it.
    process.once(signal, () => interrupted.abort());
  }
  try {
    await run(readStartOptions(parameters, process.env), interrupted.signal);
    return 0;
  } catch (error) {
    if (interrupted.signal.aborted) return 0;
    messages.write(`carillon: ${(error as Error).message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Runs the stack until the signal aborts. */
async function run(options: StartOptions, signal: AbortSignal): Promise<void> {
  const { port, dataDir, extraPushOrigins, publicBaseUrl, engine, reset, browser } = options;
  const log = functionLog();
  const proxy = simulatedProxy();
  // A tunnel reaches the whole port of the API, so the console has another one.
  const pagesPort = publicBaseUrl === undefined ? undefined : port + 2;
  let localConsole: LocalConsole | undefined;
  let firefox: OpenFirefox | undefined;
  const stack = await startStack({
    port,
    pushServicePort: port + 1,
    pagesPort,
    dataDir,
    reset,
    engine,
    context: extraPushOrigins === undefined ? {} : { extraPushOrigins },
    environment: {
      ...proxy.environment,
      ...(publicBaseUrl !== undefined && { PUBLIC_BASE_URL: publicBaseUrl }),
    },
    signal,
    onStep: (step) => print(paint('dim', `${step} …`)),
    onRequest: (line) => {
      // Successful reads of the console's page are left out: it polls. So are its files, and the 503
      // responses while the stack starts.
      const isRead = line.match === undefined || (line.isFromPage && line.method === 'GET');
      const isError = localConsole !== undefined && line.response.status >= 400;
      if (!isRead || isError) print(requestLine(line, paint));
    },
    onLog: log.write,
    pages: async (request) =>
      localConsole === undefined ? startingResponse(request) : localConsole.respond(request),
  });
  try {
    const project = await demoProject(stack.dynamodb, dataDir);
    const origin = `http://localhost:${pagesPort ?? port}`;
    localConsole = await openLocalConsole(process.cwd(), { ...stack, project, proxy, origin });
    const removeState = await writeState(stateOf(stack, project));
    try {
      print(`\n${paint('green', `Carillon is running at ${stack.baseUrl}`)}`);
      const fields = [
        ['Console', localConsole.address],
        ['Push service', stack.pushService.origin],
        ['Project', project.projectId],
        ['Application server key', project.applicationServerKey],
        ['Secret key', project.secretKey],
        ['For tools and shells', `${stateFile}, ${shellFileOf(stateFile)}`],
        ['Log of the functions', functionLogFile],
        ['Data', `${dataDir} (${stack.dynamodb.engine}); npm start -- --reset removes them`],
      ] as const;
      print(fieldLines(fields, paint));
      print("To send a first notification, paste the lines of README's tour in a second terminal.");
      print('Press Ctrl-C to stop.\n');
      if (browser) {
        firefox = openBrowser(dataDir, {
          pushService: stack.pushService.origin,
          url: localConsole.address + fragmentOf({ view: 'local', ...project }),
        });
      }
      const { engine, ended } = stack.dynamodb;
      const lost = ended.then(({ code, errors }) => {
        const reason = errors === '' ? `exit code ${code}` : errors.split('\n').at(-1);
        throw new Error(`${engine} has ended: ${reason}. Run npm start again: ${dataDir} is kept.`);
      });
      await Promise.race([lost, !signal.aborted && once(signal, 'abort')]);
      print('\nStopping …');
    } finally {
      await removeState();
    }
  } finally {
    await firefox?.close();
    localConsole?.stop();
    await stack.stop();
    await log.close();
  }
}

/** Opens Firefox, or says how to do without. @returns undefined: none was found. */
function openBrowser(dataDir: string, address: LocalBrowser): OpenFirefox | undefined {
  const explain = (reason: string) => print(`${reason}\n${manualSteps(address)}\n`);
  const program = findFirefox(process.env);
  if (program !== undefined) {
    print('Firefox opens at the page that subscribes it. It receives without the internet.\n');
    return openFirefox(program, join(dataDir, 'firefox'), address, explain);
  }
  explain('No Firefox was found: install it, or set FIREFOX to its program.');
  return undefined;
}

// The CDK app, the bundles' entry points and the packages are resolved from the repository's root.
process.chdir(join(import.meta.dirname, '..'));
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
process.exit(await main(process.argv.slice(2)));
