import { ServiceError } from '../../contract/errors.ts';
import { limitOf, type Project } from '../../contract/project.ts';
import type { Subscription } from '../../contract/schemas/subscription.ts';
import type { SubscriptionStore } from '../store/subscriptions.ts';

/**
 * Adds a browser's subscription to a project, or updates it.
 * @param deployedCap most subscribers where the project's plan sets no cap.
 */
export async function subscribe(
  subscriptions: SubscriptionStore,
  project: Project,
  subscription: Subscription,
  deployedCap: number,
): Promise<void> {
  const cap = limitOf(project.plan.subscriberCap, deployedCap);
  const outcome = await subscriptions.save(project, subscription, cap);
  switch (outcome) {
    case 'created':
    case 'updated':
      return;
    case 'cap_reached':
      throw new ServiceError(
        'subscriber_cap_reached',
        `The project already has ${cap} subscribers, the most that its plan allows.`,
      );
    case 'project_gone':
      throw new ServiceError('project_not_found', 'The project has just been deleted.');
  }
}
