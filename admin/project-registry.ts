import { createHash } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ProjectTables } from '../contract/infrastructure/tables.ts';
import { ServiceError } from '../contract/wire/errors.ts';
import { identityKeyPrefix, memberKeyPrefix, secretKeyPrefix } from '../contract/wire/formats.ts';
import { limits } from '../contract/wire/limits.ts';
import type { ProjectRef, SetSettings, VapidKeys } from '../contract/wire/project.ts';
import type { AudienceCounts } from '../contract/wire/project-result.ts';
import type { MemberRole } from '../contract/wire/routes.ts';
import {
  forgetCap,
  monthCounter,
  monthsAround,
  type ProjectUsage,
  projectUsage,
  subscriberCounter,
  utcMonth,
} from '../lambdas/store/counters.ts';
import type { MemberItem, ProjectItem } from '../lambdas/store/items.ts';
import { countAudience, subscriptionSample } from '../lambdas/store/subscription-sample.ts';
import { CommandError, ProjectNotFound, removalIncomplete } from './errors.ts';
import { closeCounter, openCounter } from './store/closed-counters.ts';
import { type RemovalOptions, type RemovedItems, removeProject } from './store/project-removal.ts';
import {
  type RegisteredProject,
  RegisteredProjects,
  withoutKeys,
} from './store/registered-projects.ts';
import { printable } from './terminal/terminal.ts';
import { newVapidPair } from './vapid-pair.ts';
import { vapidRotation } from './vapid-rotation.ts';

/** A source of random bytes, such as `randomBytes` of `node:crypto`. */
export type RandomSource = (sizeBytes: number) => Buffer;

export interface NewProject {
  /** Matches `projectIdPattern`. */
  readonly projectId: string;
  /** @default its name is the id */
  readonly settings?: SetSettings;
  /**
   * The deployment's subscriber cap, which applies if the project has none: the counter is divided for it.
   * @default unknown: the first subscription takes three calls more.
   */
  readonly deployedCap?: number;
  /** @default a new pair */
  readonly vapid?: VapidKeys;
  readonly random: RandomSource;
}

/** Settings to change. Undefined: its default, or the deployment's. */
export type SettingChanges = {
  readonly [Name in keyof SetSettings]?: SetSettings[Name] | undefined;
};

export interface NewMember {
  readonly name: string;
  readonly role: MemberRole;
  /** Milliseconds for which the key is valid. Default: until it is revoked. */
  readonly lifetimeMs?: number | undefined;
  readonly random: RandomSource;
}

export type ProjectRegistry = ReturnType<typeof projectRegistry>;

