import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@aws-lambda-powertools/logger';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { FunctionName } from '../contract/wire/routes.ts';
import { serviceLogger } from './http/service-logger.ts';
import { documentClient, type Sleep } from './store/dynamo.ts';

/** What a function takes from where it runs. The simulation runs the same handlers in a world of its own. */
export interface Host {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Epoch ms by a clock that may be set. */
  readonly wallClock: () => number;
  /** Ms by a clock that nobody sets. It stands still while the environment is frozen. */
  readonly ticks: () => number;
  readonly sleep: Sleep;
  /** Does something after some ms. @returns what prevents it. */
  readonly after: (ms: number, act: () => void) => () => void;
  /** A signal that aborts after some ms, 0 at least. */
  readonly abortAfter: (ms: number) => AbortSignal;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly logger: (name: FunctionName) => Logger;
  /** @param conflictRetries see `documentClient`. */
  readonly dynamo: (conflictRetries?: number) => DynamoDBDocumentClient;
  /** In place of the network: opens a connection to a push service, and posts to Lambda's API. */
  readonly connect?: (url: URL) => Socket;
  readonly post?: (
    url: URL,
    headers: OutgoingHttpHeaders,
    body: string,
    signal: AbortSignal,
  ) => Promise<{ readonly statusCode?: number | undefined; readonly destroy: () => unknown }>;
}

/** AWS Lambda. */
export const lambda: Host = {
  variables: process.env,
  wallClock: Date.now,
  ticks: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
  after: (ms, act) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  abortAfter: (ms) => {
    const signal = AbortSignal.timeout(Math.max(0, ms));
    // Any number of calls may have it: Node warns of more than 10 listeners.
    setMaxListeners(0, signal);
    return signal;
  },
  random: Math.random,
  randomBytes,
  logger: serviceLogger,
  dynamo: (conflictRetries) => documentClient({}, Date.now, conflictRetries),
};
