import {
  type CloudFormationClient,
  DescribeStacksCommand,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { GetCallerIdentityCommand, STSClient, type STSServiceException } from '@aws-sdk/client-sts';
import { signIn } from '../commands/connection.ts';
import { ConnectionError } from '../commands/connection-error.ts';
import { functionFacts } from '../doctor/function-facts.ts';

/** The account and region into which the service is deployed. */
export interface AwsAccount {
  readonly accountId: string;
  readonly region: string;
  /** ARN of the user or role whose credentials are used. */
  readonly caller: string;
  /** Executions at a time that Lambda allows. */
  concurrency(): Promise<number>;
  /** CloudFormation's status of a stack; undefined if it does not exist. */
  stackStatus(stack: string): Promise<string | undefined>;
  /** Lets CloudFormation delete a stack. */
  unprotect(stack: string): Promise<void>;
  close(): void;
}

/** @throws {ConnectionError} without a region or valid credentials. */
export async function openAccount(cloudFormation: CloudFormationClient): Promise<AwsAccount> {
  const { region, credentials } = await signIn(cloudFormation);
  const config = { region, credentials };
  const sts = new STSClient(config);
  const lambda = new LambdaClient(config);
  const { Account, Arn } = await sts.send(new GetCallerIdentityCommand({})).catch((cause) => {
    const { message, $metadata: { httpStatusCode } = {} } = cause as STSServiceException;
    const advice =
      httpStatusCode === undefined
        ? `AWS does not respond in ${region}: ${message}. Check the region and the network.`
        : `AWS refuses the credentials: ${message} Sign in again.`;
    throw new ConnectionError(advice, { cause });
  });
  return {
    accountId: Account!,
    region,
    caller: Arn!,
    concurrency: () => functionFacts(lambda, async () => []).concurrency(),

    async stackStatus(StackName) {
      try {
        const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
        return Stacks?.[0]?.StackStatus;
      } catch (error) {
        // CloudFormation has no more specific error for a stack that does not exist.
        if ((error as Error).name === 'ValidationError') return undefined;
        throw new ConnectionError(
          `Cannot describe the stack ${StackName}: ${(error as Error).message}`,
          { cause: error },
        );
      }
    },

    async unprotect(StackName) {
      await cloudFormation.send(
        new UpdateTerminationProtectionCommand({ StackName, EnableTerminationProtection: false }),
      );
    },

    close() {
      sts.destroy();
      lambda.destroy();
    },
  };
}
