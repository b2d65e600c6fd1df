import { ServiceError } from '../../contract/errors.ts';
import { limitOf, type Project } from '../../contract/project.ts';
import type { Subscription } from '../../contract/schemas/subscription.ts';
import type { ProjectStore } from '../store/projects.ts';
import type { SubscriptionStore } from '../store/subscriptions.ts';

export interface SubscribeDependencies {
  readonly subscriptions: Pick<SubscriptionStore, 'save'>;
  readonly projects: Pick<ProjectStore, 'refresh'>;
}

/**
 * Adds a browser's subscription to a project, or updates it.
 * @param deployedCap most subscribers where the project's plan sets no cap.
 */
export async function subscribe(
  { subscriptions, projects }: SubscribeDependencies,
  project: Project,
  { applicationServerKey, ...subscription }: Subscription,
  deployedCap: number,
  signal?: AbortSignal,
): Promise<void> {
  const cap = limitOf(project.plan.subscriberCap, deployedCap);
  const vapidPairNumber = await pairOf(projects, project, applicationServerKey, signal);
  const assumedPairNumber = project.vapid.current.number;
  const outcome = await subscriptions.save(
    project.projectId,
    { ...subscription, vapidPairNumber, assumedPairNumber },
    cap,
    signal,
  );
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

/** @returns the number of the pair that the request names, undefined if it names none. */
async function pairOf(
  projects: SubscribeDependencies['projects'],
  project: Project,
  applicationServerKey: string | undefined,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  if (applicationServerKey === undefined) return undefined;
  const find = ({ current, previous }: Project['vapid']) =>
    [current, previous].find((pair) => pair?.publicKey === applicationServerKey);
  const remembered = find(project.vapid);
  if (remembered !== undefined) return remembered.number;
  // The project in memory may be older than its last rotation.
  const stored = await projects.refresh(project.projectId, signal);
  const found = stored && find(stored.vapid);
  if (found !== undefined) return found.number;
  throw new ServiceError(
    'application_server_key_unknown',
    'The project does not have this application server key; ' +
      'subscribe the browser with the key that "carillon show" prints.',
  );
}
