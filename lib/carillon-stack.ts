import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { stackNameOf } from '../contract/infrastructure/stack-name.ts';
import { Carillon } from './carillon.ts';
import type { Settings } from './settings.ts';

/** The service as a stack of its own. */
export class CarillonStack extends Stack {
  constructor(scope: Construct, { stage, ...settings }: Settings) {
    const disposable = stage === 'dev';
    super(scope, stackNameOf(stage), {
      description: 'Carillon, a web-push service',
      terminationProtection: !disposable,
    });
    new Carillon(this, 'Default', { ...settings, disposable, exportOutputs: true });
  }
}
