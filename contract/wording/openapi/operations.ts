import type { RouteName } from '../../wire/routes.ts';
import { subscribe, track, unsubscribe } from './browser-operations.ts';
import { getNotification, listNotifications, stopNotification } from './notification-operations.ts';
import type { Operation } from './operation.ts';
import { getProject, getUser, removeUser } from './project-operations.ts';
import { send } from './send-operation.ts';

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
