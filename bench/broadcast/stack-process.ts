/**
 * Runs the local stack in its own process, so that its memory can be measured. It sends its address,
 * and then responds to the commands `start` and `stop`, which surround a broadcast.
 */
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { BroadcastChannel } from 'node:worker_threads';
import type { TableNames } from '../../local/dynamodb/table-names.ts';
import { startStack } from '../../local/stack.ts';
import { type ActivityTimes, activityTimesOf } from './activity-times.ts';
import { type ProbeCommand, type ProbeReport, probeChannel } from './probe-messages.ts';

export interface StackTask {
  /** Directory of the synthesized assembly. */
  readonly assembly: string;
  /** Origin of the push server. */
  readonly pushOrigin: string;
  /** Path of the bundled probe. */
  readonly probe: string;
}

export interface StackAddress {
  readonly baseUrl: string;
  /** Of DynamoDB. */
  readonly endpoint: string;
  readonly tables: TableNames;
}

export interface StackReport {
  /** Of the whole process: gateway, functions and DynamoDB proxy. */
  readonly peakMemoryMB: number;
  /** Of the send function. */
  readonly peakHeapMB: number;
  readonly times: ActivityTimes;
  /** Calls to DynamoDB during the broadcast, by operation. */
  readonly calls: Readonly<Record<string, number>>;
}

const [task] = (await once(process, 'message')) as [StackTask];
let calls: Record<string, number> = {};
const stack = await startStack({
  assembly: task.assembly,
  environment: {
    EXTRA_PUSH_ORIGINS: task.pushOrigin,
    // Replaces the template's value. Node applies `--import` to threads too.
    ...{ NODE_OPTIONS: `--enable-source-maps --import ${pathToFileURL(task.probe)}` },
  },
  onDynamoDbCall: ({ operation }) => {
    calls[operation] = (calls[operation] ?? 0) + 1;
    return undefined;
  },
});

const channel = new BroadcastChannel(probeChannel);

/** Sends a command to the probe. @returns its response: only one thread runs the probe. */
async function requestProbe(command: ProbeCommand): Promise<unknown> {
  const response = new Promise<unknown>((resolve) => {
    channel.onmessage = (message) => resolve((message as { data: unknown }).data);
  });
  channel.postMessage(command);
  return response;
}

process.on('message', async (command: { readonly probe: ProbeCommand }) => {
  const response = await requestProbe(command.probe);
  if (command.probe === 'start') {
    calls = {};
    process.send!({});
    return;
  }
  const { profile, peakHeapBytes } = response as ProbeReport;
  const report: StackReport = {
    peakMemoryMB: process.resourceUsage().maxRSS / 1024,
    peakHeapMB: peakHeapBytes / 1024 ** 2,
    times: activityTimesOf(profile),
    calls,
  };
  process.send!(report);
});
process.on('disconnect', () => void stack.stop().then(() => process.exit()));

const { endpoint, tables } = stack.dynamodb;
const address: StackAddress = { baseUrl: stack.baseUrl, endpoint, tables };
process.send!(address);
