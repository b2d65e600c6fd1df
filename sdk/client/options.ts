import type { StatedChoice } from '../../contract/wire/fields.ts';
import { channelPattern } from '../../contract/wire/formats.ts';
import {
  invalidOption,
  readBaseUrl,
  readProjectId,
  readUrl,
  requireMatch,
} from '../common/option-checks.ts';
import type { ProjectAddress, SignedChoice } from '../common/service.ts';
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
  /**
   * True: no visitor has asked. Who has unsubscribed stays so, and who was erased: then `subscribe()` resolves to undefined,
   * or rejects with `erased` if the service says so only now.
   */
  readonly renewal?: boolean | undefined;
  /**
   * Your name for the text that the visitor agrees to, of at most 64 characters. Undefined, or with `renewal`: as stored
   * before.
   */
  readonly consent?: string | undefined;
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
  /**
   * Language tag of the notifications that the visitor gets. Default: the `lang` of the page, or else the browser's
   * language. Null: none.
   */
  readonly locale?: string | null | undefined;
  /** Whether this browser reports that notifications were shown and clicked. Default: true. */
  readonly events?: boolean | undefined;
  /** How many of the shown notifications this browser keeps for {@link CarillonClient.history}, 0 to 100. Default: 0. */
  readonly history?: number | undefined;
}

/** A `TrustedScriptURL`, for pages that require Trusted Types. Not every version of TypeScript knows it. */
export interface TrustedUrl {
  toJSON(): string;
}

/** Which notifications: by the `tag` of the send, or by the id in its response. */
export type CloseOptions =
  | { readonly tag: string; readonly id?: undefined }
  | { readonly id: string; readonly tag?: undefined };

export const optionNames: readonly (keyof CarillonOptions)[] = [
  'baseUrl',
  'projectId',
  'applicationServerKey',
  'serviceWorker',
  'scope',
  'replaceWorker',
  'channels',
  'locale',
  'events',
  'history',
  'userId',
  'userIdSignature',
];

/** The options of `init`, checked, with defaults. */
export interface Settings {
  /** What the page says of the visitor. Its channels are those of a browser in which nobody has chosen any. */
  readonly choice: SignedChoice;
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
 * @param languages of the page and of the browser, which may have any text.
 * @param origin of the page. A `<base>` element may give `baseUri` another origin.
 * @throws {CarillonError} `invalid_options`, with the option's name and a correct form.
 */
export function readOptions(
  options: CarillonOptions,
  baseUri: string,
  origin: string,
  languages: readonly string[] = [],
): Settings {
  const {
    baseUrl,
    projectId,
    applicationServerKey,
    serviceWorker: worker = `${origin}/carillon-sw.js`,
    scope,
    replaceWorker,
    locale,
    events,
    history = 0,
    ...stated
  }: CarillonOptions = Object(options);
  const project = {
    baseUrl: readBaseUrl(baseUrl),
    projectId: readProjectId(projectId),
    applicationServerKey: readKey(applicationServerKey),
    events,
    history,
  };
  if (!(history >= 0 && history <= 100)) throw invalidOption('history', 'use 0 to 100');
  const urlOf = (name: keyof CarillonOptions, value: unknown) => {
    // A page without an http address has no push, and no URL could be right.
    if (!origin.startsWith('http')) return '';
    // Trusted Types are objects.
    const url = readUrl(Object(value).toJSON ? String(value) : value, baseUri);
    if (url?.origin === origin) return url.href;
    throw invalidOption(name, 'use a URL on this origin');
  };
  // Also a registration of a library that wraps it.
  const registration = 'pushManager' in Object(worker) && (worker as ServiceWorkerRegistration);
  const serviceWorker = registration
    ? // The newest is the one of the call that has returned the registration.
      (workersOf(registration).pop()?.scriptURL ?? '')
    : urlOf('serviceWorker', worker);
  return {
    project,
    choice: { ...readChoice(stated), locale: readLocale(locale, languages) },
    serviceWorker,
    replaceWorker,
    url: registration ? serviceWorker : (worker as string | TrustedUrl),
    // `register()` does the same: a given scope is relative to the page, the default one to the worker.
    scope:
      scope !== undefined
        ? urlOf('scope', scope)
        : registration
          ? registration.scope
          : (readUrl('.', serviceWorker)?.href ?? ''),
  };
}

/** @throws {CarillonError} `invalid_options`. */
export function readCloseOptions(options: CloseOptions): CloseOptions {
  const given: CloseOptions = Object(options);
  // Without either, or with an empty tag, all notifications would be closed.
  requireMatch(/./s, given.id ?? given.tag, 'tag', 'use a tag or an id');
  return given;
}

/**
 * The given members. A null user id clears what is stored.
 * @throws {CarillonError} `invalid_options`, also for a member that does not exist.
 */
export function readChoice({
  userId,
  userIdSignature,
  channels,
  ...unknown
}: Omit<SubscribeOptions, 'renewal' | 'consent'> & {
  readonly [Name in Exclude<keyof StatedChoice, 'locale' | 'consent'>]?: unknown;
}): SignedChoice {
  // A member of the contract that is not read here is a type error.
  unknown satisfies Readonly<Record<keyof typeof unknown, never>>;
  for (const name of Object.keys(unknown)) throw invalidOption(name, 'unknown; see check()');
  requireMatch(/^/, userId ?? '', 'userId', 'use String(user.id)');
  const isName = (name: unknown) => typeof name === 'string' && channelPattern.test(name);
  // Only a list has the method.
  if (!(channels ?? []).every?.(isName)) {
    throw invalidOption('channels', 'use a list of names: a-z, 0-9, -');
  }
  return {
    // The signature is of the user id beside it.
    ...(userId !== undefined && { userId, userIdSignature }),
    // A copy: storage takes no list of a library that watches it, and the page may change its own.
    ...(channels && { channels: [...channels] }),
  };
}

/** @throws {CarillonError} `invalid_options` for an option that is no tag. */
function readLocale(option: CarillonOptions['locale'], languages: readonly string[]) {
  // A list, such as `navigator.languages`, has the preferred one first.
  const tags = [option, ...languages].map((tag) => {
    try {
      return Intl.getCanonicalLocales(tag!).find(({ length }) => length < 36);
    } catch {
      return undefined;
    }
  });
  if (option && !tags[0]) throw invalidOption('locale', 'use one such as "pt-BR"');
  return option === null ? option : tags.find((tag) => tag);
}

/** @throws {CarillonError} `invalid_options`. */
export function readSubscribeOptions(options: SubscribeOptions): SignedChoice {
  // A listener of clicks gets an event, or what a library passes as one.
  if ('preventDefault' in options) return {};
  const { renewal, consent, ...choice } = options;
  return { ...readChoice(choice), ...(consent !== undefined && !renewal && { consent }) };
}

function readKey(value: unknown): string {
  // Keys of a project: `carillon_sk_…`, `carillon_id_…`. Or 32 bytes in base64: a private VAPID key.
  const isSecret = /^(carillon_|[\w+/-]{43}=?$)/.test(String(value));
  const advice = isSecret ? 'this key is secret; rotate it' : undefined;
  // 65 bytes in base64, the first of which is 4: an uncompressed point.
  const pattern = /^B[A-P][\w+/-]{85}=?$/;
  return normalizeKey(requireMatch(pattern, value, 'applicationServerKey', advice));
}
