import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient, type STSServiceException } from '@aws-sdk/client-sts';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { signIn } from '../commands/connection.ts';
import { ConnectionError } from '../errors.ts';

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
    const { message, $metadata: { httpStatusCode } = {} } = cause as STSServiceException;
    const advice =
      httpStatusCode === undefined
        ? `AWS does not respond in ${region}: ${message}. Check the region and the network.`
        : `AWS refuses the credentials: ${message} Sign in again.`;
    throw new ConnectionError(advice, { cause });
  });
  return { accountId: Account!, region, caller: Arn!, cloudFormation: new CloudFormationClient() };
}
