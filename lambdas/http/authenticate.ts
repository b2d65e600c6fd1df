import { createHash, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../contract/errors.ts';
import { secretKeyPattern } from '../../contract/formats.ts';
import type { Project } from '../../contract/project.ts';
import type { FindProject } from './find-project.ts';
import type { PathIds } from './path-ids.ts';
import type { Middleware } from './response.ts';
import type { TimeLimit } from './time-limit.ts';

/** Dummy digest, so that an unknown project takes the same comparison. */
const dummyDigest = Buffer.alloc(32);

/**
 * Finds the project that the path names, if the request carries its secret key (RFC 6750 §2.1).
 * {@link requireKey} refuses the request otherwise, after it has been counted.
 */
export function authenticate<Found extends Project>(
  find: FindProject<Found>,
  clock: () => Date,
): Middleware<{ ids: PathIds; project?: Found } & TimeLimit> {
  return {
    before: async ({ event }) => {
      const { projectId } = event.ids;
      const key = bearerToken(event.headers.authorization);
      if (key === undefined || projectId === undefined) return;
      const project = await find(projectId, event.signal);
      const digest = createHash('sha256').update(key).digest();
      const { secretKeyHash, previousKey } = project ?? {};
      const isCurrent = matches(digest, secretKeyHash);
      const isPrevious = matches(digest, previousKey?.hash);
      const isInGracePeriod = previousKey !== undefined && clock() < previousKey.until;
      if (isCurrent || (isPrevious && isInGracePeriod)) event.project = project;
    },
  };
}

/** Compares in constant time, also where there is no stored hash. */
function matches(digest: Buffer, storedHash: string | undefined): boolean {
  const stored = storedHash === undefined ? dummyDigest : Buffer.from(storedHash, 'hex');
  return timingSafeEqual(digest, stored);
}

/** Refuses a request without a project: 401, the same for an unknown project and a wrong key. */
export function requireKey(): Middleware<{ project: Project }> {
  return {
    before: ({ event }) => {
      if (event.project !== undefined) return;
      throw new ServiceError(
        'unauthorized',
        'Send the secret key of this project as "Authorization: Bearer carillon_sk_…".',
      );
    },
  };
}

function bearerToken(authorization: string | undefined): string | undefined {
  const [, token = ''] = authorization?.match(/^Bearer +(\S+)$/i) ?? [];
  return secretKeyPattern.test(token) ? token : undefined;
}
