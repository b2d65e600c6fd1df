import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../contract/project.ts';
import { type BeaconType, notificationIdSchema } from '../../contract/schemas.ts';
import type { BeaconStore } from '../store/events.ts';

/** Counts a beacon of one of the project's notifications. */
export async function track(
  beacons: BeaconStore,
  { projectId }: Project,
  notificationId: string | undefined,
  type: BeaconType,
): Promise<void> {
  const id = notificationIdSchema.safeParse(notificationId);
  if (id.success && (await beacons.count(projectId, id.data, type))) return;
  throw new ServiceError(
    'notification_not_found',
    'This project has sent no notification with this id.',
  );
}
