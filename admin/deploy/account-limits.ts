import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { readConcurrency, readThrottle } from '../doctor/aws-facts.ts';
import type { Finding } from '../doctor/checks.ts';
import { concurrencyFinding } from '../doctor/checks.ts';
import type { Settings } from './settings-file.ts';

/**
 * The settings that follow from limits of the account in this region. They are read for each deployment and never
 * written, because another stage may be in another account or region. A limit that may not be read sets nothing.
 */
export async function readLimits(
  { eventsPerSecond }: { readonly eventsPerSecond: number },
  report: (check: string, finding: Finding) => void,
): Promise<Settings> {
  const executions = await readConcurrency(new LambdaClient()).catch(() => undefined);
  if (executions !== undefined) report('concurrency', concurrencyFinding(executions));
  const throttle = await readThrottle(new APIGatewayClient()).catch(() => eventsPerSecond);
  if (throttle < eventsPerSecond) {
    const message = `API Gateway accepts ${throttle} requests per second in this account and region: eventsPerSecond is ${throttle} instead of ${eventsPerSecond}.`;
    report('api throttle', { level: 'warning', message });
  }
  return {
    ...(executions !== undefined && { accountConcurrency: executions }),
    ...(throttle < eventsPerSecond && { eventsPerSecond: throttle }),
  };
}
