import { createHash, randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Pages } from 'aws-emulator/gateway';
import * as z from 'zod';
import { pathOf } from '../contract/text/addresses.ts';
import { projectIdSchema } from '../contract/wire/fields.ts';
import { routes } from '../contract/wire/routes.ts';
import { jsonResponse } from './pages.ts';
import type { PushService } from './push-service/push-service.ts';
import { postBeacon, reportedBy, SimulatedBrowser } from './push-service/simulated-browser.ts';

/**
 * Lets this process call the local stack from many addresses: through a proxy with an origin secret, as behind
 * CloudFront. Nobody else knows the secret, so every other caller has the address of its connection.
 */
export function simulatedProxy() {
  const secret = randomBytes(32).toString('base64url');
  return {
    environment: { ORIGIN_SECRET_HASHES: createHash('sha256').update(secret).digest('hex') },
    /** The headers of a request from this address. */
    headersFrom: (address: string) => ({ 'x-origin-secret': secret, 'x-forwarded-for': address }),
  };
}

export type SimulatedProxy = ReturnType<typeof simulatedProxy>;

/** They subscribe at the same time: fewer than the route's throttle admits in a burst. */
const browsersPerRequest = 100;

const additionSchema = z.object({
  projectId: projectIdSchema,
  applicationServerKey: z.string(),
  count: z.coerce.number().int().min(1).max(browsersPerRequest),
});

/** About as people do: most see a notification soon, and some of them click it. */
const habits = { shows: 0.7, clicks: 0.2, showsWithinMs: 6000, clicksWithinMs: 10_000 };

interface SimulatedBrowsersOptions {
  readonly baseUrl: string;
  readonly pushService: Pick<PushService, 'channels' | 'subscribe' | 'onMessage'>;
  readonly proxy: SimulatedProxy;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/**
 * Subscribes simulated browsers through the API. They show the notifications that they receive, and click some: those
 * that are added here, and those of earlier starts. The parameters are in the query: the gateway reads the body of
 * each request before this.
 */
export function simulatedBrowsers({
  baseUrl,
  pushService,
  proxy,
  random = Math.random,
}: SimulatedBrowsersOptions): { readonly respond: Pages; stop(): void } {
  const stopped = new AbortController();
  // Each browser that waits has one: a warning would be wrong.
  setMaxListeners(0, stopped.signal);
  /** The headers of each browser's requests, by its id: the rate limit counts by address. */
  const people = new Map<string, Readonly<Record<string, string>>>();
  for (const channel of pushService.channels.all()) {
    if (channel instanceof SimulatedBrowser) addPerson(channel.id);
  }

  function addPerson(id: string) {
    const number = people.size + 1;
    const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
    const headers = proxy.headersFrom(address);
    people.set(id, headers);
    return headers;
  }

  async function react(id: string, text: string): Promise<void> {
    const { signal } = stopped;
    const headers = people.get(id);
    if (headers === undefined || random() > habits.shows) return;
    await setTimeout(random() * habits.showsWithinMs, undefined, { signal, ref: false });
    if (reportedBy(text).types.includes('shown')) await postBeacon(text, 'shown', headers);
    if (random() > habits.clicks) return;
    await setTimeout(random() * habits.clicksWithinMs, undefined, { signal, ref: false });
    await postBeacon(text, 'clicked', headers);
  }
  // The service may have stopped, or the notification is unknown by now: a browser ignores that too.
  pushService.onMessage((id, text) => void react(id, text).catch(() => {}));

  async function subscribeAll(browsers: readonly SimulatedBrowser[], projectId: string) {
    const responses = await Promise.all(
      browsers.map(async (browser) => {
        const headers = { 'content-type': 'application/json', ...addPerson(browser.id) };
        const response = await fetch(baseUrl + pathOf(routes.subscribe, { projectId }), {
          method: routes.subscribe.method,
          headers,
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

  const respond: Pages = async ({ method, url = '' }) => {
    if (method !== 'POST') return jsonResponse(405, { message: 'Use POST.' });
    const query = Object.fromEntries(new URLSearchParams(url.split('?')[1]));
    const { data, error } = additionSchema.safeParse(query);
    if (error) return badRequest(z.prettifyError(error));
    const { projectId, applicationServerKey, count } = data;
    let browsers: readonly SimulatedBrowser[];
    try {
      browsers = Array.from({ length: count }, () =>
        pushService.subscribe({ applicationServerKey }),
      );
    } catch (invalidKey) {
      return badRequest((invalidKey as TypeError).message);
    }
    return subscribeAll(browsers, projectId);
  };
  return { respond, stop: () => stopped.abort() };
}

const badRequest = (message: string) => jsonResponse(400, { message });
