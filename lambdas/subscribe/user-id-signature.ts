import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IdentityProject } from '../../contract/project.ts';

/**
 * Whether a signature is that of the user id with the identity key of the project, or with its previous key.
 * Takes the same time wherever the texts differ.
 */
export function isSignatureOf(
  { identityKey, previousIdentityKey: previous }: IdentityProject,
  userId: string,
  signature: string,
  now: Date,
): boolean {
  const isPreviousValid = previous !== undefined && now < previous.until;
  const keys = isPreviousValid ? [identityKey, previous.key] : [identityKey];
  return keys.some((key) => {
    const expected = createHmac('sha256', key).update(userId).digest('base64url');
    return isSameText(Buffer.from(expected), Buffer.from(signature));
  });
}

function isSameText(expected: Buffer, given: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
