import { once } from 'node:events';
import { Command, InvalidArgumentError } from 'commander';
import { runCommandLine, withExamples } from '../../admin/terminal/command-line.ts';
import { progressBar } from '../../admin/terminal/progress-bar.ts';
import { paintFor, type Terminal } from '../../admin/terminal/terminal.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import { projectTables } from '../dynamodb/table-names.ts';
import { type Stack, startStack } from '../stack.ts';
import { localRegion } from '../template/references.ts';
import type { StartProgress } from './progress.ts';
import { progressLines } from './progress-lines.ts';
import { differences } from './reconciliation.ts';
import { notificationsText, totalsText } from './report.ts';
import { runScenario, type ScenarioResult } from './scenario.ts';

/** Columns of a step's name beside its progress bar: the longest name. */
const labelWidth = 'Targeted send, one user id unknown'.length;

export interface DemoOptions {
  /** Directory of a synthesized cloud assembly. Default: the stack is synthesized. */
  readonly assembly?: string;
  /** Interrupts the demo. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the demo scenario on a new local stack, and prints the reconciliation.
 * @returns the exit code: 0 if all counts are as expected; 1 after an error or a difference; 2 for
 *   invalid arguments; 130 if the demo was interrupted.
 */
export async function runDemo(
  args: readonly string[],
  terminal: Terminal,
  options: DemoOptions = {},
): Promise<0 | 1 | 2 | 130> {
  let outcome: 0 | 1 | 130 = 0;
  const command = new Command('npm run demo --')
    .description('Subscribes simulated browsers, sends to them and compares all counts.')
    .option('--subscribers <N>', 'number of browsers, 10 to 100000', readSubscribers, 500)
    .option('--async', 'send without waiting for the delivery, and read the counts later')
    .option('--json', 'print JSON')
    .action(
      async ({ subscribers, async, json }: { subscribers: number; async?: true; json?: true }) => {
        try {
          const result = await runOnNewStack(subscribers, async === true, terminal, options);
          outcome = printResult(result, subscribers, json === true, terminal) ? 0 : 1;
        } catch (error) {
          if (!options.signal?.aborted) throw error;
          outcome = 130;
        }
      },
    );
  const code = await runCommandLine(withExamples(command, '--subscribers 2000'), args, terminal);
  return code === 0 ? outcome : code;
}

function readSubscribers(text: string): number {
  const subscribers = Number(text);
  if (Number.isInteger(subscribers) && subscribers >= 10 && subscribers <= 100_000) {
    return subscribers;
  }
  throw new InvalidArgumentError('Use a whole number from 10 to 100000.');
}

/** @returns whether all sources have the same counts. */
function printResult(
  result: Result,
  subscribers: number,
  json: boolean,
  { output, messages }: Terminal,
): boolean {
  const { notifications, totals, seconds } = result;
  const differing = differences(notifications, totals);
  if (json) {
    const value = { subscribers, ...result, differences: differing };
    output.write(`${JSON.stringify(value, null, 2)}\n`);
  } else {
    const paint = paintFor(output);
    const summary = `${subscribers} browsers and ${notifications.length} notifications in ${seconds} s.`;
    output.write(
      `${notificationsText(notifications, paint)}\n${totalsText(totals, paint)}\n${summary}\n`,
    );
  }
  const paint = paintFor(messages);
  for (const difference of differing) messages.write(`${paint('red', difference)}\n`);
  return differing.length === 0;
}

type Result = ScenarioResult & { readonly seconds: number };

async function runOnNewStack(
  subscribers: number,
  respondAsync: boolean,
  { messages }: Terminal,
  { assembly, signal }: DemoOptions,
): Promise<Result> {
  const paint = paintFor(messages);
  const onStep = (step: string) => messages.write(`${paint('dim', `  ${step} …`)}\n`);
  const startProgress: StartProgress = (step, total) =>
    messages.isTTY
      ? progressBar(messages, step.padEnd(labelWidth), total)
      : progressLines(messages, step, total);

  // Not throttled: thousands of browsers subscribe within seconds.
  const stack = await startStack({ assembly, signal, onStep, throttled: false });
  try {
    const startedAtMs = performance.now();
    const result = await unlessAborted(
      runOn(stack, subscribers, respondAsync, startProgress),
      signal,
    );
    const seconds = Number(((performance.now() - startedAtMs) / 1000).toFixed(1));
    return { ...result, seconds };
  } finally {
    await stack.stop();
  }
}

async function runOn(
  stack: Stack,
  subscribers: number,
  respondAsync: boolean,
  startProgress: StartProgress,
): Promise<ScenarioResult> {
  const { endpoint, tables } = stack.dynamodb;
  const dynamo = documentClient({
    endpoint,
    region: localRegion,
    credentials: { accessKeyId: 'demo', secretAccessKey: 'local' },
  });
  try {
    const { baseUrl, pushService } = stack;
    const scenarioStack = { baseUrl, pushService, dynamo, tables: projectTables(tables) };
    return await runScenario(scenarioStack, subscribers, startProgress, { respondAsync });
  } finally {
    dynamo.destroy();
  }
}

async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return work;
  const aborted = once(signal, 'abort').then(() => {
    throw signal.reason;
  });
  return Promise.race([work, aborted]);
}
