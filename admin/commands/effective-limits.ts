import type { DeployedSettings } from '../../contract/environment.ts';
import { limitOf, type Plan, type RateLimits, rateLimitsOf } from '../../contract/project.ts';

/** The limits that apply to a project: its plan's, or else the deployment's. Null: no limit. */
export interface EffectiveLimits {
  readonly subscriberCap: number | null;
  readonly monthlySendCap: number | null;
  readonly rateLimitPerMinute: number | null;
  /** Of the actions that differ. */
  readonly rateLimits?: RateLimits;
}

export function effectiveLimits(plan: Plan, settings: DeployedSettings): EffectiveLimits {
  return {
    subscriberCap: limitOf(plan.subscriberCap, settings.SUBSCRIBER_CAP),
    monthlySendCap: limitOf(plan.monthlySendCap, settings.MONTHLY_SEND_CAP),
    ...rateLimitsOf(plan, settings.RATE_LIMIT_PER_MINUTE),
  };
}
