import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { clientVariables } from '../../contract/infrastructure/client-variables.ts';
import { identityKeyPattern, secretKeyPattern } from '../../contract/wire/formats.ts';
import { CarillonError } from '../common/error.ts';
import {
  expectKnown,
  invalidOption,
  readBaseUrl,
  readProjectId,
  requireMatch,
} from '../common/option-checks.ts';
import { retryPauseMs, type Timing, timing } from '../common/timing.ts';
import { attemptTimeoutMs, isTransient } from './attempt.ts';
import { type MakeAttempts, type ProjectAccess, ProjectClient } from './project-client.ts';

export type {
  AcceptedSend,
  // Former names, for one more version.
  AcceptedSend as Accepted,
  NotificationList,
  NotificationResult,
  ReadonlySendRequest as SendRequest,
  ReadonlySendRequest as SendBody,
  SendResult,
} from '../../contract/wire/notification.ts';
export type { ProjectResult } from '../../contract/wire/project-result.ts';
export type { RemovedUser, UserSubscriptions } from '../../contract/wire/user.ts';
export { CarillonError, type CarillonErrorCode } from '../common/error.ts';
export type { CallOptions, ListOptions, SendOptions } from './project-client.ts';

export interface CarillonServerOptions extends ProjectAccess {
  /** Limit for a call with all its attempts and pauses. Default: 120,000. */
  readonly timeoutMs?: number | undefined;
  /** A call is not retried after a response with a longer `Retry-After`. Default: 60. */
  readonly maxRetryAfterSeconds?: number | undefined;
  /** Is called before each pause, with the failure of the attempt before it and the pause in ms. */
  readonly onRetry?: ((failure: CarillonError, pauseMs: number) => void) | undefined;
}

/** Time and randomness. Tests replace them. */
export interface ServerTiming extends Pick<Timing, 'elapsed' | 'random'> {
  /** Rejects if the signal is aborted. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<unknown>;
}

const nodeTiming: ServerTiming = {
  ...timing,
  // Node.js limits requests by whole milliseconds.
  elapsed: () => Math.round(timing.elapsed()),
  wait: (ms, signal) => pause(ms, undefined, { signal }),
};

const firstPauseMs = 1000;

/** Of an address that has never responded to a client: how long a call waits for it. */
const silenceMs = 15_000;
/** After this time, no attempt begins there. */
const lastSilentAttemptMs = 10_000;

const optionNames: readonly (keyof CarillonServerOptions)[] = [
  'baseUrl',
  'projectId',
  'secretKey',
  'timeoutMs',
  'maxRetryAfterSeconds',
  'onRetry',
];

/** Sends notifications of one project, reads their results, and removes its users. For servers only. */
export class CarillonServer extends ProjectClient {
  /** @throws {CarillonError} `invalid_options`, with the option's name and a correct form. */
  constructor(options: CarillonServerOptions, serverTiming = nodeTiming) {
    if ('document' in globalThis) {
      throw invalidOption(
        'secretKey',
        'everyone can read a secret key in a page; use it on your server',
      );
    }
    expectKnown(options, optionNames);
    const { baseUrl, projectId, secretKey } = options;
    const access = {
      baseUrl: readSafeUrl(baseUrl),
      projectId: readProjectId(projectId),
      secretKey: requireMatch(
        secretKeyPattern,
        secretKey,
        'secretKey',
        'copy the secret key from the API key card: "carillon_sk_" and 43 characters',
      ),
    };
    super(access, untilOver({ ...options, ...access }, serverTiming));
  }

