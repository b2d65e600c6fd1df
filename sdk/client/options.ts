import { normalizeKey } from '../common/application-server-key.ts';
import { CarillonError } from '../common/error.ts';
import type { ProjectAddress } from '../common/service.ts';

export interface CarillonOptions {
  /** Address of the service: `https://push.example.com`. */
  readonly baseUrl: string;
  readonly projectId: string;
  /** The project's public key, from its API key card. */
  readonly applicationServerKey: string;
  /** Where the service worker's file lies on this site. Default: `/carillon-sw.js`. */
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

/** @throws {CarillonError} `invalid_options`, naming the option. */
export function readOptions(options: CarillonOptions, pageUrl: string): Settings {
  const { serviceWorker = '/carillon-sw.js', scope = '.' } = options;
  const workerUrl = absolute(serviceWorker, pageUrl, 'serviceWorker');
  // A scope is relative to the page when it is given, and to the worker when it is not.
  const scopeUrl = absolute(scope, options.scope === undefined ? workerUrl : pageUrl, 'scope');
  const key = required(options, 'applicationServerKey');
  if (!/^[\w+/-]{87}=?$/.test(key)) throw wrong('applicationServerKey');
  const baseUrl = absolute(required(options, 'baseUrl'), pageUrl, 'baseUrl').replace(/\/+$/, '');
  const projectId = required(options, 'projectId');
  return {
    project: { baseUrl, projectId, applicationServerKey: normalizeKey(key) },
    serviceWorker: workerUrl,
    scope: scopeUrl,
  };
}

function required(options: CarillonOptions, name: keyof CarillonOptions): string {
  const value: unknown = options[name];
  if (typeof value !== 'string' || value === '') throw wrong(name);
  return value;
}

function absolute(url: string, base: string, name: keyof CarillonOptions): string {
  try {
    return new URL(url, base).href;
  } catch {
    throw wrong(name);
  }
}

function wrong(name: keyof CarillonOptions): CarillonError {
  return new CarillonError('invalid_options', `The option "${name}" is missing or wrong.`);
}
