/**
 * Runs the local stack in its own process, so that its memory can be measured. It sends its address,
 * and then responds to two messages, before and after a broadcast.
 */
import { once } from 'node:events';
import { startStack, type TableNames } from '../../local/stack.ts';

export interface StackTask {
  /** Directory of the synthesized assembly. */
  readonly assembly: string;
  /** Origin of the push server. */
  readonly pushOrigin: string;
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
  /** Calls to DynamoDB during the broadcast, by operation. */
  readonly calls: Readonly<Record<string, number>>;
}

const [task] = (await once(process, 'message')) as [StackTask];
let calls: Record<string, number> = {};
const stack = await startStack({
  assembly: task.assembly,
  environment: {
    EXTRA_PUSH_ORIGINS: task.pushOrigin,
  },
  onDynamoDbCall: ({ operation }) => {
    calls[operation] = (calls[operation] ?? 0) + 1;
    return undefined;
  },
});

process.on('message', ({ start }: { readonly start: boolean }) => {
  if (start) calls = {};
  const peakMemoryMB = process.resourceUsage().maxRSS / 1024;
  const report: StackReport = { peakMemoryMB, calls };
  process.send!(report);
});
process.on('disconnect', () => void stack.stop().then(() => process.exit()));

const { endpoint, tables } = stack.dynamodb;
const address: StackAddress = { baseUrl: stack.baseUrl, endpoint, tables };
process.send!(address);
