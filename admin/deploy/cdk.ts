import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Runs a command of the CDK.
 * @param env added to the environment.
 * @param onLine is called for each line that it prints.
 * @returns its exit code.
 */
export type RunCdk = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
) => Promise<number | null>;

/** Runs the CDK that is installed in a folder. */
export function cdkIn(root: string): RunCdk {
  return async (args, env, onLine) => {
    const cdk = spawn(join(root, 'node_modules/.bin/cdk'), args, {
      cwd: root,
      env: { ...process.env, ...env, NO_COLOR: '1', CDK_DISABLE_CLI_TELEMETRY: 'true' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const input of [cdk.stdout, cdk.stderr]) {
      createInterface({ input }).on('line', onLine);
    }
    const [code] = await once(cdk, 'close');
    return code;
  };
}

/** What `cdk deploy --progress events` says about one resource. */
export interface ResourceEvent {
  readonly done: number;
  readonly total: number;
  readonly isFailed: boolean;
  /** The resource and, if it failed, why. */
  readonly text: string;
}

/** `Carillon |  3/97 | 10:11:12 AM | CREATE_COMPLETE | AWS::IAM::Role | Send/Role (Send1234)`. */
const eventLine = /\|\s*(\d+)\/(\d+) \|[^|]*\|\s*(\w+)\s*\|[^|]*\| (.*)$/;

export function readEvent(line: string): ResourceEvent | undefined {
  const [, done, total, status, text] = eventLine.exec(line) ?? [];
  if (status === undefined) return undefined;
  return {
    done: Number(done),
    total: Number(total),
    isFailed: status.endsWith('_FAILED'),
    text: text!.trim(),
  };
}
