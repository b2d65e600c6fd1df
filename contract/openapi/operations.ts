import type { RouteName } from '../routes.ts';
import type { Operation } from './operation.ts';
import { getNotification } from './operations/get-notification.ts';
import { getProject } from './operations/get-project.ts';
import { getUser } from './operations/get-user.ts';
import { listNotifications } from './operations/list-notifications.ts';
import { removeUser } from './operations/remove-user.ts';
import { send } from './operations/send.ts';
import { stopNotification } from './operations/stop-notification.ts';
import { subscribe } from './operations/subscribe.ts';
import { track } from './operations/track.ts';
import { unsubscribe } from './operations/unsubscribe.ts';

/** Documentation of each route. */
export const operations = {
  subscribe,
  unsubscribe,
  getProject,
  send,
  listNotifications,
  getNotification,
  stopNotification,
  track,
  getUser,
  removeUser,
} as const satisfies Record<RouteName, Operation>;
