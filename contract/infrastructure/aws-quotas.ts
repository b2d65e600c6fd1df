import * as z from 'zod/mini';

/**
 * The quotas of the account that a deployment's settings count on: the stack's output `Quotas`, which the
 * operator's command compares with the quotas of AWS.
 */
export const quotasSchema = z.object({
  /** Executions at a time of Lambda: quota L-B99A9384. */
  executions: z.int().check(z.positive()),
  /** Requests per second of API Gateway, the sum of the routes' throttles: quota L-8A5B8E43. */
  requestsPerSecond: z.int().check(z.positive()),
});
export type Quotas = z.infer<typeof quotasSchema>;
