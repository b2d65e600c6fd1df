import { createHash, createHmac } from 'node:crypto';
import { encodeBase64url } from '../../contract/text/base64url.ts';
import type { Choice, StatedChoice } from '../../contract/wire/choice.ts';
import type { Project, ProjectRef } from '../../contract/wire/project.ts';
import type { SubscriptionItem } from './items.ts';

/**
 * Partitions per project, and parts of each of its counters: a power of 2. One partition key takes 3,000
 * read and 1,000 write units per second; each further one costs a broadcast one Query.
 */
export const partCount = 8;

/** A position in a project's subscriptions is the first 32 bits of an endpoint hash: see {@link endpointHash}. */
export const positionCount = 2 ** 32;
const positionsPerPart = positionCount / partCount;

/** What computes the keys of a project's subscriptions. */
export type KeyedProject = Pick<Project, 'ref' | 'internalKey'>;

/** The id of a subscription for its owner: SHA-256 of the endpoint. The SDK's `deviceId()` computes the same. */
export function deviceIdOf(endpoint: string): string {
  return encodeBase64url(createHash('sha256').update(endpoint).digest());
}

/**
 * The hash that a subscription is stored under. Its first bits decide about the partition and the part of the counter:
 * without the project's key, nobody can choose endpoints that meet in one of them.
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
  kind: 'device' | 'Idempotency-Key',
  text: string,
): Buffer {
  return createHmac('sha256', internalKey).update(`${kind} ${text}`).digest();
}

/** The part of its project that stores a subscription: the first bits of its endpoint's hash. */
export function partOf(endpointHash: Uint8Array): number {
  return Math.floor((endpointHash[0]! * partCount) / 256);
}

export function subscriptionKey(project: ProjectRef, endpointHash: Uint8Array) {
  return { projectPart: projectPart(project, partOf(endpointHash)), endpointHash };
}

export function projectPart(project: ProjectRef, part: number): string {
  return `${project}#${part}`;
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

/** A visitor's choice as a subscription has it. */
export function storedChoice(
  project: ProjectRef,
  { userId, channels = [], ...others }: StatedChoice,
): { readonly [Name in 'projectUser' | 'channels']: SubscriptionItem[Name] } {
  // A member that is not stored is a type error.
  others satisfies Readonly<Record<keyof typeof others, never>>;
  return {
    projectUser: typeof userId === 'string' ? projectUser(project, userId) : undefined,
    channels: channels.length === 0 ? undefined : channels,
  };
}

/** The choice of a stored subscription. */
export function choiceOf(
  project: ProjectRef,
  { projectUser, channels }: SubscriptionItem,
): { readonly [Name in keyof Required<Choice>]: Choice[Name] } {
  return { userId: projectUser?.slice(project.length + 1), channels };
}

/** The endpoint hashes from one position to another, part by part. */
export function hashRanges(
  from: number,
  to: number,
): readonly { readonly part: number; readonly first: Uint8Array; readonly last: Uint8Array }[] {
  const ranges = [];
  const firstPart = Math.floor(from / positionsPerPart);
  for (let part = firstPart; part * positionsPerPart < to; part += 1) {
    const first = Math.max(from, part * positionsPerPart);
    const last = Math.min(to, (part + 1) * positionsPerPart) - 1;
    ranges.push({ part, first: prefix(first, 0), last: prefix(last, 0xff) });
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
