import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { CarillonStack } from '../lib/carillon-stack.ts';
import { readSettings, SettingsError } from '../lib/settings.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
try {
  new CarillonStack(app, {
    settings: readSettings(app.node.getAllContext()),
    root: join(import.meta.dirname, '..'),
  });
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  for (const line of error.message.split('\n')) console.error(`carillon: ${line}`);
  // Setting only `process.exitCode` would let the app write an empty assembly.
  process.exit(1);
}
