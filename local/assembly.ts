import { readFile } from 'node:fs/promises';
import { provideAssembly as provideAnyAssembly } from 'aws-emulator/synthesis';

export interface AssemblyOptions {
  /** Output directory of the cloud assembly. */
  readonly directory: string;
  /** Settings that replace those in cdk.json. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Is called before a synthesis, if no cached assembly can be used. */
  readonly onSynthesis?: (() => void) | undefined;
}

/** The stack requires a VAPID subject. The local push service does not use it. */
const vapidSubject = 'mailto:operator@carillon.net';

/** What the assembly depends on. */
const sources = [
  'bin',
  'console',
  'contract',
  'lambdas',
  'lib',
  'sdk/common',
  'sdk/server',
  'aws-emulator/synthesis.ts',
  'local/assembly.ts',
  'cdk.json',
  'package.json',
  'package-lock.json',
  // The installed versions; `package-lock.json` has the required ones.
  'node_modules/.package-lock.json',
  'tsconfig.json',
];

/** Writes the assembly of Carillon's stack, synthesized or from the cache, by the settings in cdk.json. */
export async function provideAssembly({ context, ...options }: AssemblyOptions): Promise<void> {
  const { context: settings } = JSON.parse(await readFile('cdk.json', 'utf8'));
  await provideAnyAssembly({
    ...options,
    command: [process.execPath, '--import', 'tsx', 'bin/app.ts'],
    context: { vapidSubject, ...settings, ...context },
    root: process.cwd(),
    sources,
    cache: '.carillon/assemblies',
  });
}
