import { createHmac } from 'node:crypto';
import { identityKeyPattern } from '../../contract/formats.ts';
import { requireMatch } from '../common/option-checks.ts';

/** 1 to 256 characters without half a surrogate pair, as the service takes them. */
const userIdPattern = /^\P{Surrogate}{1,256}$/u;

/**
 * Signs a user id, as proof for the service that your server knows the visitor by it.
 * @param identityKey of the project: `carillon_id_…`.
 * @returns the `userIdSignature` for a page of this visitor: 43 characters of base64url.
 * @throws {CarillonError} `invalid_options`.
 */
export function signUserId(identityKey: string, userId: string): string {
  const key = requireMatch(
    identityKeyPattern,
    identityKey,
    'identityKey',
    'copy the identity key that "carillon show --keys" prints: "carillon_id_" and 43 characters',
  );
  const text = requireMatch(userIdPattern, userId, 'userId', 'use text of 1 to 256 characters');
  return createHmac('sha256', key).update(text).digest('base64url');
}
