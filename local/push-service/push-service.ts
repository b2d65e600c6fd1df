import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  closeServer,
  connectionForgetter,
  isAllowedRequest,
  refusalText,
} from 'aws-emulator/loopback';
import { type BrowserKeys, createBrowserKeys, restoreBrowserKeys } from '../../admin/browser.ts';
import { Channels, type SimulatedSubscription, SubscriptionLog } from './channels.ts';
import { handleControlRequest } from './control-api.ts';
import { type Endpoint, PushCounter, type Respond, receivePush } from './endpoint.ts';
import { acceptRealBrowsers } from './real-browsers.ts';
import { Refusal } from './refusal.ts';
import { anyArrival, type PushServiceContext, SimulatedBrowser } from './simulated-browser.ts';
import { normalizeApplicationServerKey, VapidVerifier } from './vapid.ts';

/** Longer than the idle timeout of any sender here, so that the sender closes idle connections. */
const keepAliveTimeoutMs = 120_000;

export interface PushServiceOptions {
  /** Default: 0, any free port. */
  readonly port?: number;
  /** The clock that VAPID tokens expire by: milliseconds since the epoch. */
  readonly nowMs?: () => number;
  /** Keeps the subscriptions across restarts on the same port. Default: in memory. */
  readonly subscriptionFile?: string | undefined;
}

export interface SubscribeOptions {
  /** Only the owner of this key may send (RFC 8292 §4). Default: any sender may. */
  readonly applicationServerKey?: string | undefined;
  /** Default: new keys. Benchmarks share one pair, because creating a pair is slow. */
  readonly keys?: BrowserKeys;
}

/** A push service on this machine, instead of the browser vendors'. */
export type PushService = Awaited<ReturnType<typeof startPushService>>;

/** @throws the error of `listen`, such as `EADDRINUSE`. */
export async function startPushService({
  port = 0,
  nowMs = Date.now,
  subscriptionFile,
}: PushServiceOptions = {}) {
  const server = createServer();
  server.keepAliveTimeout = keepAliveTimeoutMs;
  const forgetConnections = connectionForgetter(server);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: chosenPort } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${chosenPort}`;

  const log = subscriptionFile === undefined ? undefined : new SubscriptionLog(subscriptionFile);
  const channels = new Channels(log);
  const counter = new PushCounter();
  const vapid = new VapidVerifier(origin, nowMs);
  const realBrowsers = acceptRealBrowsers(server, origin, channels);
  const arrivals = new EventEmitter().setMaxListeners(0);
  const stopping = new AbortController();
  const context = { origin, channels, arrivals, stopped: stopping.signal };
  for (const subscription of log?.subscriptions ?? []) {
    if ('uaid' in subscription) realBrowsers.restore(subscription);
    else channels.restore(restoredBrowser(subscription, context));
  }

  const pushService = {
    /** `http://127.0.0.1:<port>`. */
    origin,
    channels,
    /** Browsers that connect by WebSocket to the port of the origin. */
    realBrowsers,
    /**
     * Creates a simulated browser with a subscription.
     * @throws {TypeError} if the application server key is invalid.
     */
    subscribe({ applicationServerKey, keys = createBrowserKeys() }: SubscribeOptions = {}) {
      const key = normalizeApplicationServerKey(applicationServerKey);
      const id = randomUUID();
      const browser = new SimulatedBrowser(id, key, keys, context);
      channels.add(browser);
      return browser;
    },
    /** Calls the listener with the id of a simulated browser and the text of the message that it has received. */
    onMessage(listener: (id: string, text: string) => void) {
      arrivals.on(anyArrival, listener);
    },
    stats: () => ({ ...channels.counts(), ...counter, responses: { ...counter.responses } }),
    /** Forgets all connections. @returns how many these were. */
    forgetConnections,
    /** Closes every connection, also during a request, and aborts every wait. */
    async stop() {
      stopping.abort(new Error('The push service was stopped.'));
      realBrowsers.stop();
      await closeServer(server);
    },
  };

  const endpoint = { origin, channels, vapid, counter };
  server.on('connection', () => counter.connections++);
  server.on(
    'request',
    (request, response) => void handleRequest(request, response, pushService, endpoint),
  );
  return pushService;
}

function restoredBrowser(
  { id, applicationServerKey, privateKey, authSecret }: SimulatedSubscription,
  context: PushServiceContext,
): SimulatedBrowser {
  const [key, secret] = [privateKey, authSecret].map((text) => Buffer.from(text, 'base64url'));
  const keys = restoreBrowserKeys(key!, secret!);
  return new SimulatedBrowser(id, applicationServerKey, keys, context);
}

const endpointPath = /^\/push\/([^/?]+)(\?|$)/;

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  pushService: PushService,
  endpoint: Endpoint,
): Promise<void> {
  const [, id] = endpointPath.exec(request.url!) ?? [];
  const isAllowed = isAllowedRequest(request);
  const respond: Respond =
    id !== undefined && isAllowed
      ? endpoint.counter.begin(response)
      : (status, headers, body) => response.writeHead(status, headers).end(body);
  try {
    if (!isAllowed) throw new Refusal(403, refusalText);
    if (id === undefined) await handleControlRequest(request, response, pushService);
    else await receivePush(request, response, respond, id, endpoint);
  } catch (error) {
    // The sender closed the connection during its request.
    if (response.destroyed) return;
    const refusal = error instanceof Refusal ? error : new Refusal(500, String(error));
    const { status, headers, body } = refusal;
    respond(
      status,
      body === '' ? headers : { ...headers, 'content-type': 'application/json' },
      body,
    );
  }
}
