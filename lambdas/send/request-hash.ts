import { createHmac } from 'node:crypto';
import type { ParsedSendRequest } from '../../contract/schemas/notification.ts';
import type { Users } from './divide.ts';

/**
 * HMAC-SHA-256 of a request's meaning, hex. Its key is the `Idempotency-Key`, which is not stored: otherwise whoever has
 * the stored hash could find a short value, such as a code, by trying all. Members are sorted at every depth: their
 * order depends on the schema, and a repetition may arrive after a deployment that changed it.
 */
export function requestHash(
  idempotencyKey: string,
  request: Omit<ParsedSendRequest, 'userIds' | 'recipients'> & Partial<Users>,
): string {
  return createHmac('sha256', idempotencyKey)
    .update(JSON.stringify(request, withSortedMembers))
    .digest('hex');
}

function withSortedMembers(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
