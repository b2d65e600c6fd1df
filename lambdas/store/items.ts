import { createHash, createHmac } from 'node:crypto';
import type { Conditions } from '../../contract/wire/content.ts';
import type { ByPushService, Failures } from '../../contract/wire/counts.ts';
import {
  type Choice,
  type ChoiceName,
  choiceFields,
  choiceNames,
  encodeBase64url,
  type StatedChoice,
} from '../../contract/wire/fields.ts';
import type { NotificationContent } from '../../contract/wire/notification.ts';
import type { Project, ProjectRef, SetSettings } from '../../contract/wire/project.ts';
import type { MemberRole } from '../../contract/wire/routes.ts';

/**
 * The items of the tables as they are stored. The stack takes the names of keys from here.
 */

/** Projects, keyed by `projectId`. */
export interface ProjectItem {
  readonly projectId: string;
  readonly ref: ProjectRef;
  /** Stored here, because the functions that need it read this item anyway. Never changes: positions follow from it. */
  readonly internalKey: Uint8Array;
  /** SHA-256 of the secret key, hex. The key itself is not stored. */
  readonly secretKeyHash: string;
  /** The hash before the last rotation, and the end of its grace period: ISO 8601. */
  readonly previousKeyHash?: string;
  readonly previousKeyUntil?: string;
  /** The members by their names: always present, so that one can be added without the others. */
  readonly members: Readonly<Record<string, MemberItem>>;
  /** The end of the grace period of the identity key before the last rotation: ISO 8601. */
  readonly previousIdentityKeyUntil?: string;
  /** The application server key: the public key of the current VAPID pair (RFC 8292), base64url. */
  readonly vapidPublicKey: string;
  /** Number of the current pair: how often the pair was rotated. */
  readonly vapidPair: number;
  /** Public key of the pair before it, or of one from another service, until the operator drops that. */
  readonly previousVapidPublicKey?: string;
  /** When the project last got or dropped a pair: ISO 8601. Absent: it has only had its first one. */
  readonly vapidRotatedAt?: string;
  readonly settings: SetSettings & { readonly name: string };
  /** ISO 8601. */
  readonly createdAt: string;
  /** Since when it sends nothing: ISO 8601. Absent: it sends. */
  readonly pausedAt?: string | undefined;
}

/** A member of a project, stored under the name. */
export interface MemberItem {
  readonly role: MemberRole;
  /** SHA-256 of the member key, hex. */
  readonly keyHash: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** The end of the key, ISO 8601. */
  readonly expiresAt?: string;
}

/** In Projects, in place of a project that is being removed or brought. No other one with its id can be created. */
export interface RemovedProjectItem {
  readonly projectId: string;
  readonly ref: ProjectRef;
  readonly removed: true;
  /** It comes from a backup or an export, and not all of it has arrived. */
  readonly arrives?: true;
}

/** VapidKeys, keyed by `projectId`: a separate table, so that only two functions can read it. */
export interface VapidKeyItem {
  readonly projectId: string;
  /** The private key of the current VAPID pair, base64url. */
  readonly privateKey: string;
  /** That of the previous pair, if the project has one. */
  readonly previousPrivateKey?: string;
}

/** IdentityKeys, keyed by `projectId`: a separate table, so that only one function can read it. */
export interface IdentityKeyItem {
  readonly projectId: string;
  /** The key that signs user ids, in clear: its check is an HMAC. */
  readonly identityKey: string;
  /** The key before the last rotation, if that had a grace period. */
  readonly previousIdentityKey?: string;
}

/**
 * Subscriptions, keyed by `projectPart` and `endpointHash`. Keys and hashes are binary: less to read,
 * and nothing to decode before each push.
 */
export interface SubscriptionItem extends StoredChoice {
  /** `ref#partition`: a project's subscriptions are stored in several partitions. */
  readonly projectPart: string;
  /** A keyed hash of the endpoint: short enough for a key, and evenly distributed whatever endpoints callers choose. */
  readonly endpointHash: Uint8Array;
  readonly origin: string;
  readonly path: string;
  readonly p256dh: Uint8Array;
  readonly auth: Uint8Array;
  /**
   * Epoch ms since when it has its user; present with one. Of a user's subscriptions the first ones count: who claims the
   * user later displaces none of them.
   */
  readonly userSince?: number | undefined;
  /** Whether it was imported, and the browser has made no choice of its own since. */
  readonly imported?: true | undefined;
  /** Number of the VAPID pair that it was made with. Absent: 0, the project's first pair. */
  readonly vapidPairNumber?: number | undefined;
  /** Since when its push service has reported it as gone, and many others with it, so that it was kept: epoch ms. */
  readonly goneSince?: number | undefined;
  /** When its visitor subscribed, if that was with an endpoint that this one has replaced: epoch ms. */
  readonly firstAt?: number | undefined;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Time of the last subscribe request that succeeded, or of an import. */
  readonly updatedAt: number;
}

