// Before the handlers.
import './variables.ts';

import type { Context } from 'aws-lambda';
import { type FunctionName, functions } from '../../contract/wire/routes.ts';
import { createHandler as deliver } from '../../lambdas/deliver/handler.ts';
import type { Host } from '../../lambdas/host.ts';
import { createHandler as listNotifications } from '../../lambdas/list-notifications/handler.ts';
import { createHandler as removeUser } from '../../lambdas/remove-user/handler.ts';
import { createHandler as send } from '../../lambdas/send/handler.ts';
import { createHandler as stopNotification } from '../../lambdas/stop-notification/handler.ts';
import { createHandler as subscribe } from '../../lambdas/subscribe/handler.ts';
import { createHandler as unsubscribe } from '../../lambdas/unsubscribe/handler.ts';

/** The functions that are simulated. */
const creators = {
  deliver,
  listNotifications,
  removeUser,
  send,
  stopNotification,
  subscribe,
  unsubscribe,
} as const satisfies Partial<Readonly<Record<FunctionName, (host: Host) => unknown>>>;

export type SimulatedFunction = keyof typeof creators;

/** A handler, as Lambda calls it. */
export type Handler = (event: unknown, context: Context) => Promise<unknown>;

export function handlerOf(name: SimulatedFunction, host: Host): Handler {
  return creators[name](host) as Handler;
}

/** After which Lambda ends a function. */
export function timeoutMsOf(name: SimulatedFunction): number {
  return functions[name].timeoutMs;
}
