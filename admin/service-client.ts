import type { ErrorBody } from '../contract/errors.ts';
import { pathOf, type Route } from '../contract/routes.ts';

/** The service refused a request, or could not be reached. `code` is the service's, or `service_unreachable`. */
export class ServiceCallError extends Error {
  override readonly name = 'ServiceCallError';

  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface ServiceCall {
  /** Of the path. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly secretKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/**
 * Calls a route of a project, as its owner's server or a browser does.
 * @throws {ServiceCallError}
 */
export async function callService<Body>(
  baseUrl: string,
  route: Route,
  { parameters, secretKey, headers, body }: ServiceCall,
): Promise<Body> {
  const response = await fetch(baseUrl + pathOf(route, parameters), {
    method: route.method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(secretKey !== undefined && { authorization: `Bearer ${secretKey}` }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => {
    throw new ServiceCallError('service_unreachable', `${baseUrl} does not respond.`, { cause });
  });
  const received = (await response.json().catch(() => undefined)) as (Body & ErrorBody) | undefined;
  if (response.ok && received !== undefined) return received;
  // API Gateway's own errors have another form.
  const { code, message } = received?.error ?? {
    code: 'service_unreachable',
    message: `${baseUrl} responded with status ${response.status}.`,
  };
  throw new ServiceCallError(code, message);
}

/** API Gateway responds within 30 s. */
const timeoutMs = 35_000;
