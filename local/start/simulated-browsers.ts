import * as z from 'zod';
import { type ConsolePages, forbidden, jsonResponse } from '../../console/console-pages.ts';
import { isAllowedRequest } from '../../console/host-and-origin.ts';
import { type ReceivedCount, simulatedBrowsersPath } from '../../console/settings.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import { notificationIdSchema, projectIdSchema } from '../../contract/schemas/ids.ts';
import type { PushService } from '../push-service/push-service.ts';
import { SimulatedBrowser } from '../push-service/simulated-browser.ts';
import type { SimulatedProxy } from '../simulated-proxy.ts';

/** They subscribe at the same time: fewer than the route's throttle admits in a burst. */
const browsersPerRequest = 100;

const additionSchema = z.object({
  projectId: projectIdSchema,
  applicationServerKey: z.string(),
  count: z.coerce.number().int().min(1).max(browsersPerRequest),
});
const receivedSchema = z.object({ notificationId: notificationIdSchema });

/**
 * Subscribes simulated browsers through the API, and counts how many received a notification. The
 * parameters are in the query: the gateway reads the body of each request before this.
 * @returns undefined for another path.
 */
export function simulatedBrowsers(
  baseUrl: string,
  { channels, subscribe }: Pick<PushService, 'channels' | 'subscribe'>,
  proxy: SimulatedProxy,
): ConsolePages {
  let addresses = 0;

  async function subscribeAll(browsers: readonly SimulatedBrowser[], projectId: string) {
    const responses = await Promise.all(
      browsers.map(async (browser) => {
        addresses += 1;
        const response = await fetch(baseUrl + pathOf(routes.subscribe, { projectId }), {
          method: routes.subscribe.method,
          headers: {
            'content-type': 'application/json',
            // The rate limit counts by address.
            ...proxy.headersFrom(
              `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`,
            ),
          },
          body: JSON.stringify(browser),
        });
        return { status: response.status, body: (await response.json()) as object };
      }),
    );
    const refused = responses.find(({ status }) => status !== 201);
    return refused === undefined
      ? jsonResponse(200, { added: browsers.length })
      : jsonResponse(refused.status, refused.body);
  }

  function received({ notificationId }: z.infer<typeof receivedSchema>): ReceivedCount {
    let count = 0;
    for (const channel of channels.all()) {
      if (!(channel instanceof SimulatedBrowser)) continue;
      if (channel.messages.some(({ text }) => text.includes(notificationId))) count += 1;
    }
    return { received: count };
  }

  return async (request) => {
    const { method, url = '' } = request;
    const [path, search] = url.split('?');
    if (path !== simulatedBrowsersPath) return undefined;
    if (!isAllowedRequest(request)) return forbidden;
    const query = Object.fromEntries(new URLSearchParams(search));
    if (method === 'GET') {
      const { data, error } = receivedSchema.safeParse(query);
      return error ? badRequest(z.prettifyError(error)) : jsonResponse(200, received(data));
    }
    if (method !== 'POST') return jsonResponse(405, { message: 'Use GET or POST.' });
    const { data, error } = additionSchema.safeParse(query);
    if (error) return badRequest(z.prettifyError(error));
    const { projectId, applicationServerKey, count } = data;
    let browsers: readonly SimulatedBrowser[];
    try {
      browsers = Array.from({ length: count }, () => subscribe({ applicationServerKey }));
    } catch (invalidKey) {
      return badRequest((invalidKey as TypeError).message);
    }
    return subscribeAll(browsers, projectId);
  };
}

const badRequest = (message: string) => jsonResponse(400, { message });
