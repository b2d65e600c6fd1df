import type { Quotas } from '../../contract/aws-quotas.ts';
import type { StackStatus } from '../deployed-stack.ts';

/**
 * What `doctor` asks AWS about a deployment. Where a fact is undefined, there is nothing to ask: the local stack has
 * no alarms, for example.
 */
export interface DeploymentFacts {
  /** The stack's output `ApiUrl`. */
  readonly apiUrl: string;
  /** Quotas that the settings assume. */
  readonly quotas: Quotas | undefined;
  /** Executions at a time that Lambda allows the account in this region. */
  concurrency(): Promise<number>;
  functions(): Promise<readonly FunctionFacts[]>;
  /** Requests per second that API Gateway allows the account in this region. */
  requestsPerSecond(): Promise<number | undefined>;
  alarms(): Promise<readonly AlarmFacts[] | undefined>;
  /** The topic that the stack has for `alarmEmail`. */
  alarmTopic(): Promise<AlarmTopicFacts | undefined>;
  stack(): Promise<StackStatus | undefined>;
  /** Tables without point-in-time recovery. */
  tablesWithoutBackup(): Promise<readonly string[] | undefined>;
}

export interface FunctionFacts {
  readonly name: string;
  /** Why the function cannot run; undefined if it can. */
  readonly failure: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

export interface AlarmFacts {
  readonly name: string;
  readonly isFiring: boolean;
  readonly hasAction: boolean;
}

export interface AlarmTopicFacts {
  readonly arn: string;
  /** Whether somebody receives its messages. */
  readonly isConfirmed: boolean;
}
