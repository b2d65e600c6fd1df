import { channelPattern } from '../../contract/wire/formats.ts';
import {
  expectKnown,
  invalidOption,
  readBaseUrl,
  readProjectId,
  readUrl,
  requireMatch,
} from '../common/option-checks.ts';
import type { ProjectAddress } from '../common/service.ts';
import { normalizeKey } from '../common/subscription.ts';
import { workersOf } from './environment.ts';

/** Who uses this browser. */
export interface UserOptions {
  /** Null: nobody is logged in. Undefined: as registered before. */
  readonly userId?: string | null | undefined;
  /** Proof of the user id, made by your server with `signUserId` of `carillon/server`. */
  readonly userIdSignature?: string | undefined;
}

/** What the visitor receives. */
export interface SubscribeOptions extends UserOptions {
  /** At most 20 names of 1 to 32 lowercase letters, digits or hyphens. Undefined: as chosen before. */
  readonly channels?: readonly string[] | undefined;
}

export interface CarillonOptions extends UserOptions {
  /** Address of the service, without a path: `https://push.example.com`. */
  readonly baseUrl: string;
  readonly projectId: string;
  /** The project's application server key, from its API key card. */
  readonly applicationServerKey: string;
  /**
   * URL of the service worker's file, on this page's origin, or its registration. Default: `/carillon-sw.js`. A
   * registration is used as it is, and so is one that the browser has for this file.
   */
  readonly serviceWorker?: string | TrustedUrl | ServiceWorkerRegistration | undefined;
  /** Scope of the service worker. Default: the folder of its file. */
  readonly scope?: string | undefined;
  /**
   * Whether to replace a service worker of another file at the scope, such as that of the service that the site used
   * before. Default: false. `subscribe()` then rejects.
   */
  readonly replaceWorker?: boolean | undefined;
  /** Channels of a browser in which nobody has chosen any. Default: none. */
  readonly channels?: readonly string[] | undefined;
}

/** A `TrustedScriptURL`, for pages that require Trusted Types. Not every version of TypeScript knows it. */
export interface TrustedUrl {
  toJSON(): string;
}

/** Which notifications: by the `tag` of the send, or by the id in its response. */
export type CloseOptions =
  | { readonly tag: string; readonly id?: undefined }
  | { readonly id: string; readonly tag?: undefined };

const subscribeOptionNames: readonly (keyof SubscribeOptions)[] = [
  'channels',
  'userId',
  'userIdSignature',
];

const optionNames: readonly (keyof CarillonOptions)[] = [
  'baseUrl',
  'projectId',
  'applicationServerKey',
  'serviceWorker',
  'scope',
  'replaceWorker',
  ...subscribeOptionNames,
];

/** The options of `init`, checked, with defaults. */
export interface Settings {
  readonly project: ProjectAddress;
  /** Absolute URL of the service worker's file. Empty: of a registration that does not tell. */
  readonly serviceWorker: string;
  /** Options of `register()`. */
  readonly url: string | TrustedUrl;
  /** Absolute, in the spelling of `ServiceWorkerRegistration.scope`. */
  readonly scope: string;
  readonly replaceWorker: boolean | undefined;
}

/**
 * Validates the options and fills in defaults.
 * @param baseUri base of relative URLs.
 * @param origin of the page. A `<base>` element may give `baseUri` another origin.
 * @throws {CarillonError} `invalid_options`, with the option's name and a correct form.
 */
export function readOptions(options: CarillonOptions, baseUri: string, origin: string): Settings {
  const given: Readonly<Record<string, unknown>> = Object(typeof options === 'object' && options);
  expectKnown(given, optionNames);
  checkUser(given);
  const project = {
    baseUrl: readBaseUrl(given.baseUrl),
    projectId: readProjectId(given.projectId),
    applicationServerKey: readKey(given.applicationServerKey),
  };
  const { serviceWorker: worker = `${origin}/carillon-sw.js`, scope, replaceWorker } = options;
  const urlOf = (name: keyof CarillonOptions, value: unknown, example: string) => {
    // Trusted Types are objects.
    const url = readUrl(Object(value).toJSON ? String(value) : value, baseUri);
    if (url?.origin === origin) return url.href;
    throw invalidOption(name, `use a URL on this origin, such as "${example}"`);
  };
  // Also a registration of a library that wraps it.
  const registration = 'pushManager' in Object(worker) && (worker as ServiceWorkerRegistration);
  const serviceWorker = registration
    ? // The newest is the one of the call that has returned the registration.
      (workersOf(registration).pop()?.scriptURL ?? '')
    : urlOf('serviceWorker', worker, '/carillon-sw.js');
  const defaultScope = registration ? registration.scope : new URL('.', serviceWorker).href;
  return {
    project,
    serviceWorker,
    replaceWorker,
    url: registration ? serviceWorker : (worker as string | TrustedUrl),
    // `register()` does the same: a given scope is relative to the page, the default one to the worker.
    scope: scope === undefined ? defaultScope : urlOf('scope', scope, '/shop/'),
  };
}

/** @throws {CarillonError} `invalid_options`. */
export function readSubscribeOptions(options: SubscribeOptions): SubscribeOptions {
  // A listener of clicks gets an event, or what a library passes as one.
  if ('preventDefault' in options) return {};
  expectKnown(options, subscribeOptionNames);
  checkUser(options);
  return options;
}

/** @throws {CarillonError} `invalid_options`. */
export function readCloseOptions(options: CloseOptions): CloseOptions {
  const given: CloseOptions = Object(options);
  expectKnown(given, ['tag', 'id']);
  // Without either, or with an empty tag, all notifications would be closed.
  const name = given.id === undefined ? 'tag' : 'id';
  requireMatch(/./s, given[name], name, 'use a tag or an id');
  return given;
}

/** @throws {CarillonError} `invalid_options`. */
export function checkUser({ userId, channels }: SubscribeOptions): void {
  requireMatch(/^/, userId ?? '', 'userId', 'use a string, such as String(user.id)');
  const isName = (name: unknown) => typeof name === 'string' && channelPattern.test(name);
  // Only a list has the method.
  if (!(channels ?? []).every?.(isName)) {
    throw invalidOption('channels', 'use a list of names: lowercase letters, digits or hyphens');
  }
}

function readKey(value: unknown): string {
  const name = 'applicationServerKey';
  // Keys of a project: `carillon_sk_…`, `carillon_id_…`. Or 32 bytes in base64: a private VAPID key.
  const notSecret = /^(?!carillon_|[\w+/-]{43}=?$)/;
  requireMatch(notSecret, String(value), name, 'this key is secret; rotate it');
  // 65 bytes in base64, the first of which is 4: an uncompressed point.
  return normalizeKey(
    requireMatch(
      /^B[A-P][\w+/-]{85}=?$/,
      value,
      name,
      'copy the application server key from the API key card',
    ),
  );
}