/**
 * Also in Subscriptions, under {@link erasureKey}; TTL on `expiresAt`: the browser with this endpoint was erased. It comes back
 * only when its visitor subscribes.
 */
export interface ErasureItem extends Pick<SubscriptionItem, 'projectPart' | 'endpointHash'> {
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/**
 * Usage, keyed by `projectRef` and `period`: the parts of a project's counters. `2026-11#0` to `2026-11#7`
 * count the accepted sends of a UTC month, `subscribers#0` to `subscribers#31` the items in Subscriptions.
 * The latter are created and deleted with the project. Nothing is counted in a part that does not exist, so
 * that a deleted project gets no subscription and sends no notification.
 */
export interface UsageItem {
  readonly projectRef: ProjectRef;
  readonly period: string;
  readonly used: number;
  /**
   * The cap that the counter is divided for: no part holds more than its share of it. The same in all parts; absent before
   * the first unit is taken, and after the operator has changed the cap. `closed`: no unit is taken.
   */
  readonly cap?: number | 'none' | 'closed';
  /** Epoch ms until which it is closed. Absent: until somebody opens it. */
  readonly closedUntil?: number;
}

type ChoiceAttribute = keyof StoredChoice;

/** A choice as a subscription has it: under the names of its members, but the user id is in the key of an index. */
export interface StoredChoice extends Omit<Choice, 'userId'> {
  /** `ref#userId`, if the subscription has a user id. */
  readonly projectUser?: string | undefined;
}

/** A notification's audience, and how it is divided. */
export interface Division {
  /** Number of user ids, if it was sent to some. */
  readonly users?: number | undefined;
  /** Subscribers that the project had, unless it was sent to user ids. */
  readonly subscribers?: number | undefined;
  /** On its subscriptions, as sent. */
  readonly conditions: Conditions;
  /** Functions that it was divided among, and event counters that each of them has. */
  readonly slices: number;
  readonly countersPerSlice: number;
  /** One browser in this many reports `shown`. Absent: each. */
  readonly shownSample?: number | undefined;
  /** Origins that were accepted as push services besides those known by name. Absent: none. */
  readonly extraOrigins?: readonly string[] | undefined;
  /** Whether the caller got 202. */
  readonly respondedAsync: boolean;
}

/** Notifications, keyed by `projectRef` and `notificationId`; TTL on `expiresAt`. Never updated. */
export interface NotificationItem extends Division {
  readonly projectRef: ProjectRef;
  /** UUID of version 7: a project's notifications are in the order of their time. */
  readonly notificationId: string;
  readonly content: StoredContent;
  readonly sentAt: string;
  /** The name of the member who sent it. Absent: it was sent with the secret key. */
  readonly sentBy?: string | undefined;
  /** Whether it is a test. */
  readonly test?: true | undefined;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** The content as sent. `data` is JSON: DynamoDB limits how deep an item nests, and how large numbers are. */
export interface StoredContent extends Omit<NotificationContent, 'data'> {
  readonly data?: string;
}

/** In Notifications, under the key of a notification whose send was cancelled. */
export interface CancelledItem {
  readonly projectRef: ProjectRef;
  readonly notificationId: string;
  readonly cancelled: true;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** In Notifications, in place of one that the operator has deleted, while a request with its key may be repeated. */
export interface DeletedItem {
  readonly projectRef: ProjectRef;
  readonly notificationId: string;
  readonly deleted: true;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** Also in Notifications, under {@link idempotencyId}: the requests that used an `Idempotency-Key`. */
export interface IdempotencyItem {
  readonly projectRef: ProjectRef;
  readonly notificationId: string;
  readonly requestHash: string;
  /** The id of the notification that they are for. */
  readonly sendId: string;
  /** The request that has begun it or continues it, and since when: epoch ms. Only this one may cancel it. */
  readonly ownedBy: string;
  readonly ownedAt: number;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** Not a UUID, so it cannot be a notification's id. @param keyHash SHA-256 of the key, hex. */
export function idempotencyId(keyHash: string): string {
  return `key#${keyHash}`;
}

/** Deliveries, keyed by `id` ({@link sliceId}); TTL on `expiresAt`: who delivers a slice, how far it is, and its counts. */
export interface SliceItem {
  readonly id: string;
  /** The lease, and until when (epoch ms) nobody else may take it over. */
  readonly leasedBy?: string;
  readonly leasedUntil?: number;
  /** Number of its last write. */
  readonly leaseWrite?: number;
  /** See `Progress`. */
  readonly position?: number;
  readonly isRead?: boolean | undefined;
  readonly claimed?: number;
  readonly behind?: Behind | undefined;
  readonly attempts?: number | undefined;
  readonly unjudged?: number | undefined;
  readonly attempted?: number;
  readonly delivered?: number;
  readonly removed?: number;
  readonly failed?: number;
  readonly failures?: Failures;
  readonly removals?: ByPushService;
  readonly unreached?: number;
  /** One bit for each user id of the slice: whether a push to it was delivered. Absent in a broadcast. */
  readonly reached?: Uint8Array | undefined;
  /** Set when it has ended: nobody works on it. */
  readonly ended?: SliceEnd | undefined;
  /** Epoch ms at which the notification was stopped, unless the slice had ended. No chunk is claimed later. */
  readonly stoppedAt?: number;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/**
 * By push service: a key before which all recipients are claimed, and about how many after it, before the position, are not. See
 * `deliver/progress.ts`.
 */
export type Behind = Record<string, { readonly cursor: Uint8Array; readonly passed: number }>;

/** `delivered`: as far as its time and its notification allowed. `cancelled`: its send was undone. */
export type SliceEnd = 'delivered' | 'cancelled';

/** Also in Deliveries, keyed by {@link eventCounterId}: events of a part of a notification's recipients. */
export interface EventCounterItem {
  readonly id: string;
  readonly projectRef: ProjectRef;
  readonly shown?: number;
  readonly clicked?: number;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

export function sliceId(notificationId: string, slice: number): string {
  return `${notificationId}/${slice}`;
}

export function eventCounterId(notificationId: string, counter: number): string {
  return `${notificationId}#${counter}`;
}

/**
 * RateLimits, keyed by `bucket` (`project#route#hash#minute`, with a keyed hash of an address or a network); TTL on
 * `expiresAt`. Requests with a key of the project are also counted by key, in an attribute for each.
 */
export interface RateLimitItem {
  readonly bucket: string;
  readonly hits: number;
  readonly expiresAt: number;
  readonly [ofKey: `key ${string}`]: number;
}

/** Also in RateLimits, under `key#<UTC day>`: the random key with which addresses of that day are hashed. */
export interface AddressKeyItem {
  readonly bucket: string;
  readonly addressKey: Uint8Array;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** Audit, keyed by `projectId` and `at`; TTL on `expiresAt`: who did what. It outlives its project. Never updated. */
export interface AuditItem {
  /** `*`: what was done was not about one project. */
  readonly projectId: string;
  /** ISO 8601, and random characters, so that two entries have two keys. */
  readonly at: string;
  /** The ARN of the operator, the name of the member, or `secret key`. */
  readonly by: string;
  /** The route, or the command with what was chosen: no value that somebody has typed. */
  readonly action: string;
  /** Subscriptions or notifications that it was about. */
  readonly count?: number | undefined;
  /** Whose data: see `auditSubject`. */
  readonly subject?: string | undefined;
  /** Name of the member whose key was made or ended. */
  readonly member?: string | undefined;
  /** It ended with an error, and may have been done in part. */
  readonly failed?: true | undefined;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** The time from which DynamoDB may delete an item: epoch seconds. */
export function expiryAfterHours(time: Date, hours: number): number {
  return Math.floor(time.getTime() / 1000) + hours * 60 * 60;
}

/**
 * Partitions per project, and parts of its counters of months: a power of 2. One partition key takes 3,000
 * read and 1,000 write units per second; each further one costs a broadcast one Query.
 */
export const partitionCount = 8;

/** A position in a project's subscriptions is the first 32 bits of an endpoint hash: see {@link endpointHash}. */
export const positionCount = 2 ** 32;
const positionsPerPartition = positionCount / partitionCount;

/** What computes the keys of a project's subscriptions. */
export type KeyedProject = Pick<Project, 'ref' | 'internalKey'>;

/** The id of a subscription for its owner: SHA-256 of the endpoint. The SDK's `deviceId()` computes the same. */
export function deviceIdOf(endpoint: string): string {
  return encodeBase64url(createHash('sha256').update(endpoint).digest());
}

/**
 * The hash that a subscription is stored under. Its first bits decide about the partition: without the project's key,
 * nobody can choose endpoints that meet in one.
 */
export function endpointHash(project: KeyedProject, endpoint: string): Uint8Array {
  return hashOfDevice(project, deviceIdOf(endpoint));
}

/** The hash of the endpoint of a device. @param deviceId as `deviceIdPattern`. */
export function hashOfDevice(project: KeyedProject, deviceId: string): Uint8Array {
  return keyedHash(project, 'device', deviceId);
}

/** A hash of a text that callers choose, which nobody outside can compute. */
export function keyedHash(
  { internalKey }: KeyedProject,
  kind: 'device' | 'Idempotency-Key' | 'audit',
  text: string,
): Buffer {
  return createHmac('sha256', internalKey).update(`${kind} ${text}`).digest();
}

/** The partition of its project that stores a subscription: the first bits of its endpoint's hash. */
export function partitionOf(endpointHash: Uint8Array): number {
  return Math.floor((endpointHash[0]! * partitionCount) / 256);
}

export function subscriptionKey(project: ProjectRef, endpointHash: Uint8Array) {
  return { projectPart: projectPart(project, partitionOf(endpointHash)), endpointHash };
}

/** Where the hash of an erased endpoint is stored: in no partition that a broadcast reads. */
export function erasureKey(project: ProjectRef, endpointHash: Uint8Array) {
  return { projectPart: erasedPart(project, partitionOf(endpointHash)), endpointHash };
}

export function erasedPart(project: ProjectRef, partition: number): string {
  return `${projectPart(project, partition)}#erased`;
}

export function projectPart(project: ProjectRef, partition: number): string {
  return `${project}#${partition}`;
}

/** Unambiguous: a project's reference has no `#`. */
export function projectUser(project: ProjectRef, userId: string): string {
  return `${project}#${userId}`;
}

/**
 * A key pair's number as a subscription has it. Absent for the first pair: a project whose pair was never
 * rotated stores nothing.
 */
export function storedPairNumber(number: number): number | undefined {
  return number === 0 ? undefined : number;
}

/** The attributes that store what a visitor chooses, and those that store what is carried along. */
export const chosenAttributes = attributesOf(true);
export const carriedAttributes = attributesOf(false);

function attributesOf(isChosen: boolean): readonly ChoiceAttribute[] {
  return choiceNames.filter((name) => choiceFields[name].isChosen === isChosen).map(attributeOf);
}

/**
 * The attributes that store a choice. Undefined: it is removed. Absent: it stays.
 * @param keepsAbsent whether what the choice leaves out stays as it is stored, also what a visitor chooses.
 */
export function storedChoice(
  project: ProjectRef,
  choice: StatedChoice,
  keepsAbsent = false,
): StoredChoice {
  const stated = choiceNames.filter(
    (name) => choice[name] !== undefined || (choiceFields[name].isChosen && !keepsAbsent),
  );
  return Object.fromEntries(
    stated.map((name) => {
      const value = choice[name];
      const isNothing = value === null || value?.length === 0;
      const stored = name === 'userId' && value ? projectUser(project, String(value)) : value;
      return [attributeOf(name), isNothing ? undefined : stored];
    }),
  );
}

/** The attributes of a choice, as `projection` takes them. */
export const choiceAttributes = Object.fromEntries(
  choiceNames.map((name) => [attributeOf(name), true]),
) as { readonly [Name in ChoiceAttribute]-?: true };

/** The attribute that stores a member of a choice. */
export function attributeOf(name: ChoiceName): ChoiceAttribute {
  return name === 'userId' ? 'projectUser' : name;
}

/** What a subscription hands on to the one that takes its place. */
export function handedOn(earlier: SubscriptionItem): Partial<SubscriptionItem> {
  const carried = carriedAttributes.map((name) => [name, earlier[name]]);
  return { ...Object.fromEntries(carried), firstAt: earlier.firstAt ?? earlier.createdAt };
}

/** The choice of a stored subscription. */
export function choiceOf(
  project: ProjectRef,
  item: StoredChoice,
): { readonly [Name in ChoiceName]: Choice[Name] } {
  const userId = item.projectUser?.slice(project.length + 1);
  const stored: Choice = { ...item, userId };
  return Object.fromEntries(choiceNames.map((name) => [name, stored[name]])) as Required<Choice>;
}

/** The endpoint hashes from one position to another, partition by partition. */
export function hashRanges(
  from: number,
  to: number,
): readonly {
  readonly partition: number;
  readonly first: Uint8Array;
  readonly last: Uint8Array;
}[] {
  const ranges = [];
  const firstPartition = Math.floor(from / positionsPerPartition);
  for (let partition = firstPartition; partition * positionsPerPartition < to; partition += 1) {
    const first = Math.max(from, partition * positionsPerPartition);
    const last = Math.min(to, (partition + 1) * positionsPerPartition) - 1;
    ranges.push({ partition, first: prefix(first, 0), last: prefix(last, 0xff) });
  }
  return ranges;
}

/** The position of an endpoint hash: its first 32 bits. */
export function positionOf(hash: Uint8Array): number {
  return Buffer.from(hash.buffer, hash.byteOffset, 4).readUInt32BE();
}

/** A hash of 32 bytes that starts with the position. */
function prefix(position: number, filler: number): Uint8Array {
  const hash = Buffer.alloc(32, filler);
  hash.writeUInt32BE(position);
  return hash;
}
