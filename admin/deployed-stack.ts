import {
  type CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
  paginateListStackResources,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import { serviceTag } from '../contract/infrastructure/stack-name.ts';
import { deployCall } from './calls.ts';
import { ConnectionError, signInAdvice } from './errors.ts';

export interface StackStatus {
  /** CloudFormation's, such as `UPDATE_COMPLETE`. */
  readonly status: string;
  /** Why it is so, if CloudFormation says it. */
  readonly reason?: string | undefined;
  readonly isProtected: boolean;
  readonly outputs: ReadonlyMap<string, string>;
}

export interface DeployedResource {
  readonly id: string;
  readonly type: string;
  /** The name that AWS has given to it. */
  readonly name: string;
}

/** The parts of a template that commands look at. */
export interface Template {
  readonly Parameters?: Readonly<
    Record<string, { readonly Type: string; readonly Default?: string }>
  >;
  readonly Resources: Readonly<
    Record<
      string,
      {
        readonly Type: string;
        readonly Properties?: Readonly<Record<string, unknown>>;
        readonly DeletionPolicy?: string;
      }
    >
  >;
  readonly Rules?: Readonly<Record<string, { readonly Assertions: readonly unknown[] }>>;
}

/** What CloudFormation knows about a stack. */
export function deployedStack(cloudFormation: CloudFormationClient, name: string) {
  return {
    /** @returns undefined if there is no such stack. */
    async status(): Promise<StackStatus | undefined> {
      try {
        const { Stacks } = await cloudFormation.send(
          new DescribeStacksCommand({ StackName: name }),
        );
        const {
          StackStatus,
          StackStatusReason,
          EnableTerminationProtection,
          Outputs = [],
        } = Stacks![0]!;
        return {
          status: StackStatus!,
          reason: StackStatusReason,
          isProtected: EnableTerminationProtection === true,
          outputs: new Map(Outputs.map(({ OutputKey, OutputValue }) => [OutputKey!, OutputValue!])),
        };
      } catch (cause) {
        // CloudFormation has no more specific error for a stack that does not exist.
        if ((cause as Error).name === 'ValidationError') return undefined;
        const message = whyNotDescribed(cause as Error, name, await cloudFormation.config.region());
        throw new ConnectionError(message, { cause });
      }
    },

    async resources(): Promise<readonly DeployedResource[]> {
      const found: DeployedResource[] = [];
      const pages = paginateListStackResources({ client: cloudFormation }, { StackName: name });
      for await (const { StackResourceSummaries = [] } of pages) {
        for (const {
          LogicalResourceId,
          ResourceType,
          PhysicalResourceId,
        } of StackResourceSummaries) {
          if (!PhysicalResourceId) continue;
          found.push({ id: LogicalResourceId!, type: ResourceType!, name: PhysicalResourceId });
        }
      }
      return found;
    },

    /** Resources with the tag of a service. A nested stack has resources too. */
    async resourcesOf(service: string): Promise<readonly DeployedResource[]> {
      const found = await this.resources();
      const { Resources } = await this.template();
      const nested = found
        .filter(({ type }) => type === 'AWS::CloudFormation::Stack')
        .map(({ name: arn }) => deployedStack(cloudFormation, arn).resourcesOf(service));
      const own = found.filter(({ id }) => hasTag(Resources[id]?.Properties?.Tags, service));
      return [...own, ...(await Promise.all(nested)).flat()];
    },

    async template(): Promise<Template> {
      const { TemplateBody } = await cloudFormation.send(
        new GetTemplateCommand({ StackName: name }),
      );
      return JSON.parse(TemplateBody!);
    },

    /** Allows deleting the stack. */
    async unprotect(): Promise<void> {
      const input = { StackName: name, EnableTerminationProtection: false };
      await cloudFormation.send(new UpdateTerminationProtectionCommand(input));
    },
  };
}

function whyNotDescribed({ name, message }: Error, stack: string, region: string): string {
  switch (name) {
    case 'AccessDenied':
    case 'AccessDeniedException':
      return `These AWS credentials are not allowed to describe stack "${stack}" in ${region}.`;
    case 'ExpiredToken':
    case 'ExpiredTokenException':
    case 'InvalidClientTokenId':
    case 'SignatureDoesNotMatch':
    case 'UnrecognizedClientException':
      return `The AWS credentials are expired or invalid. ${signInAdvice(name, region)}`;
    default:
      return `Cannot describe stack "${stack}" in ${region}: ${message}`;
  }
}

/** @param tags of a resource: a list, or an object as API Gateway has it. */
function hasTag(tags: unknown, service: string): boolean {
  const list = Array.isArray(tags)
    ? tags.map(({ Key, Value }) => [Key, Value])
    : Object.entries(tags ?? {});
  return list.some(([key, value]) => key === serviceTag && value === service);
}

export type DeployedStack = ReturnType<typeof deployedStack>;

/** What CloudFormation's status of a stack means for its operator. */
export type StackState = 'absent' | 'failed' | 'working' | 'ready' | 'stuck';

/** @param status undefined if there is no such stack. */
export function stackStateOf(status: string | undefined): StackState {
  // REVIEW_IN_PROGRESS: a first change set was created and never executed, so nothing exists.
  if (status === undefined || status === 'REVIEW_IN_PROGRESS') return 'absent';
  if (status === 'ROLLBACK_COMPLETE' || status === 'ROLLBACK_FAILED') return 'failed';
  if (status.endsWith('_IN_PROGRESS')) return 'working';
  return status.endsWith('_COMPLETE') ? 'ready' : 'stuck';
}

/** One sentence for each state, and what to do. */
export const stackAdvice: Readonly<Record<StackState, string>> = {
  absent: `Nothing was created: run ${deployCall}.`,
  failed: `The first deployment failed. Run ${deployCall} again.`,
  working: 'CloudFormation is still working, also without this command. Try again in some minutes.',
  ready: 'A version runs.',
  stuck:
    'CloudFormation could not finish: see the events of the stack. After a failed update, see "Rolling back" in docs/deploy.md; after a failed deletion, use --destroy again.',
};
