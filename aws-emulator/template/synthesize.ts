import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { type Assembly, readAssembly } from './template.ts';

export interface SynthesisOptions {
  /** Output directory of the cloud assembly. */
  readonly directory: string;
  /** Settings of the CDK app, like `--context` of the CDK CLI. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** File of the CDK app, relative to the working directory. */
  readonly app?: string;
}

/** The stack requires a VAPID subject. The local push service does not use it. */
const localVapidSubject = 'mailto:operator@carillon.net';

/**
 * Runs the CDK app as the CDK CLI does: with two environment variables. This avoids the CLI's
 * start-up time of about a second.
 * @throws {Error} with the app's message if it fails.
 */
export async function synthesize(options: SynthesisOptions): Promise<Assembly> {
  const { directory, context, signal, app = 'bin/app.ts' } = options;
  const { context: settings } = JSON.parse(await readFile('cdk.json', 'utf8')) as {
    context?: Record<string, unknown>;
  };
  const child = spawn(process.execPath, ['--import', 'tsx', app], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal && { signal }),
    // No other variables, so that the assembly does not depend on the environment.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      CDK_OUTDIR: directory,
      CDK_CONTEXT_JSON: JSON.stringify({
        vapidSubject: localVapidSubject,
        ...settings,
        // Writes `aws:asset:path`, the path of a function's bundle.
        'aws:cdk:enable-asset-metadata': true,
        ...context,
      }),
    },
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  if (code !== 0) throw new Error(`The CDK app failed: ${firstMessage(output)}`);
  return readAssembly(directory);
}

/** The message of a thrown error, or else the first line that the app printed. */
function firstMessage(output: string): string {
  const thrown = /^(?:[A-Z]\w*)?Error(?: \[\w+\])?: (.+)$/m.exec(output)?.[1];
  return (
    thrown ??
    output
      .trim()
      .split('\n', 1)[0]
      ?.replace(/^carillon: /, '') ??
    ''
  );
}
