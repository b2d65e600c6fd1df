import { channelListPattern } from '../../contract/formats.ts';
import {
  expectKnown,
  invalidOption,
  readBaseUrl,
  readProjectId,
  readUrl,
  requireMatch,
} from '../common/option-checks.ts';
import { normalizeKey } from '../common/subscription.ts';

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
  /** URL of the service worker's file, on this page's origin. Default: `/carillon-sw.js`. */
  readonly serviceWorker?: string;
  /** Scope of the service worker. Default: the folder of its file. */
  readonly scope?: string;
  /** Channels of a browser in which nobody has chosen any. Default: none. */
  readonly channels?: readonly string[];
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
  ...subscribeOptionNames,
];

export type Settings = ReturnType<typeof readOptions>;

/**
 * Validates the options and fills in defaults.
 * @param baseUri base of relative URLs.
 * @param origin of the page. A `<base>` element may give `baseUri` another origin.
 * @throws {CarillonError} `invalid_options`, with the option's name and a correct form.
 */
export function readOptions(options: CarillonOptions, baseUri: string, origin: string) {
  const given: Readonly<Record<string, unknown>> = Object(typeof options === 'object' && options);
  expectKnown(given, optionNames);
  checkUser(given);
  const baseUrl = readBaseUrl(given.baseUrl);
  const projectId = readProjectId(given.projectId);
  const applicationServerKey = readKey(given.applicationServerKey);
  const { serviceWorker = '/carillon-sw.js', scope = '.' } = given;
  const workerUrl = readUrlOnOrigin(
    origin,
    serviceWorker,
    baseUri,
    'serviceWorker',
    '/carillon-sw.js',
  );
  // As in `register()`: a given scope is relative to the page, the default one to the worker.
  const scopeBase = given.scope === undefined ? workerUrl : baseUri;
  return {
    project: { baseUrl, projectId, applicationServerKey },
    /** Absolute. */
    serviceWorker: workerUrl,
    /** Absolute, in the spelling of `ServiceWorkerRegistration.scope`. */
    scope: readUrlOnOrigin(origin, scope, scopeBase, 'scope', '/shop/'),
  };
}

/** @throws {CarillonError} `invalid_options`. */
export function readSubscribeOptions(options: SubscribeOptions): SubscribeOptions {
  // A listener of clicks gets an event.
  if (options instanceof Event) return {};
  expectKnown(options, subscribeOptionNames);
  checkUser(options);
  return options;
}

/** @throws {CarillonError} `invalid_options`. */
export function readCloseOptions(options: CloseOptions): CloseOptions {
  const { tag, id }: CloseOptions = Object(options);
  expectKnown(Object(options), ['tag', 'id']);
  // Without either, or with an empty tag, all notifications would be closed.
  const name = id === undefined ? 'tag' : 'id';
  requireMatch(/./s, id ?? tag, name, 'use a tag or an id');
  return options;
}

/** @throws {CarillonError} `invalid_options`. */
export function checkUser({ userId, channels }: SubscribeOptions): void {
  requireMatch(/^/, userId ?? '', 'userId', 'use a string, such as String(user.id)');
  requireMatch(
    channelListPattern,
    JSON.stringify(channels ?? []),
    'channels',
    'use a list of names: lowercase letters, digits or hyphens',
  );
}

function readKey(value: unknown): string {
  // Of a project: `carillon_sk_…`, `carillon_id_…`. Or 32 bytes in base64: a private VAPID key.
  if (/^(carillon_.*|[\w+/-]{43}=?)$/.test(String(value))) {
    throw invalidOption(
      'applicationServerKey',
      'this key is secret; rotate it, and copy the application server key from the API key card',
    );
  }
  // 65 bytes in base64, the first of which is 4: an uncompressed point.
  return normalizeKey(
    requireMatch(
      /^B[A-P][\w+/-]{85}=?$/,
      value,
      'applicationServerKey',
      'copy the application server key from the API key card',
    ),
  );
}

/** A service worker and its scope must be on the page's origin. */
function readUrlOnOrigin(
  origin: string,
  value: unknown,
  base: string,
  name: 'serviceWorker' | 'scope',
  example: string,
): string {
  const url = readUrl(value, base);
  if (url?.origin !== origin) {
    throw invalidOption(name, `use a URL on this origin, such as "${example}"`);
  }
  return url.href;
}
