import { LambdaClient } from '@aws-sdk/client-lambda';
import { localConfig } from '../local-config.ts';
import type { DeploymentFacts } from './facts.ts';
import { functionFacts } from './function-facts.ts';

/** Asks the Lambda API of a local stack, which has neither quotas nor alarms nor backups. @param endpoint of that API. */
export function localFacts(
  apiUrl: string,
  endpoint: string,
  functionNames: readonly string[],
): DeploymentFacts & { close(): void } {
  const lambda = new LambdaClient(localConfig(endpoint));
  return {
    apiUrl,
    quotas: undefined,
    ...functionFacts(lambda, async () => functionNames),
    requestsPerSecond: async () => undefined,
    alarms: async () => undefined,
    alarmTopic: async () => undefined,
    stack: async () => undefined,
    tablesWithoutBackup: async () => undefined,
    close: () => lambda.destroy(),
  };
}
