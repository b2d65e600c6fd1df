import type { Logger } from '@aws-lambda-powertools/logger';
import { type DynamoDBDocumentClient, PutCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { encodeBase64url } from '../../contract/wire/fields.ts';
import { limits } from '../../contract/wire/limits.ts';
import type { Access } from '../../contract/wire/routes.ts';
import type { Person } from './audience.ts';
import { type AuditItem, expiryAfterHours, type KeyedProject, keyedHash } from './items.ts';

/** Something that was done, and whose work it was. */
export type AuditEntry = Omit<AuditItem, 'expiresAt'>;
type NewEntry = Omit<AuditEntry, 'at'>;

export type AuditStore = ReturnType<typeof auditStore>;

/** Who did what. Entries are only added. */
export function auditStore(
  dynamo: DynamoDBDocumentClient,
  table: string,
  clock: () => Date,
  randomBytes: (length: number) => Uint8Array,
) {
  return {
    async record(entry: NewEntry, abortSignal?: AbortSignal): Promise<void> {
      const now = clock();
      const Item: AuditItem = {
        ...entry,
        at: `${now.toISOString()} ${encodeBase64url(randomBytes(6))}`,
        expiresAt: expiryAfterHours(now, limits.auditDays * 24),
      };
      await dynamo.send(new PutCommand({ TableName: table, Item }), { abortSignal });
    },

    /** The entries of a project, the newest first. */
    async entries(projectId: string): Promise<readonly AuditEntry[]> {
      const found: AuditItem[] = [];
      const query = {
        TableName: table,
        KeyConditionExpression: 'projectId = :projectId',
        ExpressionAttributeValues: { ':projectId': projectId },
        ScanIndexForward: false,
      };
      for await (const { Items = [] } of paginateQuery({ client: dynamo }, query)) {
        found.push(...(Items as AuditItem[]));
      }
      const now = clock().getTime() / 1000;
      // TTL deletes late.
      return found.flatMap(({ expiresAt, ...entry }) => (expiresAt > now ? [entry] : []));
    },
  };
}

/** The line of the log in place of an entry that cannot be written. */
export const notRecorded = 'The audit has no entry of this.';

/**
 * Records what a function has done. What cannot be written is logged, and the request goes on: the change has happened, and a
 * person's right must not wait for the record of it.
 */
export function recorder(audit: Pick<AuditStore, 'record'>, logger: Pick<Logger, 'error'>) {
  return async (access: Access, entry: Omit<NewEntry, 'by'>, signal?: AbortSignal) => {
    const by = access.role === 'owner' ? 'secret key' : access.name;
    await audit.record({ ...entry, by }, signal).catch((error) => {
      logger.error(notRecorded, { error, action: entry.action });
    });
  };
}

/** The hash under which entries name a person: only who has the user id or the device can find them. */
export function auditSubject(project: KeyedProject, { userId, device }: Person): string {
  const text = userId === undefined ? `device ${device}` : `user ${userId}`;
  return keyedHash(project, 'audit', text).toString('base64url');
}
