import { projectIdPattern, secretKeyPrefix } from '../../contract/limits.ts';
import { normalizeKey } from '../common/application-server-key.ts';
import { CarillonError } from '../common/error.ts';
import type { ProjectAddress } from '../common/service.ts';

export interface CarillonOptions {
  /** Address of the service, without a path: `https://push.example.com`. */
  readonly baseUrl: string;
  readonly projectId: string;
  /** The project's public key, from its API key card. */
  readonly applicationServerKey: string;
  /** URL of the service worker's file, on this site's origin. Default: `/carillon-sw.js`. */
  readonly serviceWorker?: string;
  /** The worker's scope. Default: the folder of its file. */
  readonly scope?: string;
}

export interface Settings {
  readonly project: ProjectAddress;
  /** Absolute. */
  readonly serviceWorker: string;
  /** Absolute, as `ServiceWorkerRegistration.scope` spells it. */
  readonly scope: string;
}

/** What a valid option looks like. No error repeats a value: it may be a secret key. */
const advice = {
  baseUrl:
    'write the address of the service with its scheme and without a path, such as "https://push.example.com"',
  projectId: 'use 1 to 64 lowercase letters, digits or hyphens, not starting with a hyphen',
  applicationServerKey:
    'copy the application server key from the API key card: 87 characters that start with "B"',
  serviceWorker: 'use a URL on the origin of this page, such as "/carillon-sw.js"',
  scope: 'use a URL on the origin of this page, such as "/shop/"',
} as const satisfies Record<keyof CarillonOptions, string>;

/**
 * @param baseUri what relative URLs are relative to.
 * @param origin of the page: a `<base>` element may give it another `baseUri`.
 * @throws {CarillonError} `invalid_options`, naming the option and what to write.
 */
export function readOptions(options: CarillonOptions, baseUri: string, origin: string): Settings {
  const given: Readonly<Record<string, unknown>> = Object(options);
  const baseUrl = readBaseUrl(given.baseUrl);
  const projectId = matching(projectIdPattern, given.projectId, 'projectId');
  const applicationServerKey = readKey(given.applicationServerKey);
  const { serviceWorker = '/carillon-sw.js', scope = '.' } = given;
  const workerUrl = urlOnOrigin(origin, serviceWorker, baseUri, 'serviceWorker');
  // A scope is relative to the page when it is given, and to the worker when it is not.
  const scopeBase = given.scope === undefined ? workerUrl : baseUri;
  return {
    project: { baseUrl, projectId, applicationServerKey },
    serviceWorker: workerUrl,
    scope: urlOnOrigin(origin, scope, scopeBase, 'scope'),
  };
}

function readBaseUrl(value: unknown): string {
  const url = readUrl(value);
  const isWebUrl = url?.protocol === 'https:' || url?.protocol === 'http:';
  // Equal only without a user, a path, a query and a fragment.
  if (!isWebUrl || url.href !== `${url.origin}/`) throw invalid('baseUrl');
  return url.origin;
}

function readKey(value: unknown): string {
  if (typeof value === 'string' && value.startsWith(secretKeyPrefix)) {
    throw invalid(
      'applicationServerKey',
      'this is the secret key, which must not be in a page; rotate it, and use the application server key',
    );
  }
  // 32 bytes.
  if (typeof value === 'string' && /^[\w+/-]{43}=?$/.test(value)) {
    throw invalid(
      'applicationServerKey',
      'this is a private key, which must not be in a page; use the application server key',
    );
  }
  // 65 bytes, of which the first is 4: an uncompressed point.
  return normalizeKey(matching(/^B[A-P][\w+/-]{85}=?$/, value, 'applicationServerKey'));
}

function matching(pattern: RegExp, value: unknown, name: keyof CarillonOptions): string {
  if (typeof value !== 'string' || !pattern.test(value)) throw invalid(name);
  return value;
}

/** Browsers register no worker and no scope of another origin. */
function urlOnOrigin(
  origin: string,
  value: unknown,
  base: string,
  name: keyof CarillonOptions,
): string {
  const url = readUrl(value, base);
  if (url?.origin !== origin) throw invalid(name);
  return url.href;
}

function readUrl(value: unknown, base?: string): URL | undefined {
  try {
    return typeof value === 'string' ? new URL(value, base) : undefined;
  } catch {
    return undefined;
  }
}

function invalid(name: keyof CarillonOptions, what: string = advice[name]): CarillonError {
  return new CarillonError('invalid_options', `Missing or invalid option "${name}": ${what}.`);
}
