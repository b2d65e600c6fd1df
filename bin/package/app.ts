/** The CDK app that `npx carillon deploy` synthesizes: the stack of the settings in carillon.json. */
import { App } from 'aws-cdk-lib';
import { carillonJson } from '../../admin/deploy/settings-file.ts';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { CarillonStack } from '../../lib/carillon-stack.ts';
import { readContext } from '../../lib/settings.ts';

async function synthesize(): Promise<void> {
  // The feature flags of a clone, so that the template is the same.
  const flags = Object.entries(cdkJson.context).filter(([name]) => name.startsWith('@'));
  const settings = await carillonJson('carillon.json').read();
  const app = new App({ context: { ...Object.fromEntries(flags), ...settings } });
  new CarillonStack(app, readContext(app.node.getAllContext(), 'in carillon.json'));
}

synthesize().catch(({ message }: Error) => {
  console.error(message);
  process.exit(1);
});
