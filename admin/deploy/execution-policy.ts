import { CreatePolicyCommand, EntityAlreadyExistsException, IAMClient } from '@aws-sdk/client-iam';
import type { AwsAccount } from './aws-account.ts';

/**
 * Creates the policy with which CloudFormation deploys, once per account.
 * @param document names resources of the partition `aws`.
 * @returns its ARN.
 */
export async function createExecutionPolicy(
  document: object,
  { accountId, caller }: AwsAccount,
): Promise<string> {
  const partition = caller.split(':')[1]!;
  const PolicyName = 'CarillonDeployment';
  const PolicyDocument = JSON.stringify(document).replaceAll('arn:aws:', `arn:${partition}:`);
  await new IAMClient()
    .send(new CreatePolicyCommand({ PolicyName, PolicyDocument }))
    .catch((error: unknown) => {
      if (!(error instanceof EntityAlreadyExistsException)) throw error;
    });
  return `arn:${partition}:iam::${accountId}:policy/${PolicyName}`;
}
