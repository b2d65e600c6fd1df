import { createHash } from 'node:crypto';
import { routes } from '../../contract/wire/routes.ts';
import type { Environments } from './environments.ts';
import type { SimulatedFunction } from './handlers.ts';
import type { Invocation } from './invocation.ts';
import type { World } from './world.ts';

export const projectId = 'shop';

/** After which API Gateway gives up a request. */
const timeoutMs = 30_000;

/** The key of the owner, of a member, and of the owner of a later project of the same id. */
export const keys = {
  owner: `carillon_sk_${'o'.repeat(43)}`,
  member: `carillon_mk_${'m'.repeat(43)}`,
  nextOwner: `carillon_sk_${'n'.repeat(43)}`,
};

export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

export interface Request {
  readonly function: Exclude<SimulatedFunction, 'deliver'>;
  readonly requestId: string;
  readonly key?: string;
  readonly notificationId?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** What the caller gets. Of the gateway itself (503 or 504), only the status. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown> & {
    readonly error?: { readonly code: string; readonly message: string };
  };
}

const ofGateway: HttpResponse = { status: 503, headers: {}, body: {} };

/** API Gateway: passes a request to its function some ms later, and responds within 30 s. */
export async function request(
  world: World,
  environments: Environments,
  { function: name, requestId, key, notificationId, query = {}, headers = {}, body }: Request,
  startsInMs: number,
  onStart?: (run: Invocation) => void,
): Promise<HttpResponse> {
  const { scheduler, faults } = world;
  const { method, path } = routes[name];
  const event = {
    headers: {
      ...headers,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    pathParameters: { projectId, notificationId },
    rawQueryString: new URLSearchParams(query).toString(),
    queryStringParameters: query,
    requestContext: {
      requestId,
      timeEpoch: Math.floor(scheduler.now),
      http: { method, path, sourceIp: '203.0.113.1' },
    },
    body: body && JSON.stringify(body),
    isBase64Encoded: false,
  };
  return new Promise((resolve) => {
    let isOpen = true;
    const respond = (response: HttpResponse) => {
      isOpen = false;
      resolve(response);
    };
    scheduler.after(timeoutMs, () => {
      if (isOpen) faults.count('gateway gave up');
      respond(ofGateway);
    });
    scheduler.after(startsInMs, async () => {
      const { outcome } = await environments.invoke(name, requestId, event, onStart);
      respond(outcome.kind === 'returned' ? parsed(outcome.value) : ofGateway);
    });
  });
}

function parsed(value: unknown): HttpResponse {
  const { statusCode, headers, body } = value as {
    statusCode: number;
    headers: Record<string, string>;
    body: string;
  };
  return { status: statusCode, headers, body: JSON.parse(body) };
}
