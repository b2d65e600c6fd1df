import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Names the folder of the run's assembly, in `CARILLON_ASSEMBLY`: the first test file that needs it writes it. If that
 * variable is already set, the tests use the assembly that it names.
 */
export default function setUp(): void {
  // The SDK would print a warning about the version of Node.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
  if (process.env.CARILLON_ASSEMBLY) return;
  process.env.CARILLON_ASSEMBLY = join(tmpdir(), `carillon-test-${randomUUID()}`);
  process.env.CARILLON_ASSEMBLY_TEMPORARY = 'true';
}
