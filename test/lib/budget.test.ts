import { synthesize } from '../fixtures/synthesized-stack.ts';

test('a budget of the stage notifies at 80 and 100 %', () => {
  const alarmEmail = 'on-call@carillon.net';
  const { template } = synthesize({ stage: 'eu', monthlyBudget: 20, alarmEmail });
  const notification = (Threshold: number) => ({
    Notification: { NotificationType: 'ACTUAL', ThresholdType: 'PERCENTAGE', Threshold },
    Subscribers: [{ SubscriptionType: 'EMAIL', Address: alarmEmail }],
  });
  template.hasResourceProperties('AWS::Budgets::Budget', {
    Budget: {
      BudgetType: 'COST',
      TimeUnit: 'MONTHLY',
      BudgetLimit: { Amount: 20, Unit: 'USD' },
      CostFilters: {
        TagKeyValue: ['user:carillon:service$Carillon-eu'],
        // The same stage in another region has a budget of its own.
        Region: [{ Ref: 'AWS::Region' }],
      },
    },
    NotificationsWithSubscribers: [notification(80), notification(100)],
  });
});

test('without the setting there is no budget', () => {
  synthesize().template.resourceCountIs('AWS::Budgets::Budget', 0);
});
