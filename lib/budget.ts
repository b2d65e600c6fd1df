import { Stack } from 'aws-cdk-lib';
import * as budgets from 'aws-cdk-lib/aws-budgets';
import { Construct } from 'constructs';
import { serviceTag } from '../contract/infrastructure/stack-name.ts';

export interface BudgetProps {
  readonly service: string;
  readonly dollarsPerMonth: number;
  /** Whom it notifies. */
  readonly address: string;
}

/** In percent of the budget. */
const notifiedAt = [80, 100];

/**
 * A budget for everything with the service's tag in its region. It notifies and stops nothing. AWS counts only after the tag is
 * activated for cost allocation.
 */
export class Budget extends Construct {
  constructor(scope: Construct, id: string, { service, dollarsPerMonth, address }: BudgetProps) {
    super(scope, id);
    new budgets.CfnBudget(this, 'Budget', {
      budget: {
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: dollarsPerMonth, unit: 'USD' },
        costFilters: {
          TagKeyValue: [`user:${serviceTag}$${service}`],
          // A stage of this name in another region has the same tag.
          Region: [Stack.of(this).region],
        },
      },
      notificationsWithSubscribers: notifiedAt.map((threshold) => ({
        notification: {
          notificationType: 'ACTUAL',
          comparisonOperator: 'GREATER_THAN',
          thresholdType: 'PERCENTAGE',
          threshold,
        },
        subscribers: [{ subscriptionType: 'EMAIL', address }],
      })),
    });
  }
}
