import { createHash } from 'node:crypto';
import type { ParsedSendRequest } from '../../contract/schemas/notification.ts';
import type { Users } from './divide.ts';

/**
 * SHA-256 of a request's meaning, hex. Members are sorted at every depth: their order depends on the
 * schema, and a repetition may arrive after a deployment that changed it.
 */
export function requestHash(
  request: Omit<ParsedSendRequest, 'userIds' | 'recipients'> & Partial<Users>,
): string {
  return createHash('sha256').update(JSON.stringify(request, withSortedMembers)).digest('hex');
}

function withSortedMembers(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
