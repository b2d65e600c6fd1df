import { normalizeKey } from '../common/application-server-key.ts';
import {
  invalidOption,
  readBaseUrl,
  readProjectId,
  readUrl,
  requireMatch,
} from '../common/option-checks.ts';
import type { ProjectAddress } from '../common/service.ts';

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
  /** The project's public key, from its API key card. */
  readonly applicationServerKey: string;
  /** URL of the service worker's file, on this page's origin. Default: `/carillon-sw.js`. */
  readonly serviceWorker?: string;
  /** Scope of the service worker. Default: the folder of its file. */
  readonly scope?: string;
  /** Channels of a browser in which nobody has chosen any. Default: none. */
  readonly channels?: readonly string[];
}

const optionNames: readonly string[] = [
  'baseUrl',
  'projectId',
  'applicationServerKey',
  'serviceWorker',
  'scope',
  'channels',
  'userId',
  'userIdSignature',
] satisfies (keyof CarillonOptions)[];

export interface Settings {
  readonly project: ProjectAddress;
  /** Absolute. */
  readonly serviceWorker: string;
  /** Absolute, in the spelling of `ServiceWorkerRegistration.scope`. */
  readonly scope: string;
}

/**
 * Validates the options and fills in defaults.
 * @param baseUri base of relative URLs.
 * @param origin of the page. A `<base>` element may give `baseUri` another origin.
 * @throws {CarillonError} `invalid_options`, with the option's name and a correct form.
 */
export function readOptions(options: CarillonOptions, baseUri: string, origin: string): Settings {
  const given: Readonly<Record<string, unknown>> = Object(typeof options === 'object' && options);
  const unknown = Object.keys(given).find((name) => !optionNames.includes(name));
  if (unknown !== undefined) {
    // Enough letters to tell most options apart, and to find what `projectID` and `base_url` mean.
    const start = unknown.slice(0, 3).toLowerCase();
    const meant = optionNames.find((name) => name.startsWith(start)) ?? optionNames.join(', ');
    throw invalidOption(unknown, `unknown; use ${meant}`);
  }
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
    serviceWorker: workerUrl,
    scope: readUrlOnOrigin(origin, scope, scopeBase, 'scope', '/shop/'),
  };
}

function readKey(value: unknown): string {
  // Of a project: `carillon_sk_…`, `carillon_id_…`. Or 32 bytes in base64: a private VAPID key.
  if (/^(carillon_.*|[\w+/-]{43}=?)$/.test(String(value))) {
    throw invalidOption(
      'applicationServerKey',
      'this is a private or secret key; rotate it, and copy the application server key from the API key card',
    );
  }
  // 65 bytes in base64, the first of which is 4: an uncompressed point.
  return normalizeKey(
    requireMatch(
      /^B[A-P][\w+/-]{85}=?$/,
      value,
      'applicationServerKey',
      'copy the application server key from the API key card: 87 characters that start with "B"',
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
