import { limits } from './limits.ts';
import type { OldWorker } from './message.ts';
import { type MemberRole, type RouteName, routeNames } from './routes.ts';

/**
 * What the operator sets of a project: a row for each setting. `carillon set` has an option for each, and `carillon show`
 * prints it. They are stored as one value: the settings that were set.
 */
export const settingFields = {
  /** For people. */
  name: { kind: 'text', max: limits.projectNameLength, isPublic: true, isRequired: true },
  /** Whether a subscription can have any user id, or only one with a signature. */
  userIds: { kind: 'choice', choices: ['open', 'signed'], default: 'open' },
  /** Pages from which browsers may be registered and removed. Not set: any. */
  origins: { kind: 'origins' },
  subscriberCap: { kind: 'limit' },
  monthlySendCap: { kind: 'limit' },
  rateLimitPerMinute: { kind: 'limit' },
  /** One browser in this many reports `shown` of a large broadcast. */
  shownSample: { kind: 'number', min: 1, max: 100, default: 1 },
  /** Whether browsers report what becomes of a notification. */
  events: { kind: 'flag', default: true },
  /** The service worker that imported subscriptions may still have. */
  oldWorker: { kind: 'oldWorker' },
} as const satisfies Readonly<Record<string, SettingField>>;

export type SettingField = (
  | { readonly kind: 'text'; readonly max: number }
  | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly default: string }
  | { readonly kind: 'flag'; readonly default: boolean }
  | {
      readonly kind: 'number';
      readonly min: number;
      readonly max: number;
      readonly default: number;
    }
  /** Null: no limit. Absent: the deployment's. */
  | { readonly kind: 'limit' }
  | { readonly kind: 'oldWorker' }
  | { readonly kind: 'origins' }
) & {
  /** Whether API and console show it. */
  readonly isPublic?: true;
  /** Whether each project has it, from its creation. */
  readonly isRequired?: true;
};

export type SettingKind = SettingField['kind'];
export type SettingOfKind<Kind extends SettingKind> = Extract<
  SettingField,
  { readonly kind: Kind }
>;

type Rows = typeof settingFields;
export type SettingName = keyof Rows;
type NameWith<Facts> = {
  [Name in SettingName]: Rows[Name] extends Facts ? Name : never;
}[SettingName];
export type PublicName = NameWith<{ readonly isPublic: true }>;

type ValueOf<Row extends SettingField> = {
  text: string;
  choice: Row extends { readonly choices: readonly (infer Choice)[] } ? Choice : never;
  flag: boolean;
  number: number;
  limit: number | null;
  oldWorker: OldWorker;
  origins: readonly string[];
}[Row['kind']];
export type SettingValue<Name extends SettingName> = ValueOf<Rows[Name]>;

/** The rate limits of single actions, by the route's name: `trackPerMinute`. They precede `rateLimitPerMinute`. */
type ActionLimits = { readonly [Name in RouteName as `${Name}PerMinute`]?: number | null };

/** Requests per minute by action. Null: no limit. */
export type RateLimits = Partial<Readonly<Record<RouteName, number | null>>>;

/** The settings of a project that were set. */
export type SetSettings = ActionLimits & {
  readonly [Name in SettingName]?: SettingValue<Name>;
};

type RequiredSettings = Required<Pick<SetSettings, NameWith<{ readonly isRequired: true }>>>;

/** The settings of a project. Without a default, those that were not set are absent. */
export type ProjectSettings = SetSettings &
  RequiredSettings &
  Required<Pick<SetSettings, NameWith<{ readonly default: unknown }>>>;

/** The facts of a setting. */
export const settingOf = (name: SettingName): SettingField => settingFields[name];

export const settingNames = Object.keys(settingFields) as readonly SettingName[];

/** The value of a setting that was not set. Undefined: it has none, or it is the deployment's. */
export function defaultOf(name: SettingName): unknown {
  const row = settingOf(name);
  return 'default' in row ? row.default : undefined;
}

