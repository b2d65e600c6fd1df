import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../contract/project.ts';
import type { NotificationResult } from '../../contract/schemas/notification.ts';
import { storedResult, totalOf } from '../shares/results.ts';
import { statusOf } from '../shares/status.ts';
import { tallyNumbers } from '../store/items.ts';
import type { NotificationStore } from '../store/notifications.ts';
import type { TallyStore } from '../store/tallies.ts';

export interface NotificationParts {
  readonly notifications: NotificationStore;
  readonly tallies: Pick<TallyStore, 'find'>;
  readonly clock: () => Date;
}

/**
 * A notification of the project, with the counts stored so far.
 * @param id undefined if the path has no valid one.
 */
export async function getNotification(
  { notifications, tallies, clock }: NotificationParts,
  { projectId }: Project,
  id: string | undefined,
): Promise<NotificationResult> {
  const notification = id === undefined ? undefined : await notifications.find(projectId, id);
  if (notification === undefined) {
    throw new ServiceError(
      'notification_not_found',
      'This project has sent no notification with this id.',
    );
  }
  const { content, plan, sentAt } = notification;
  const { talliesPerShare, users, subscribers } = plan;
  const found = await tallies.find(notification.id, tallyNumbers(plan));
  const firsts = found.filter((_, number) => number % talliesPerShare === 0);
  const status = statusOf(notification, firsts, clock());
  // While functions work on it, nobody knows yet which pushes are interrupted and who is not reached.
  const results = firsts.map((tally) =>
    status === 'sending' && tally !== undefined
      ? { ...tally.counts, isComplete: true }
      : storedResult(tally),
  );
  const total = totalOf(results, subscribers);
  const { attempted, delivered, removed, failed, failures, unreached } = total;
  return {
    id: notification.id,
    ...content,
    audience: users === undefined ? 'everyone' : { users },
    status,
    sentAt: sentAt.toISOString(),
    ...{ attempted, delivered, removed, failed },
    ...(status !== 'sending' && unreached > 0 ? { unreached } : {}),
    ...(failed > 0 ? { failures } : {}),
    shown: sum(found.map((tally) => tally?.shown)),
    clicked: sum(found.map((tally) => tally?.clicked)),
  };
}

function sum(numbers: readonly (number | undefined)[]): number {
  return numbers.reduce<number>((total, number = 0) => total + number, 0);
}
