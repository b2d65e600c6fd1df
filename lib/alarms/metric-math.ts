import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';

/** CloudWatch's limit for the metrics of one alarm. */
export const mostMetrics = 10;

/** The period of a metric, and of an alarm on it, where nothing else is said. */
export const period = Duration.minutes(5);

/** A part of a whole. */
interface Ratio {
  readonly part: cloudwatch.IMetric;
  readonly whole: cloudwatch.IMetric;
  /** What counts neither in the part nor in the whole. @default nothing */
  readonly without?: cloudwatch.IMetric;
  /** @default period */
  readonly per?: Duration;
}

/** The part in percent of the whole, and 0 while the part is below a minimum: one of two is not an outage. */
export function percentage(
  { part, whole, without, per = period }: Ratio,
  minimum: number,
): cloudwatch.MathExpression {
  const [counted, of] =
    without === undefined ? ['part', 'whole'] : ['(part - without)', '(whole - without)'];
  return new cloudwatch.MathExpression({
    expression: `IF(${counted} >= ${minimum}, 100 * ${counted} / ${of}, 0)`,
    usingMetrics: { part, whole, ...(without !== undefined && { without }) },
    period: per,
  });
}

/** The sum of metrics. Without `FILL`, it would be missing if one of them has no data. */
export function sum(metrics: readonly cloudwatch.IMetric[]): cloudwatch.MathExpression {
  const usingMetrics = named(metrics);
  const terms = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`);
  return new cloudwatch.MathExpression({ expression: terms.join(' + '), usingMetrics, period });
}

/** The highest of metrics, each in percent of its limit. */
export function highestUse(
  uses: readonly { readonly metric: cloudwatch.IMetric; readonly limit: number }[],
): cloudwatch.MathExpression {
  const usingMetrics = named(uses.map(({ metric }) => metric));
  const terms = uses.map(({ limit }, index) => `100 * FILL(m${index}, 0) / ${limit}`);
  return new cloudwatch.MathExpression({
    expression: `MAX([${terms.join(', ')}])`,
    usingMetrics,
    period,
  });
}

function named(metrics: readonly cloudwatch.IMetric[]): Record<string, cloudwatch.IMetric> {
  return Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
}