  /**
   * Reads the address, project and secret key from the variables `CARILLON_BASE_URL`, `CARILLON_PROJECT` and
   * `CARILLON_SECRET_KEY`.
   * @throws {CarillonError} `invalid_options`, with the missing variable and where its value comes from.
   */
  static fromEnvironment(
    options: Omit<CarillonServerOptions, keyof ProjectAccess> = {},
  ): CarillonServer {
    return new CarillonServer({ ...options, ...readAccess(process.env) });
  }
}

/** @throws {CarillonError} if the secret key could be read on its way. */
function readSafeUrl(value: unknown): string {
  const baseUrl = readBaseUrl(value);
  if (baseUrl.startsWith('https:') || isLocal(baseUrl)) return baseUrl;
  throw invalidOption(
    'baseUrl',
    'use https: with http, others could read the secret key; only localhost may have http',
  );
}

function isLocal(baseUrl: string): boolean {
  return /^https?:\/\/(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(baseUrl);
}

/** Whether nothing listens at an address of this machine: waiting would not change that. */
function isRefusedHere(baseUrl: string, { cause }: CarillonError): boolean {
  const { code } = Object((cause as Error | undefined)?.cause);
  return code === 'ECONNREFUSED' && isLocal(baseUrl);
}

/** Repeats an attempt until it succeeds, its failure is final, or the time is over. */
function untilOver(
  { baseUrl, timeoutMs = 120_000, maxRetryAfterSeconds = 60, onRetry }: CarillonServerOptions,
  { elapsed, random, wait }: ServerTiming,
): MakeAttempts {
  let hasResponded = false;
  const onResponse = () => {
    hasResponded = true;
  };

  /**
   * Makes an attempt at an address that has never responded. A send may take 30 s, so the address is asked something
   * else meanwhile: only silence to that ends the attempt.
   */
  async function attemptInSilence<Result>(
    ms: number,
    work: (silence: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const silence = new AbortController();
    const { signal } = silence;
    const ask = () => fetch(baseUrl, { method: 'HEAD', signal }).then(onResponse, () => {});
    const end = () => hasResponded || silence.abort(new Error('silence'));
    const timers = [setTimeout(ask, ms / 3), setTimeout(end, ms)];
    return work(signal).finally(() => {
      timers.map(clearTimeout);
      silence.abort();
    });
  }

  return async (attemptOnce, signal) => {
    const start = elapsed();
    const end = start + timeoutMs;
    for (let failures = 1; ; failures++) {
      const timeout = AbortSignal.timeout(Math.max(1, Math.min(attemptTimeoutMs, end - elapsed())));
      const signals = signal ? [signal, timeout] : [timeout];
      const result = hasResponded
        ? await attemptOnce(AbortSignal.any(signals))
        : await attemptInSilence(start + silenceMs - elapsed(), (silence) =>
            attemptOnce(AbortSignal.any([...signals, silence]), onResponse),
          );
      if (!(result instanceof CarillonError)) return result;
      signal?.throwIfAborted();
      const { retryAfter = 0 } = result;
      const pauseMs = retryPauseMs(firstPauseMs, failures, retryAfter, random());
      const next = elapsed() + pauseMs;
      const isTooLate =
        retryAfter > maxRetryAfterSeconds ||
        next >= end ||
        (!hasResponded && next > start + lastSilentAttemptMs);
      if (!isTransient(result) || isTooLate || isRefusedHere(baseUrl, result)) throw result;
      onRetry?.(result, pauseMs);
      await wait(pauseMs, signal).finally(() => signal?.throwIfAborted());
    }
  };
}

/**
 * Reads the address, project and secret key from the variables of the environment.
 * @throws {CarillonError} `invalid_options`, with the missing variable and where its value comes from.
 */
function readAccess(env: Readonly<Record<string, string | undefined>>): ProjectAccess {
  return {
    baseUrl: read('baseUrl', 'the address of the service, such as "https://push.example.com"'),
    projectId: read('projectId', 'the project id'),
    secretKey: read('secretKey', "the project's secret key"),
  };

  function read(option: keyof ProjectAccess, meaning: string): string {
    const name = clientVariables[option];
    // A file of variables may have spaces or a newline around a value.
    const value = env[name]?.trim();
    if (value) return value;
    throw new CarillonError(
      'invalid_options',
      `The environment variable ${name} is not set. Its value, ${meaning}, is on the API key card, ` +
        'and in .carillon/local.env while "npm start" runs.',
    );
  }
}

/** 1 to 256 characters without half a surrogate pair, as the service takes them. */
const userIdPattern = /^\P{Surrogate}{1,256}$/u;

/**
 * Signs a user id, as proof for the service that your server knows the visitor by it.
 * @param identityKey of the project: `carillon_id_…`.
 * @returns the `userIdSignature` for a page of this visitor: 43 characters of base64url.
 * @throws {CarillonError} `invalid_options`.
 */
export function signUserId(identityKey: string, userId: string): string {
  const key = requireMatch(
    identityKeyPattern,
    identityKey,
    'identityKey',
    'copy the identity key that "carillon show --keys" prints: "carillon_id_" and 43 characters',
  );
  const text = requireMatch(userIdPattern, userId, 'userId', 'use text of 1 to 256 characters');
  return createHmac('sha256', key).update(text).digest('base64url');
}
