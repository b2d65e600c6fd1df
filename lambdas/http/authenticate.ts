import { createHash, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../contract/errors.ts';
import { secretKeyPattern } from '../../contract/limits.ts';
import type { Project } from '../../contract/project.ts';
import { projectIdSchema } from '../../contract/schemas.ts';
import type { FindProject } from './find-project.ts';
import type { Step } from './reply.ts';

/** The hash of no key. */
const noHash = Buffer.alloc(32);

/**
 * Finds the project whose secret key the request bears (RFC 6750 §2.1). It does not answer yet:
 * {@link requireKey} does, once the request is counted.
 */
export function authenticate<Found extends Project>(
  find: FindProject<Found>,
  clock: () => Date,
): Step<{ project?: Found }> {
  return {
    before: async ({ event }) => {
      const projectId = event.pathParameters?.projectId ?? '';
      const key = bearerToken(event.headers.authorization);
      if (key === undefined || !projectIdSchema.safeParse(projectId).success) return;
      const project = await find(projectId);
      const hash = createHash('sha256').update(key).digest();
      const { apiKeyHash, previousKey } = project ?? {};
      const isPresent = isHash(hash, apiKeyHash);
      const isPrevious = isHash(hash, previousKey?.hash);
      const inGrace = previousKey !== undefined && clock() < previousKey.until;
      if (isPresent || (isPrevious && inGrace)) event.project = project;
    },
  };
}

/** Compares in a time that tells nothing of either, nor of whether there is one to compare with. */
function isHash(hash: Buffer, stored: string | undefined): boolean {
  return timingSafeEqual(hash, stored === undefined ? noHash : Buffer.from(stored, 'hex'));
}

/** Answers 401 where no project was found; an unknown one and a wrong key look the same. */
export function requireKey(): Step<{ project: Project }> {
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
