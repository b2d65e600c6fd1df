import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '../lib/settings.ts';
import { provideAssembly } from '../local/assembly.ts';

/**
 * Synthesizes the stack once for all test files and passes its directory in `CARILLON_ASSEMBLY`. If
 * that variable is already set, the tests use the assembly it names.
 */
export default async function setUp(): Promise<void> {
  // The SDK would print a warning about the version of Node.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
  if (process.env.CARILLON_ASSEMBLY) return;
  const directory = await mkdtemp(join(tmpdir(), 'carillon-test-'));
  process.env.CARILLON_ASSEMBLY = directory;
  process.env.CARILLON_ASSEMBLY_TEMPORARY = 'true';
  await provideAssembly({ directory, context: await defaultsOfGivenSettings() });
}

/** The defaults of the settings in cdk.json: a fork has its own there, and the tests still pass. */
async function defaultsOfGivenSettings(): Promise<Record<string, unknown>> {
  const { context: given } = JSON.parse(await readFile('cdk.json', 'utf8'));
  const defaults = {
    ...readSettings({ vapidSubject: 'mailto:operator@carillon.net' }),
    extraPushOrigins: '',
  };
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => name in given));
}
