import { pathOf, type Route, routes } from '../../contract/routes.ts';
import { type SendRequest, type SendResult, sendResultSchema } from '../../contract/schemas.ts';

/** Calls the service's HTTP API: subscribe as a page does, send as an owner's server does. */
export interface ApiClient {
  subscribe(body: unknown): Promise<void>;
  send(body: SendRequest): Promise<SendResult>;
}

/** The methods of the client throw an error unless the response is 201. */
export function apiClient(baseUrl: string, projectId: string, secretKey: string): ApiClient {
  const post = async (route: Route, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(baseUrl + pathOf(route, { projectId }), {
      method: route.method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 201) {
      throw new Error(`${route.name} returned ${response.status}: ${text}`);
    }
    return JSON.parse(text) as unknown;
  };
  return {
    async subscribe(body) {
      await post(routes.subscribe, body);
    },
    async send(body) {
      const authorization = `Bearer ${secretKey}`;
      return sendResultSchema.parse(await post(routes.send, body, { authorization }));
    },
  };
}
