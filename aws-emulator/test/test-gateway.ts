import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type Api, type GatewayOptions, startGateway } from '../gateway.ts';
import type { GatewayRoute } from '../routes.ts';

export const testRoutes: readonly GatewayRoute[] = ['GET', 'POST'].map((method) => ({
  routeKey: `${method} /things/{id}`,
  method,
  segments: ['things', '{id}'],
  functionName: 'Things',
  timeoutMs: 20_000,
  throttle: { ratePerSecond: 1, burst: 2 },
}));

/** API Gateway's own. */
export const ownResponses: GatewayOptions['responses'] = {
  badRequest: { status: 400, message: 'Bad Request' },
  notFound: { status: 404, message: 'Not Found' },
  tooLarge: { status: 413, message: 'Request Entity Too Large' },
  throttled: { status: 429, message: 'Too Many Requests' },
  failed: { status: 500, message: 'Internal Server Error' },
  unavailable: { status: 503, message: 'Service Unavailable' },
};
const starting = () => ({ status: 503, headers: {}, body: Buffer.from('starting') });

export interface TestGateway {
  readonly origin: string;
  /** The events that the function received. */
  readonly events: APIGatewayProxyEventV2[];
  /** Sends a request. @returns the response's status, content type and text. */
  call(
    path?: string,
    init?: RequestInit,
  ): Promise<{ readonly status: number; readonly type: string | null; readonly text: string }>;
  stop(): Promise<void>;
}

/** Starts a gateway whose function records the event and then calls `invoke`. */
export async function startTestGateway(
  invoke: () => Promise<string> = async () => '{"statusCode":204}',
  api: Partial<Api> = {},
): Promise<TestGateway> {
  const events: APIGatewayProxyEventV2[] = [];
  const { origin, open, stop } = await startGateway({ responses: ownResponses, starting });
  open({
    routes: testRoutes,
    invoke: (_functionName, event) => {
      events.push(JSON.parse(event));
      return invoke();
    },
    ...api,
  });
  return {
    origin,
    events,
    async call(path = '/things/1', init = {}) {
      const response = await fetch(origin + path, init);
      return {
        status: response.status,
        type: response.headers.get('content-type'),
        text: await response.text(),
      };
    },
    stop,
  };
}