/** Creates, changes and removes projects, with their keys and members. */
export function projectRegistry(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  clock: () => Date,
) {
  const projects = new RegisteredProjects(dynamo, tables);

  /** @throws {ProjectNotFound} */
  async function get(projectId: string): Promise<RegisteredProject> {
    return existing(projectId, await projects.findProject(projectId));
  }

  /** @throws {ProjectNotFound} */
  async function membersOf(projectId: string) {
    return existing(projectId, await projects.findMembers(projectId));
  }

  function monthOf({ ref }: RegisteredProject, month: string) {
    return monthCounter(tables.usage, ref, new Date(month));
  }

  /** The end of a grace period; undefined without one. */
  function graceEnd(gracePeriodMs: number): string | undefined {
    if (gracePeriodMs === 0) return undefined;
    return new Date(clock().getTime() + gracePeriodMs).toISOString();
  }

  return {
    /**
     * Creates a project, its keys and its subscriber counter. Only the hash of the secret key is stored: no later call
     * can return it.
     * @throws {CommandError} if the id is in use, also by a project that is not fully removed.
     */
    async create({ projectId, settings = {}, deployedCap, vapid, random }: NewProject) {
      const { publicKey, privateKey } = vapid ?? newVapidPair();
      const secretKey = newKey(secretKeyPrefix, random);
      const identityKey = newKey(identityKeyPrefix, random);
      const project: ProjectItem = {
        projectId,
        ref: newProjectRef(random),
        internalKey: random(32),
        secretKeyHash: hashKey(secretKey),
        members: {},
        vapidPublicKey: publicKey,
        vapidPair: 0,
        settings: { name: projectId, ...settings },
        createdAt: clock().toISOString(),
      };
      const { subscriberCap: cap = deployedCap } = settings;
      const outcome = await projects.addProject(
        project,
        { projectId, privateKey },
        { projectId, identityKey },
        cap,
      );
      if (outcome === 'half_removed') throw removalIncomplete(projectId);
      if (outcome !== 'added') {
        throw new CommandError(
          'project_exists',
          `Project "${projectId}" already exists. If its secret key is lost, replace it: rotate ${projectId} secret`,
        );
      }
      return { project: withoutKeys(project), secretKey, identityKey };
    },

    find: (projectId: string) => projects.findProject(projectId),
    get,
    ...vapidRotation(dynamo, tables, get, clock),

    /** All projects, unordered. */
    list: () => projects.allProjects(),

    /**
     * Changes the given settings and keeps the others. A new subscriber cap holds at once.
     * @throws {ProjectNotFound}
     */
    async set(projectId: string, changes: SettingChanges): Promise<RegisteredProject> {
      const project = existing(projectId, await projects.changeSettings(projectId, changes));
      if ('subscriberCap' in changes) {
        await forgetCap(dynamo, subscriberCounter(tables.usage, project.ref));
      }
      return project;
    },

    /**
     * Replaces the secret key. The previous key stays valid for the grace period, and for as long as the functions
     * remember the project. An older key becomes invalid.
     * @param gracePeriodMs 0 for no grace period.
     * @param endsPrevious whether a previous key in its grace period ends.
     * @throws {ProjectNotFound}
     * @throws {CommandError} if there is one that does not.
     */
    async rotateKey(
      projectId: string,
      random: RandomSource,
      gracePeriodMs = 0,
      endsPrevious = true,
    ) {
      const secretKey = newKey(secretKeyPrefix, random);
      const until = graceEnd(gracePeriodMs);
      const now = endsPrevious ? undefined : clock();
      const project = await projects.replaceSecretKey(projectId, hashKey(secretKey), until, now);
      return { project: existing(projectId, project), secretKey };
    },

    /** The key that signs user ids. @throws {ProjectNotFound} */
    async identityKey(projectId: string): Promise<string> {
      return existing(projectId, await projects.findIdentityKey(projectId));
    },

    /**
     * Replaces the identity key. Signatures of the previous one stay valid for the grace period.
     * @throws {ProjectNotFound}
     */
    async rotateIdentityKey(projectId: string, random: RandomSource, gracePeriodMs: number) {
      const identityKey = newKey(identityKeyPrefix, random);
      const until = graceEnd(gracePeriodMs);
      if (!(await projects.replaceIdentityKey(projectId, identityKey, until))) {
        throw new ProjectNotFound(projectId);
      }
      return { project: await get(projectId), identityKey };
    },

    /** The oldest first, without the hashes of their keys. @throws {ProjectNotFound} */
    async members(projectId: string) {
      return Object.entries(await membersOf(projectId))
        .map(([name, { keyHash, ...member }]) => ({ name, ...member }))
        .sort((one, other) => one.createdAt.localeCompare(other.createdAt));
    },

    /**
     * Adds a member, and returns the key, of which only the hash is stored.
     * @throws {ProjectNotFound}
     * @throws {CommandError} if the name is in use, or the project has the most members possible.
     */
    async invite(projectId: string, { name, role, lifetimeMs, random }: NewMember) {
      const key = newKey(memberKeyPrefix, random);
      const now = clock();
      const expiresAt = lifetimeMs && new Date(now.getTime() + lifetimeMs).toISOString();
      const createdAt = now.toISOString();
      const member: MemberItem = {
        role,
        keyHash: hashKey(key),
        createdAt,
        ...(expiresAt && { expiresAt }),
      };
      const outcome = await projects.addMember(projectId, name, member, limits.members);
      switch (outcome) {
        case 'added':
          return { projectId, name, role, key, expiresAt: member.expiresAt };
        case 'project_gone':
          throw new ProjectNotFound(projectId);
        case 'exists':
          throw new CommandError(
            'member_exists',
            `Project "${projectId}" has a member "${printable(name)}". Choose another name, or revoke that one first.`,
          );
        case 'too_many':
          throw new CommandError(
            'too_many_members',
            `Project "${projectId}" has ${limits.members} members, the most possible. Revoke one first.`,
          );
      }
    },

    /**
     * Removes a member. Functions accept the key for as long as they remember the project.
     * @throws {ProjectNotFound}
     * @throws {CommandError} if there is no such member.
     */
    async revoke(projectId: string, name: string): Promise<void> {
      if (!Object.hasOwn(await membersOf(projectId), name)) {
        throw new CommandError(
          'member_not_found',
          `Project "${projectId}" has no member "${printable(name)}". List them with the command members ${projectId}.`,
        );
      }
      await projects.removeMember(projectId, name);
    },

    /** See {@link removeProject}. @throws {ProjectNotFound} */
    async remove(projectId: string, options?: RemovalOptions): Promise<RemovedItems> {
      try {
        return await removeProject(dynamo, tables, projectId, clock(), options);
      } catch (error) {
        const isGone = error instanceof ServiceError && error.code === 'project_not_found';
        throw isGone ? new ProjectNotFound(projectId) : error;
      }
    },

    /**
     * Lets no notification of a project begin any more. When this returns, none does, whatever functions remember.
     * Idempotent.
     * @throws {ProjectNotFound}
     */
    async pause(projectId: string): Promise<RegisteredProject> {
      const { pausedAt = clock().toISOString() } = await get(projectId);
      const project = existing(projectId, await projects.changeProject(projectId, { pausedAt }));
      // A function may count a send in any of them, whatever its clock says.
      for (const month of monthsAround(clock())) {
        await closeCounter(dynamo, tables, project, monthOf(project, month));
      }
      return project;
    },

    /** Lets a project send again. @throws {ProjectNotFound} */
    async resume(projectId: string): Promise<RegisteredProject> {
      const project = await get(projectId);
      const times = [clock(), new Date(project.pausedAt ?? clock())];
      for (const month of new Set(times.flatMap(monthsAround))) {
        await openCounter(dynamo, monthOf(project, month));
      }
      return existing(projectId, await projects.changeProject(projectId, { pausedAt: undefined }));
    },

    /** The number of subscribers now, and of notifications sent in a UTC month, by default the current one. */
    async usage(projectId: string, month = utcMonth(clock())): Promise<ProjectUsage> {
      const project = await projects.findProject(projectId);
      if (project === undefined) return { subscribers: 0, month, sends: 0 };
      return projectUsage(dynamo, tables.usage)(project.ref, month);
    },

    /** Counts a sample of its subscribers, as the API does. @throws {ProjectNotFound} */
    async sample(projectId: string): Promise<AudienceCounts> {
      const { ref } = existing(projectId, await projects.findProject(projectId));
      return countAudience(await subscriptionSample(dynamo, tables.subscriptions)(ref), clock());
    },
  };
}

/** @throws {ProjectNotFound} */
function existing<Value>(projectId: string, found: Value | undefined): Value {
  if (found === undefined) throw new ProjectNotFound(projectId);
  return found;
}

function newProjectRef(random: RandomSource): ProjectRef {
  return random(9).toString('base64url') as ProjectRef;
}

/** Creates a key with 256 random bits: the prefix of its kind, and 43 characters of base64url. */
function newKey(prefix: string, random: RandomSource): string {
  return `${prefix}${random(32).toString('base64url')}`;
}

/**
 * SHA-256 of a secret key or a member key, in hex: the form that is stored. A slow or salted hash would add
 * nothing, because the key has 256 random bits.
 */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** A project with another secret key, which is returned too, and without the keys that it had: its members are left out. */
export function withNewKeys(
  { previousKeyHash: _, previousKeyUntil: __, ...project }: ProjectItem,
  random: RandomSource,
): { readonly project: ProjectItem; readonly secretKey: string } {
  const secretKey = newKey(secretKeyPrefix, random);
  return { project: { ...project, secretKeyHash: hashKey(secretKey), members: {} }, secretKey };
}
