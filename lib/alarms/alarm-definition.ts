import { Duration } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { sliceTimeline } from '../../contract/timeline.ts';

/**
 * `page`: users are affected now, so the alarm is a cause of the composite alarm that pages people.
 * `warning`: it notifies by itself, and can wait until morning.
 */
export type Severity = 'page' | 'warning';

export interface AlarmDefinition {
  readonly severity: Severity;
  readonly metric: cloudwatch.IMetric;
  /** Value of the metric from which a period is bad. */
  readonly threshold: number;
  /**
   * Of how many periods how many must be bad.
   * @default one of one
   */
  readonly periods?: { readonly bad: number; readonly of: number };
  /** The event, for the operator. */
  readonly description: string;
}

/** By the alarm's id, such as `ServerErrors`, which is also its heading in the runbook: "Server errors". */
export type AlarmDefinitions = Readonly<Record<string, AlarmDefinition>>;

/** The period of a metric, and of an alarm on it, where nothing else is said. */
export const period = Duration.minutes(5);

/** For faults that pass by themselves: a short one does not fire the alarm. */
export const twoOfThree = { bad: 2, of: 3 } as const;

/**
 * For metrics of deliver's invocations. Lambda stamps them with the start and emits them after the end, so the
 * last period never has those of a long invocation. Two more periods: a value is visible some minutes later.
 */
export const anyDuringDeliver = {
  bad: 1,
  of: sliceTimeline.timeoutMs / period.toMilliseconds() + 2,
} as const;

/** From this share of its limit, a duration or a number counts as near it. */
export const nearLimit = 0.8;
