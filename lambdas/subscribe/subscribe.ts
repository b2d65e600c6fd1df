import { ServiceError } from '../../contract/errors.ts';
import { limitOf, type Project } from '../../contract/project.ts';
import type { Subscription } from '../../contract/schemas.ts';
import type { SubscriptionStore } from '../store/subscriptions.ts';

/**
 * Registers a browser's subscription with a project, or updates it.
 * @param deployedCap most subscribers of a project whose plan says nothing else.
 */
export async function subscribe(
  subscriptions: SubscriptionStore,
  project: Project,
  subscription: Subscription,
  deployedCap: number,
): Promise<void> {
  const cap = limitOf(project.plan.subscriberCap, deployedCap);
  const outcome = await subscriptions.save(project.projectId, subscription, cap);
  switch (outcome) {
    case 'created':
    case 'updated':
      return;
    case 'cap_reached':
      throw new ServiceError(
        'subscriber_cap_reached',
        `The project has its ${cap} subscribers; a larger plan admits more.`,
      );
    case 'project_gone':
      throw new ServiceError('project_not_found', 'The project has just been deleted.');
  }
}
