import { once } from 'node:events';
import {
  describeFlags,
  type Flags,
  readArguments,
  UsageError,
} from '../../admin/terminal/arguments.ts';
import { progressBar } from '../../admin/terminal/progress-bar.ts';
import { paintFor, type Terminal } from '../../admin/terminal/terminal.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import { projectTables } from '../dynamodb/table-names.ts';
import { type Stack, startStack } from '../stack.ts';
import { localRegion } from '../template/references.ts';
import { progressLines } from './progress-lines.ts';
import { differences } from './reconciliation.ts';
import { figuresText, reconciliationText } from './report.ts';
import { type Outcome, runScenario, type StartProgress } from './scenario.ts';

const flags = {
  subscribers: { value: '<N>', help: 'browsers to subscribe, 10 to 20000; 500 where left out' },
  json: { help: 'print JSON' },
  help: { help: 'print this' },
} as const satisfies Flags;

export interface DemoOptions {
  /** Directory of a cloud assembly that is synthesized already. */
  readonly assembly?: string;
  /** Ends the demo early. */
  readonly signal?: AbortSignal;
}

/**
 * Plays the service's main job on a stack of its own, and prints what became of it.
 * @returns the exit code: 0, 1 where it failed or any two witnesses disagree, 2 where it was
 *   called wrongly, 130 where it was interrupted.
 */
export async function runDemo(
  args: readonly string[],
  terminal: Terminal,
  options: DemoOptions = {},
): Promise<0 | 1 | 2 | 130> {
  const { output, messages } = terminal;
  const complain = (text: string) => messages.write(`${paintFor(messages)('red', text)}\n`);
  try {
    const { subscribers, json, help } = readDemoArguments(args);
    if (help) {
      output.write(`npm run demo -- [options]\n\n${describeFlags(flags)}`);
      return 0;
    }
    const result = await play(subscribers, terminal, options);
    const { accounts, figures, seconds } = result;
    const differing = differences(accounts, figures);
    if (json) {
      output.write(
        `${JSON.stringify({ subscribers, ...result, differences: differing }, null, 2)}\n`,
      );
    } else {
      const paint = paintFor(output);
      const summary = `${subscribers} browsers and ${accounts.length} notifications in ${seconds} s.`;
      output.write(
        `${reconciliationText(accounts, paint)}\n${figuresText(figures, paint)}\n${summary}\n`,
      );
    }
    for (const difference of differing) complain(difference);
    return differing.length === 0 ? 0 : 1;
  } catch (error) {
    if (options.signal?.aborted) return 130;
    complain((error instanceof Error ? error.message : String(error)).replaceAll('\n', ' '));
    if (!(error instanceof UsageError)) return 1;
    messages.write('See: npm run demo -- --help\n');
    return 2;
  }
}

function readDemoArguments(args: readonly string[]) {
  const { operands, flags: given } = readArguments(args, flags);
  if (operands.length > 0) throw new UsageError(`"${operands[0]}" is one argument too many.`);
  const subscribers = Number(given.subscribers ?? 500);
  if (!Number.isInteger(subscribers) || subscribers < 10 || subscribers > 20_000) {
    throw new UsageError('--subscribers must be a whole number from 10 to 20000.');
  }
  return { subscribers, json: given.json === true, help: given.help === true };
}

async function play(
  subscribers: number,
  { messages }: Terminal,
  { assembly, signal }: DemoOptions,
): Promise<Outcome & { readonly seconds: number }> {
  const paint = paintFor(messages);
  const onStep = (step: string) => messages.write(`${paint('dim', `  ${step} …`)}\n`);
  const narrate: StartProgress = (step, total) =>
    messages.isTTY
      ? progressBar(messages, step.padEnd(34), total)
      : progressLines(messages, step, total);

  // Thousands of browsers subscribe within seconds.
  const stack = await startStack({ assembly, signal, onStep, throttled: false });
  try {
    const begun = performance.now();
    const outcome = await unlessAborted(onStack(stack, subscribers, narrate), signal);
    const seconds = Number(((performance.now() - begun) / 1000).toFixed(1));
    return { ...outcome, seconds };
  } finally {
    await stack.stop();
  }
}

async function onStack(
  stack: Stack,
  subscribers: number,
  narrate: StartProgress,
): Promise<Outcome> {
  const { endpoint, tables } = stack.dynamodb;
  const dynamo = documentClient({
    endpoint,
    region: localRegion,
    credentials: { accessKeyId: 'demo', secretAccessKey: 'local' },
  });
  try {
    const stage = {
      baseUrl: stack.baseUrl,
      pushService: stack.pushService,
      dynamo,
      tables: projectTables(tables),
    };
    return await runScenario(stage, subscribers, narrate);
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