/** Adds the settings that were not set. */
export function withDefaults(set: SetSettings & RequiredSettings): ProjectSettings {
  const defaults = settingNames.map((name) => [name, defaultOf(name)]);
  return {
    ...Object.fromEntries(defaults.filter(([, value]) => value !== undefined)),
    ...set,
  };
}

type PublicSettings = Pick<ProjectSettings, PublicName>;

/** What API and console show: those that have a value. */
export function publicSettings(settings: PublicSettings): PublicSettings {
  const given = publicNames.filter((name) => settings[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, settings[name]])) as PublicSettings;
}

export const publicNames = settingNames.filter(
  (name): name is PublicName => settingOf(name).isPublic === true,
);

/** A person who has a key of their own. */
export interface Member {
  readonly name: string;
  readonly role: MemberRole;
  /** SHA-256 of the member key, hex. */
  readonly keyHash: string;
  /** The end of the key. */
  readonly until?: Date | undefined;
}

/** VAPID key pair (RFC 8292), base64url. The public key is the application server key. */
export interface VapidKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** The public half of a project's VAPID key pair. */
export interface PublicVapidPair {
  /** The pairs of a project are numbered from 0, in the order in which they became current. */
  readonly number: number;
  /** The application server key, base64url. */
  readonly publicKey: string;
}

export interface VapidPair extends PublicVapidPair, VapidKeys {}

/** A project's pairs. The previous one is kept after a rotation, until the operator drops it. */
export interface VapidPairs<Pair extends PublicVapidPair = PublicVapidPair> {
  readonly current: Pair;
  readonly previous?: Pair | undefined;
}

/**
 * Names a project among all that ever had its id: everything that a project owns is stored under it. A function
 * that remembers a deleted project therefore finds and changes nothing of a later one with the same id.
 */
export type ProjectRef = string & { readonly _: 'ProjectRef' };

/** A project as all functions know it. */
export interface Project {
  readonly projectId: string;
  readonly ref: ProjectRef;
  /**
   * 256 random bits that key the HMACs of texts that callers choose: nobody outside can predict these. In no response,
   * push message or log line.
   */
  readonly internalKey: Uint8Array;
  /** SHA-256 of the secret key, hex. */
  readonly secretKeyHash: string;
  /** The key before the last rotation, if that had a grace period. */
  readonly previousKey?: { readonly hash: string; readonly until: Date } | undefined;
  readonly members: readonly Member[];
  readonly settings: ProjectSettings;
  readonly vapid: VapidPairs;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Since when it sends nothing: ISO 8601. */
  readonly pausedAt?: string | undefined;
}

/** A project with the keys that sign user ids, for the function that checks the signatures. */
export interface IdentityProject extends Project {
  readonly identityKey: string;
  /** The key before the last rotation, if that had a grace period. */
  readonly previousIdentityKey?: { readonly key: string; readonly until: Date } | undefined;
}

/** A project with its private keys, for the functions that sign pushes. */
export interface SigningProject extends Project {
  readonly vapid: VapidPairs<VapidPair>;
}

/** A project's limit: its own, or else the deployment's. Null: no limit. */
export function limitOf(own: number | null | undefined, deployed: number | null): number | null {
  return own === undefined ? deployed : own;
}

/** Requests per minute of an address that a project allows for an action. @param deployed the deployment's limit. */
export function rateLimitOf(
  settings: SetSettings,
  action: RouteName,
  deployed: number,
): number | null {
  return limitOf(settings[`${action}PerMinute`], limitOf(settings.rateLimitPerMinute, deployed));
}

/** The rate limits of a project: of all actions, and of those that differ. @param deployed the deployment's limit. */
export function rateLimitsOf(settings: SetSettings, deployed: number) {
  const rateLimitPerMinute = limitOf(settings.rateLimitPerMinute, deployed);
  const different = routeNames
    .map((action) => [action, rateLimitOf(settings, action, deployed)] as const)
    .filter(([, limit]) => limit !== rateLimitPerMinute);
  return {
    rateLimitPerMinute,
    ...(different.length > 0 && { rateLimits: Object.fromEntries(different) as RateLimits }),
  };
}
