import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provideAssembly } from '../local/template/assembly-cache.ts';

/**
 * Provides the synthesized stack once for all test files, which find it by `CARILLON_ASSEMBLY`. Where that
 * variable is set already, the tests run against the assembly it names.
 */
export default async function setUp(): Promise<void> {
  // The SDK's advice about the Node that happens to run the tests.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
  if (process.env.CARILLON_ASSEMBLY) return;
  const directory = await mkdtemp(join(tmpdir(), 'carillon-test-'));
  process.env.CARILLON_ASSEMBLY = directory;
  process.env.CARILLON_ASSEMBLY_TEMPORARY = 'true';
  await provideAssembly({ directory });
}
