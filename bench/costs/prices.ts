/**
 * AWS's list prices in us-east-1, in US dollars, without free tiers and volume discounts. From the
 * pricing pages of the services, as of 2025; DynamoDB's since November 2024.
 */
export const prices = {
  /** For 1. HTTP API, up to 512 KB each. */
  apiRequest: 1e-6,
  /** For 1. */
  lambdaRequest: 0.2e-6,
  /** For 1 GB during 1 s, Arm. */
  lambdaGbSecond: 0.000_013_333_4,
  /** For 1 unit, on demand: up to 1 KB. */
  writeUnit: 0.625e-6,
  /** For 1 unit, on demand: up to 4 KB, strongly consistent. */
  readUnit: 0.125e-6,
  /** For 1 GB and month: table and indexes. */
  tableGb: 0.25,
  /** For 1 GB and month: point-in-time recovery of table and indexes. */
  recoveryGb: 0.2,
  /** For 1 GB written to CloudWatch Logs, standard class. Storing it for a month adds 0.5 cents. */
  logGb: 0.5 + 0.03 * 0.15,
  /** For 1 GB sent to the internet. */
  transferGb: 0.09,
  /** For 1 and month, each. An alarm costs this for each of its metrics. */
  alarmMetric: 0.1,
  compositeAlarm: 0.5,
  metric: 0.3,
} as const;

export const bytesPerGb = 1e9;
