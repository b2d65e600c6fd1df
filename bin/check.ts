import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The checks that every change must pass, fastest first. Each is a script in package.json. */
const steps = ['lint', 'lint:api', 'imports', 'types', 'test', 'synth'];

/** @returns whether the script passed. */
async function run(script: string): Promise<boolean> {
  const npm = spawn('npm', ['run', '--silent', script], { stdio: 'inherit' });
  const [code] = await once(npm, 'exit');
  return code === 0;
}

const seconds = (since: number) => `${Math.round((performance.now() - since) / 1000)} s`;

const startedAt = performance.now();
for (const [index, step] of steps.entries()) {
  const stepStartedAt = performance.now();
  console.log(`\n== ${step} (${index + 1} of ${steps.length})`);
  if (!(await run(step))) {
    console.error(`\nFailed: ${step}. Run it again with: npm run ${step}`);
    process.exit(1);
  }
  console.log(`== ${step}: passed in ${seconds(stepStartedAt)}`);
}
console.log(`\nAll ${steps.length} checks passed in ${seconds(startedAt)}: ${steps.join(', ')}.`);
