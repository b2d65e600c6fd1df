import { setTimeout as sleep } from 'node:timers/promises';
import { pathOf, type Route, routes } from '../../contract/routes.ts';
import {
  acceptedSchema,
  type NotificationResult,
  notificationSchema,
  type SendRequest,
  type SendResult,
  sendResultSchema,
} from '../../contract/schemas/notification.ts';

/** Calls the service's HTTP API: subscribe as a page does, send as an owner's server does. */
export interface ApiClient {
  subscribe(body: unknown): Promise<void>;
  send(body: SendRequest): Promise<SendResult>;
  /**
   * Sends without waiting for the delivery, and then reads the notification until it is delivered.
   * @param onProgress is called with the subscribers attempted so far.
   */
  sendAsync(
    body: SendRequest,
    onProgress: (attempted: number) => void,
  ): Promise<NotificationResult>;
}

const pollIntervalMs = 250;

/** The methods of the client throw an error for any other status than the expected one. */
export function apiClient(baseUrl: string, projectId: string, secretKey: string): ApiClient {
  const authorization = `Bearer ${secretKey}`;
  const call = async (
    route: Route,
    expectedStatus: number,
    request: {
      readonly notificationId?: string;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    },
  ): Promise<unknown> => {
    const { notificationId = '', body, headers } = request;
    const response = await fetch(baseUrl + pathOf(route, { projectId, notificationId }), {
      method: route.method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== expectedStatus) {
      throw new Error(`${route.name} returned ${response.status}: ${text}`);
    }
    return JSON.parse(text) as unknown;
  };

  return {
    async subscribe(body) {
      await call(routes.subscribe, 201, { body });
    },

    async send(body) {
      return sendResultSchema.parse(
        await call(routes.send, 201, { body, headers: { authorization } }),
      );
    },

    async sendAsync(body, onProgress) {
      const headers = { authorization, prefer: 'respond-async' };
      const { id } = acceptedSchema.parse(await call(routes.send, 202, { body, headers }));
      for (;;) {
        const read = await call(routes.getNotification, 200, {
          notificationId: id,
          headers: { authorization },
        });
        const notification = notificationSchema.parse(read);
        onProgress(notification.attempted);
        if (notification.status !== 'sending') return notification;
        await sleep(pollIntervalMs);
      }
    },
  };
}
