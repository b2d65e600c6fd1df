import { createHash, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../contract/wire/errors.ts';
import {
  applicationServerKeyPattern,
  identityKeyPattern,
  memberKeyPattern,
  secretKeyPattern,
} from '../../contract/wire/formats.ts';
import type { Project } from '../../contract/wire/project.ts';
import { type Access, includes, type RouteOf } from '../../contract/wire/routes.ts';
import type { ProjectStore } from '../store/projects.ts';
import type { PathIds, TimeLimit } from './request.ts';
import type { Middleware } from './response.ts';

/** Dummy digest, so that an unknown project takes the same comparison. */
const dummyDigest = Buffer.alloc(32);

/**
 * Finds the project that the path names, if the request carries its secret key or the key of a member (RFC 6750 §2.1).
 * {@link requireKey} refuses the request otherwise, after it has been counted.
 */
export function authenticate<Found extends Project>(
  projects: Pick<ProjectStore<Found>, 'find' | 'findNewer'>,
  clock: () => Date,
): Middleware<{ ids: PathIds; project?: Found; access?: Access; keyId?: string } & TimeLimit> {
  return {
    before: async ({ event }) => {
      const { projectId } = event.ids;
      const key = bearerTokenOf(event.headers.authorization);
      if (key === undefined || !isKey(key) || projectId === undefined) return;
      const digest = createHash('sha256').update(key).digest();
      // The key may be newer than the project in memory.
      for (const find of [projects.find, projects.findNewer]) {
        const project = await find(projectId, event.signal);
        const found = accessOf(digest, project, clock());
        if (found === undefined) continue;
        const { logged, access } = found;
        const keyId = digest.toString('base64url', 0, 6);
        Object.assign(event, { project, access, keyId, ...(logged && { logged }) });
        return;
      }
    },
  };
}

/** What a key gives access to. @param digest of the key. */
function accessOf(
  digest: Buffer,
  { secretKeyHash, previousKey, members = [] }: Partial<Project> = {},
  now: Date,
): { readonly access: Access; readonly logged?: object } | undefined {
  const isCurrent = matches(digest, secretKeyHash);
  const isPrevious = matches(digest, previousKey?.hash);
  const isInGracePeriod = previousKey !== undefined && now < previousKey.until;
  // Compares with all of them, so that the time does not tell which one it is.
  const [member] = members.filter(({ keyHash }) => matches(digest, keyHash));
  if (isCurrent) return { access: { role: 'owner' } };
  // Tells the operator which callers still have it.
  if (isPrevious && isInGracePeriod) {
    return { access: { role: 'owner' }, logged: { previous_key: true } };
  }
  if (member === undefined || (member.until !== undefined && now >= member.until)) return undefined;
  const { role, name } = member;
  // No log line has the name: it is a person's.
  return { access: { role, name } };
}

/** @throws {ServiceError} `not_permitted` unless the role of the caller includes the route. */
export function requireRole(route: RouteOf<'owner'>, { role }: Access): void {
  if (includes(role, route.role)) return;
  const needed =
    route.role === 'owner' ? 'only the secret key may' : `the role "${route.role}" may`;
  throw new ServiceError('not_permitted', `The role "${role}" may not ${route.action}; ${needed}.`);
}

/** Compares in constant time, also where there is no stored hash. */
function matches(digest: Buffer, storedHash: string | undefined): boolean {
  const stored = storedHash === undefined ? dummyDigest : Buffer.from(storedHash, 'hex');
  return timingSafeEqual(digest, stored);
}

/** Refuses a request without a project: 401, the same for an unknown project and a wrong key. */
export function requireKey(): Middleware<{ ids: PathIds; project: Project; access: Access }> {
  return {
    before: ({ event }) => {
      if (event.project !== undefined) return;
      throw new ServiceError('unauthorized', refusal(event.headers.authorization, event.ids));
    },
  };
}

/** What is wrong with the header, as far as it can be said without saying which projects exist. */
function refusal(authorization: string | undefined, { projectId }: PathIds): string {
  if (!authorization) {
    return 'Send the secret key of this project as "Authorization: Bearer carillon_sk_…", or a member key.';
  }
  const token = bearerTokenOf(authorization);
  if (token === undefined) {
    return 'The Authorization header has another form than "Bearer carillon_sk_…".';
  }
  if (identityKeyPattern.test(token)) {
    return 'This is an identity key, which signs user ids. Send the secret key: "carillon_sk_…".';
  }
  if (applicationServerKeyPattern.test(token)) {
    return 'This is the application server key, which is public. Send the secret key: "carillon_sk_…".';
  }
  if (!isKey(token)) {
    return 'This is not a secret key, which is "carillon_sk_" and 43 characters, nor a member key, "carillon_mk_" and 43. Copy it again.';
  }
  if (projectId === undefined) {
    return 'The project id in the path is invalid: 1 to 64 lowercase letters, digits or hyphens, not starting with a hyphen.';
  }
  if (memberKeyPattern.test(token)) {
    return 'There is no project with this id and this member key, or the key has expired or was revoked. Ask the operator for a new one.';
  }
  return 'There is no project with this id and this secret key. Compare both with the API key card.';
}

function isKey(token: string): boolean {
  return secretKeyPattern.test(token) || memberKeyPattern.test(token);
}

/** The token of RFC 6750 §2.1. */
function bearerTokenOf(authorization = ''): string | undefined {
  return authorization.match(/^Bearer +(\S+)\s*$/i)?.[1];
}

/**
 * Finds the project that the path names. {@link requireProject} refuses the request if there is
 * none, after it has been counted.
 */
export function findProject<Found extends Project>(
  find: ProjectStore<Found>['find'],
): Middleware<{ ids: PathIds; project?: Found } & TimeLimit> {
  return {
    before: async ({ event }) => {
      const { projectId } = event.ids;
      if (projectId === undefined) return;
      const project = await find(projectId, event.signal);
      if (project !== undefined) event.project = project;
    },
  };
}

/**
 * Refuses a request of a page whose origin the project does not allow: 403. One without the header does not come from a
 * page, and anybody can make it with any header; but a page cannot make others' browsers do so.
 */
export function requireOrigin(): Middleware<{ project: Project }> {
  return {
    before: ({ event }) => {
      const { origin } = event.headers;
      const { origins } = event.project.settings;
      if (origin === undefined || origins === undefined || origins.includes(origin)) return;
      throw new ServiceError(
        'origin_not_allowed',
        'The project does not allow pages of this origin; its operator can, with "carillon set --origins".',
      );
    },
  };
}

/** Refuses a request without a project: 404. */
export function requireProject<Found extends Project>(): Middleware<{
  ids: PathIds;
  project: Found;
}> {
  return {
    before: ({ event }) => {
      if (event.project !== undefined) return;
      const { projectId } = event.ids;
      const project = projectId === undefined ? 'project with this id' : `project "${projectId}"`;
      throw new ServiceError(
        'project_not_found',
        `There is no ${project}; check the project id and the address.`,
      );
    },
  };
}
