import type { ProjectStore } from '../store/projects.ts';
import type { SubscriptionStore } from '../store/subscriptions.ts';

/**
 * Removes subscriptions, and counts each batch where the project counts its subscribers now. That may have
 * changed since a broadcast has read the project: an asynchronous share runs for up to 15 minutes.
 */
export function currentRemovals(
  subscriptions: Pick<SubscriptionStore, 'removeBatch' | 'correctPair'>,
  projects: Pick<ProjectStore, 'find'>,
): Pick<SubscriptionStore, 'removeBatch' | 'correctPair'> {
  return {
    correctPair: subscriptions.correctPair,

    async removeBatch(project, endpointHashes, signal) {
      const current = await projects.find(project.projectId);
      // A deleted project has no counters either, so nothing is removed.
      return subscriptions.removeBatch(current ?? project, endpointHashes, signal);
    },
  };
}
