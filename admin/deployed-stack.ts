import {
  type CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
  paginateListStackResources,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import { ConnectionError } from './errors.ts';

export interface StackStatus {
  /** CloudFormation's, such as `UPDATE_COMPLETE`. */
  readonly status: string;
  /** Why it is so, if CloudFormation says it. */
  readonly reason?: string | undefined;
  readonly isProtected: boolean;
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
        const { StackStatus, StackStatusReason, EnableTerminationProtection } = Stacks![0]!;
        const isProtected = EnableTerminationProtection === true;
        return { status: StackStatus!, reason: StackStatusReason, isProtected };
      } catch (cause) {
        // CloudFormation has no more specific error for a stack that does not exist.
        if ((cause as Error).name === 'ValidationError') return undefined;
        const message = `Cannot describe the stack ${name}: ${(cause as Error).message}`;
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

export type DeployedStack = ReturnType<typeof deployedStack>;
