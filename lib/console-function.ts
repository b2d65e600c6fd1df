import { join } from 'node:path';
import type { Construct } from 'constructs';
import { ServiceFunction, type ServiceFunctionProps } from './service-function.ts';

/** The function that serves the console's page, which is built into its bundle. It reads no table. */
export function consoleFunction(
  scope: Construct,
  props: Omit<ServiceFunctionProps, 'name' | 'filesFrom'>,
): ServiceFunction {
  return new ServiceFunction(scope, {
    ...props,
    name: 'console',
    filesFrom: (folder) => {
      const vite = join(props.root, 'node_modules/vite/bin/vite.js');
      const config = join(props.root, 'console/vite.config.ts');
      const outDir = join(folder, 'page');
      return [process.execPath, vite, 'build', '--config', config, '--outDir', outDir]
        .map((word) => `'${word}'`)
        .join(' ');
    },
  });
}
