import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { memberKeyPrefix } from '../contract/formats.ts';
import { limits } from '../contract/limits.ts';
import type { MemberRole } from '../contract/routes.ts';
import { isConditionFailure } from '../lambdas/store/dynamo.ts';
import type { MemberItem, ProjectItem, RemovedProjectItem } from '../lambdas/store/items.ts';
import { CommandError, ProjectNotFound } from './errors.ts';
import { hashKey, newKey, type RandomSource } from './project-keys.ts';
import { printable } from './terminal/printable.ts';

export interface NewMember {
  readonly name: string;
  readonly role: MemberRole;
  /** Milliseconds for which the key is valid. Default: until it is revoked. */
  readonly lifetimeMs?: number | undefined;
  readonly random: RandomSource;
}

/** Gives keys to the members of projects, and takes them back. */
export function projectMembers(dynamo: DynamoDBDocumentClient, table: string, clock: () => Date) {
  /** @throws {ProjectNotFound} */
  async function membersOf(projectId: string): Promise<ProjectItem['members']> {
    const { Item } = await dynamo.send(
      new GetCommand({ TableName: table, Key: { projectId }, ConsistentRead: true }),
    );
    return existing(Item, projectId).members;
  }

  return {
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
      const member: MemberItem = {
        ...{ role, keyHash: hashKey(key), createdAt: now.toISOString() },
        ...(lifetimeMs && { expiresAt: new Date(now.getTime() + lifetimeMs).toISOString() }),
      };
      try {
        await dynamo.send(
          new UpdateCommand({
            TableName: table,
            Key: { projectId },
            ConditionExpression:
              'attribute_exists(secretKeyHash) AND attribute_not_exists(#members.#name) AND size(#members) < :most',
            UpdateExpression: 'SET #members.#name = :member',
            ExpressionAttributeNames: { '#members': 'members', '#name': name },
            ExpressionAttributeValues: { ':member': member, ':most': limits.members },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
        const { [name]: found } = existing(error.Item, projectId).members;
        // Otherwise the SDK has repeated an invitation whose response was lost.
        if (found?.keyHash !== member.keyHash) {
          throw found === undefined ? tooManyMembers(projectId) : memberExists(projectId, name);
        }
      }
      return { projectId, name, role, key, expiresAt: member.expiresAt };
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
      await dynamo.send(
        new UpdateCommand({
          TableName: table,
          Key: { projectId },
          ConditionExpression: 'attribute_exists(#members)',
          UpdateExpression: 'REMOVE #members.#name',
          ExpressionAttributeNames: { '#members': 'members', '#name': name },
        }),
      );
    },
  };
}

const memberExists = (projectId: string, name: string) =>
  new CommandError(
    'member_exists',
    `Project "${projectId}" has a member "${printable(name)}". Choose another name, or revoke that one first.`,
  );

const tooManyMembers = (projectId: string) =>
  new CommandError(
    'too_many_members',
    `Project "${projectId}" has ${limits.members} members, the most possible. Revoke one first.`,
  );

function existing(item: object | undefined, projectId: string): ProjectItem {
  const found = item as ProjectItem | RemovedProjectItem | undefined;
  if (found === undefined || 'removed' in found) throw new ProjectNotFound(projectId);
  return found;
}
