import { pathOf, type Route, routes } from '../../contract/routes.ts';
import { type SendRequest, type SendResult, sendResultSchema } from '../../contract/schemas.ts';

/** The service's HTTP API, as a page and as an owner's server call it. */
export interface ApiClient {
  subscribe(body: unknown): Promise<void>;
  send(body: SendRequest): Promise<SendResult>;
}

export function apiClient(baseUrl: string, projectId: string, secretKey: string): ApiClient {
  const post = async (route: Route, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(baseUrl + pathOf(route, { projectId }), {
      method: route.method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.status !== 201) {
      throw new Error(`${route.name} was answered by ${answer.status}: ${text}`);
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
