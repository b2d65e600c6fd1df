import { secretKeyPrefix } from '../../contract/formats.ts';
import { normalizeKey } from '../common/application-server-key.ts';
import {
  invalidOption,
  readBaseUrl,
  readProjectId,
  readUrl,
  requireMatch,
} from '../common/option-checks.ts';
import type { ProjectAddress } from '../common/service.ts';

export interface CarillonOptions {
  /** Address of the service, without a path: `https://push.example.com`. */
  readonly baseUrl: string;
  readonly projectId: string;
  /** The project's public key, from its API key card. */
  readonly applicationServerKey: string;
  /** URL of the service worker's file, on this page's origin. Default: `/carillon-sw.js`. */
  readonly serviceWorker?: string;
  /** Scope of the service worker. Default: the folder of its file. */
  readonly scope?: string;
}

export interface Settings {
  readonly project: ProjectAddress;
  /** Absolute. */
  readonly serviceWorker: string;
  /** Absolute, in the spelling of `ServiceWorkerRegistration.scope`. */
  readonly scope: string;
}

/** How to correct an option. */
const advice = {
  applicationServerKey:
    'copy the application server key from the API key card: 87 characters that start with "B"',
  serviceWorker: 'use a URL on the origin of this page, such as "/carillon-sw.js"',
  scope: 'use a URL on the origin of this page, such as "/shop/"',
} as const satisfies Partial<Record<keyof CarillonOptions, string>>;

/**
 * Validates the options and fills in defaults.
 * @param baseUri base of relative URLs.
 * @param origin of the page. A `<base>` element may give `baseUri` another origin.
 * @throws {CarillonError} `invalid_options`, with the option's name and a correct form.
 */
export function readOptions(options: CarillonOptions, baseUri: string, origin: string): Settings {
  const given: Readonly<Record<string, unknown>> = Object(options);
  const baseUrl = readBaseUrl(given.baseUrl);
  const projectId = readProjectId(given.projectId);
  const applicationServerKey = readKey(given.applicationServerKey);
  const { serviceWorker = '/carillon-sw.js', scope = '.' } = given;
  const workerUrl = readUrlOnOrigin(origin, serviceWorker, baseUri, 'serviceWorker');
  // As in `register()`: a given scope is relative to the page, the default one to the worker.
  const scopeBase = given.scope === undefined ? workerUrl : baseUri;
  return {
    project: { baseUrl, projectId, applicationServerKey },
    serviceWorker: workerUrl,
    scope: readUrlOnOrigin(origin, scope, scopeBase, 'scope'),
  };
}

function readKey(value: unknown): string {
  const text = String(value);
  if (text.startsWith(secretKeyPrefix)) {
    throw invalidOption(
      'applicationServerKey',
      'this is the secret key, which must never be in a page; rotate it, and use the application server key',
    );
  }
  // 32 bytes in base64.
  if (/^[\w+/-]{43}=?$/.test(text)) {
    throw invalidOption(
      'applicationServerKey',
      'this is a private key, which must never be in a page; use the application server key',
    );
  }
  // 65 bytes in base64, the first of which is 4: an uncompressed point.
  return normalizeKey(
    requireMatch(
      /^B[A-P][\w+/-]{85}=?$/,
      value,
      'applicationServerKey',
      advice.applicationServerKey,
    ),
  );
}

/** A service worker and its scope must be on the page's origin. */
function readUrlOnOrigin(
  origin: string,
  value: unknown,
  base: string,
  name: keyof typeof advice,
): string {
  const url = readUrl(value, base);
  if (url?.origin !== origin) throw invalidOption(name, advice[name]);
  return url.href;
}
