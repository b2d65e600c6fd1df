import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { bundleFunctions } from '../lib/build/bundle-functions.ts';
import { CarillonStack } from '../lib/carillon-stack.ts';
import { assetsEntry } from '../lib/service-function.ts';
import { readContext, SettingsError } from '../lib/settings.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
try {
  const settings = readContext(app.node.getAllContext(), 'under "context" in cdk.json');
  const assets = await mkdtemp(join(tmpdir(), 'carillon-assets-'));
  try {
    await bundleFunctions(join(import.meta.dirname, '..'), assets);
    app.node.setContext(assetsEntry, assets);
    // The CDK copies the assets into its output.
    new CarillonStack(app, settings);
  } finally {
    await rm(assets, { recursive: true });
  }
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  for (const line of error.message.split('\n')) console.error(`carillon: ${line}`);
  // Setting only `process.exitCode` would let the app write an empty assembly.
  process.exit(1);
}
