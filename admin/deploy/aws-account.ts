import { APIGatewayClient, GetDomainNameCommand } from '@aws-sdk/client-api-gateway';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { GetParameterCommand, ParameterNotFound, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient, type STSServiceException } from '@aws-sdk/client-sts';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { signIn } from '../commands/connection.ts';
import { readConcurrency, readThrottle } from '../doctor/aws-facts.ts';
import { concurrencyFinding, type Finding } from '../doctor/checks.ts';
import { ConnectionError, signInAdvice } from '../errors.ts';
import type { Settings } from './settings-file.ts';

/** The account and region into which the service is deployed. */
export interface AwsAccount {
  readonly accountId: string;
  readonly region: string;
  /** ARN of the user or role whose credentials are used. */
  readonly caller: string;
  readonly cloudFormation: CloudFormationClient;
}

/**
 * Signs in. The rest of this process, and the CDK's command, use the same credentials and region: a code of MFA
 * cannot be used twice.
 * @param mfaCodeProvider asks for the code of a device.
 * @throws {ConnectionError} without a region or valid credentials.
 */
export async function signInOnce(
  { region: given }: { readonly region?: string },
  mfaCodeProvider: (device: string) => Promise<string>,
): Promise<AwsAccount> {
  const { region, credentials } = await signIn(
    new CloudFormationClient({
      ...(given !== undefined && { region: given }),
      credentials: defaultProvider({ mfaCodeProvider }),
    }),
  );
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  for (const name of ['AWS_PROFILE', 'AWS_DEFAULT_PROFILE', 'AWS_SESSION_TOKEN']) {
    delete process.env[name];
  }
  Object.assign(process.env, {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    ...(sessionToken !== undefined && { AWS_SESSION_TOKEN: sessionToken }),
  });

  const sts = new STSClient();
  const { Account, Arn } = await sts.send(new GetCallerIdentityCommand({})).catch((cause) => {
    const { name, message, $metadata: { httpStatusCode } = {} } = cause as STSServiceException;
    const advice =
      httpStatusCode === undefined
        ? `AWS does not respond in ${region}: ${message}. Check the region and the network.`
        : `AWS refuses the credentials: ${message} ${signInAdvice(name, region)}`;
    throw new ConnectionError(advice, { cause });
  });
  return { accountId: Account!, region, caller: Arn!, cloudFormation: new CloudFormationClient() };
}

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

/**
 * The version of `cdk bootstrap` that was run in this account and region, whatever its stack is called.
 * @param parameter of SSM in which the bootstrap stack stores its version.
 * @returns undefined if it was never run there.
 */
export async function readBootstrapVersion(
  parameter: string,
): Promise<string | undefined | 'unknown'> {
  try {
    const { Parameter } = await new SSMClient().send(new GetParameterCommand({ Name: parameter }));
    return Parameter!.Value!;
  } catch (error) {
    // If it may not be read, the CDK's command reads it with one of its roles.
    return error instanceof ParameterNotFound ? undefined : 'unknown';
  }
}

/** Whether API Gateway has this domain already. If that may not be read, CloudFormation finds it. */
export async function hasDomain(domainName: string): Promise<boolean> {
  try {
    await new APIGatewayClient().send(new GetDomainNameCommand({ domainName }));
    return true;
  } catch {
    return false;
  }
}
