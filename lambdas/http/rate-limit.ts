import { isIPv6 } from 'node:net';
import { ServiceError } from '../../contract/errors.ts';
import { limitOf, type Project } from '../../contract/project.ts';
import type { RouteName } from '../../contract/routes.ts';
import { projectIdSchema } from '../../contract/schemas.ts';
import type { Step } from './reply.ts';

/** Counts requests by address, project and action. */
export interface RequestCounter {
  /** @returns 0 where the request is within the limit, else the seconds until one will be. */
  count(request: CountedRequest, limit: number): Promise<number>;
  /** The same of what is known without a call: 0 where nothing is. */
  refused(request: CountedRequest): number;
}

interface CountedRequest {
  readonly projectId: string;
  readonly action: RouteName;
  readonly address: string;
}

/** Stands for every project that a caller names without belonging to it; no project has this id. */
const unproven = '-';

/**
 * Refuses an address that has used up its requests for projects that are not there or not its own,
 * before another of them is read. A project that needs no reading is left to {@link rateLimit}.
 */
export function refuseBeforeReading(
  action: RouteName,
  perMinute: number,
  counter: RequestCounter,
  projects: { remembers(projectId: string): boolean },
): Step {
  return {
    before: ({ event }) => {
      if (projects.remembers(event.pathParameters?.projectId ?? '')) return;
      const address = countedAddress(event.requestContext.http.sourceIp);
      expectWithin(perMinute, counter.refused({ projectId: unproven, action, address }));
    },
  };
}

/**
 * Counts the request against its address, project and action. A plan speaks only for those who
 * proved to belong to the project. Anyone else is held to the deployment's limit, over all the
 * projects they name: inventing some must not cost a write for each.
 * @param perMinute requests a minute, where the project's plan says nothing else.
 */
export function rateLimit(
  action: RouteName,
  perMinute: number,
  counter: RequestCounter,
): Step<{ project?: Project }> {
  return {
    before: async ({ event }) => {
      const projectId = event.pathParameters?.projectId ?? '';
      // An id that no project can have is refused after this without a call to the database.
      if (!projectIdSchema.safeParse(projectId).success) return;
      const limit = limitOf(event.project?.plan.rateLimitPerMinute, perMinute);
      if (limit === null) return;
      const address = countedAddress(event.requestContext.http.sourceIp);
      const counted = { projectId: event.project ? projectId : unproven, action, address };
      expectWithin(limit, await counter.count(counted, limit));
    },
  };
}

/** @param retryAfter seconds; 0 where the request is within the limit. */
function expectWithin(limit: number, retryAfter: number): void {
  if (retryAfter === 0) return;
  throw new ServiceError(
    'rate_limited',
    `More than ${limit} requests came from this address within a minute; wait for the next.`,
    { retryAfter },
  );
}

/**
 * The address a caller is counted by. An IPv6 one stands for its /64, the least that a network
 * hands out: its holder has 2⁶⁴ addresses to rotate through.
 */
export function countedAddress(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1]!;
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
