/**
 * The local stack in a process of its own, so that its memory is its own. It says where it is, and
 * answers `start` and `stop` around a broadcast.
 */
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { BroadcastChannel } from 'node:worker_threads';
import type { TableNames } from '../../local/dynamodb/table-names.ts';
import { startStack } from '../../local/stack.ts';
import { type ProbeCommand, type ProbeReport, probeChannel } from './probe-messages.ts';
import { type Shares, sharesOf } from './shares.ts';

export interface StackTask {
  /** Directory of the synthesized assembly. */
  readonly assembly: string;
  /** Origin of the push server. */
  readonly pushOrigin: string;
  /** Path of the bundled probe. */
  readonly probe: string;
}

export interface StackPlace {
  readonly baseUrl: string;
  readonly endpoint: string;
  readonly tables: TableNames;
}

export interface StackReport {
  /** MB of the whole process, at the most: gateway, functions, DynamoDB's gate. */
  readonly peakMemory: number;
  /** MB of the send function's heap, at the most. */
  readonly peakHeap: number;
  readonly shares: Shares;
  /** Calls to DynamoDB during the broadcast, by operation. */
  readonly calls: Readonly<Record<string, number>>;
}

const [task] = (await once(process, 'message')) as [StackTask];
let calls: Record<string, number> = {};
const stack = await startStack({
  assembly: task.assembly,
  environment: {
    EXTRA_PUSH_ORIGINS: task.pushOrigin,
    // The template sets it for every function; a thread obeys it as a process does.
    ...{ NODE_OPTIONS: `--enable-source-maps --import ${pathToFileURL(task.probe)}` },
  },
  onDynamoDbCall: ({ operation }) => {
    calls[operation] = (calls[operation] ?? 0) + 1;
    return undefined;
  },
});

const channel = new BroadcastChannel(probeChannel);

/** The functions' only answer to a command: there is one thread that has the probe. */
async function tell(command: ProbeCommand): Promise<unknown> {
  const answer = new Promise<unknown>((resolve) => {
    channel.onmessage = (message) => resolve((message as { data: unknown }).data);
  });
  channel.postMessage(command);
  return answer;
}

process.on('message', async (command: { readonly probe: ProbeCommand }) => {
  const answer = await tell(command.probe);
  if (command.probe === 'start') {
    calls = {};
    process.send!({});
    return;
  }
  const { profile, peakHeap } = answer as ProbeReport;
  const report: StackReport = {
    peakMemory: process.resourceUsage().maxRSS / 1024,
    peakHeap: peakHeap / 1024 ** 2,
    shares: sharesOf(profile),
    calls,
  };
  process.send!(report);
});
process.on('disconnect', () => void stack.stop().then(() => process.exit()));

const { endpoint, tables } = stack.dynamodb;
const place: StackPlace = { baseUrl: stack.baseUrl, endpoint, tables };
process.send!(place);
