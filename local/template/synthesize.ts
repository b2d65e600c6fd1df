import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { type Assembly, readAssembly } from './template.ts';

export interface SynthesisOptions {
  /** Where the cloud assembly goes. */
  readonly directory: string;
  /** Settings of the CDK app, as `--context` of the CDK CLI would give them. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The CDK app, relative to the working directory. */
  readonly app?: string;
}

/** The stack asks for an address at which push services can reach the operator: here nobody does. */
const localVapidSubject = 'mailto:operator@example.com';

/**
 * Runs the CDK app as the CDK CLI does, by its protocol of two environment variables, without the
 * CLI's own second of start-up.
 * @throws {Error} with the app's message when it fails.
 */
export async function synthesize(options: SynthesisOptions): Promise<Assembly> {
  const { directory, context, signal, app = 'bin/carillon.ts' } = options;
  const { context: settings } = JSON.parse(await readFile('cdk.json', 'utf8')) as {
    context?: Record<string, unknown>;
  };
  const child = spawn(process.execPath, ['--import', 'tsx', app], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal && { signal }),
    // Nothing else of the environment, so that the assembly cannot depend on it.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      CDK_OUTDIR: directory,
      CDK_CONTEXT_JSON: JSON.stringify({
        vapidSubject: localVapidSubject,
        ...settings,
        // Sets `aws:asset:path`, by which a function's bundle is found.
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

/** The line that says what went wrong, whether the app said it plainly or threw. */
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
