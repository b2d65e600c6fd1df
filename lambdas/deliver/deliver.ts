import type { DeliverResponse, Share } from '../../contract/share.ts';
import { deliverShare, type ShareDependencies } from './deliver-share.ts';
import type { Invocation } from './share-progress.ts';

/**
 * Delivers one share, unless its project was deleted meanwhile.
 * @throws if the share was not delivered to its end and may be resumed: Lambda repeats the invocation.
 */
export async function deliver(
  deps: ShareDependencies,
  share: Share,
  invocation: Invocation,
): Promise<DeliverResponse> {
  // Not from memory: a share may wait in Lambda's queue for an hour.
  const project = await deps.projects.refresh(share.projectId);
  if (project?.createdAt !== share.projectCreatedAt) return {};
  const outcome = await deliverShare(deps, project, share, invocation);
  if (outcome.kind === 'open') throw outcome.error;
  return outcome.kind === 'ended' ? { result: outcome.result } : {};
}
