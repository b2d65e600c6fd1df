import { pathOf, routes } from '../../../contract/routes.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import type { ProjectResult } from '../../../contract/schemas/project.ts';
import type { UserSubscriptions } from '../../../contract/schemas/user.ts';
import { attempt, bodyOrThrow } from '../../../sdk/server/attempt.ts';

/** Whose key the page has. A service without member keys does not say it. */
export type Access =
  | { readonly role: 'owner' }
  | { readonly role: 'sender' | 'viewer'; readonly name: string };

export function accessOf(project: ProjectResult & { readonly access?: Access }): Access {
  return project.access ?? { role: 'owner' };
}

/** The member who sent a notification; undefined if it was sent with the secret key. */
export function senderOf(
  notification: NotificationResult & { readonly sentBy?: string },
): string | undefined {
  return notification.sentBy;
}

/** One browser of a user. */
export interface Device {
  readonly id: string;
  readonly pushService: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The newest devices of a user, at most 100. */
export function devicesOf(
  user: UserSubscriptions & { readonly devices?: readonly Device[] },
): readonly Device[] {
  return user.devices ?? [];
}

/** Removes one device of a user. @throws {CarillonError} */
export async function removeDevice(
  projectId: string,
  key: string,
  user: { readonly userId: string; readonly device: string },
): Promise<void> {
  const url = new URL(pathOf(routes.removeUser, { projectId }), location.origin);
  url.search = new URLSearchParams(user).toString();
  const headers = { authorization: `Bearer ${key}` };
  bodyOrThrow(await attempt(url, { method: routes.removeUser.method, headers }));
}
