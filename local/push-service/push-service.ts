import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  type BrowserKeys,
  createBrowserKeys,
  restoreBrowserKeys,
} from '../../admin/browser/browser-keys.ts';
import { closeServer } from '../close-server.ts';
import { type AfterForgetting, connectionForgetter } from '../forget-connections.ts';
import { isAllowedRequest, refusalText } from '../host-and-origin.ts';
import { normalizeApplicationServerKey } from './application-server-key.ts';
import { Channels } from './channels.ts';
import { handleControlRequest } from './control-api.ts';
import { type Endpoint, receivePush } from './endpoint.ts';
import { PushCounter, type PushCounts } from './push-counter.ts';
import { acceptRealBrowsers, type RealBrowsers } from './real-browsers.ts';
import { Refusal } from './refusal.ts';
import { anyArrival, SimulatedBrowser } from './simulated-browser.ts';
import { type SimulatedSubscription, SubscriptionLog } from './subscription-log.ts';
import { VapidVerifier } from './vapid.ts';

/** Longer than the idle timeout of any sender here, so that the sender closes idle connections. */
const keepAliveTimeoutMs = 120_000;

export interface PushServiceOptions {
  /** Default: 0, any free port. */
  readonly port?: number;
  /** Key and certificate in PEM. Default: plain HTTP. */
  readonly tls?: { readonly key: string | Buffer; readonly cert: string | Buffer };
  /** The clock that VAPID tokens expire by: milliseconds since the epoch. */
  readonly nowMs?: () => number;
  /** False counts messages but neither decrypts nor keeps them, for benchmarks. Default: true. */
  readonly decrypt?: boolean;
  /** Keeps the subscriptions across restarts on the same port. Default: in memory. */
  readonly subscriptionFile?: string | undefined;
}

export interface SubscribeOptions {
  /** Only the owner of this key may send (RFC 8292 §4). Default: any sender may. */
  readonly applicationServerKey?: string | undefined;
  /** Default: new keys. Benchmarks share one pair, because creating a pair is slow. */
  readonly keys?: BrowserKeys;
}

export interface PushServiceStats extends PushCounts {
  /** Subscriptions that exist. */
  readonly live: number;
  /** Subscriptions that have ended. */
  readonly gone: number;
}

/** A push service on this machine, instead of the browser vendors'. */
export interface PushService {
  /** `http://127.0.0.1:<port>`, or `https:` with TLS. */
  readonly origin: string;
  readonly channels: Channels;
  /** Browsers that connect by WebSocket to the port of {@link origin}. */
  readonly realBrowsers: RealBrowsers;
  /**
   * Creates a simulated browser with a subscription.
   * @throws {TypeError} if the application server key is invalid.
   */
  subscribe(options?: SubscribeOptions): SimulatedBrowser;
  /** Calls the listener when a simulated browser has received a message. */
  onMessage(listener: (browser: SimulatedBrowser) => void): void;
  stats(): PushServiceStats;
  /**
   * Resolves when at least `accepted` messages have been accepted since the start.
   * @throws {AbortError} if the push service stops first.
   */
  waitFor(accepted: number): Promise<void>;
  /** Forgets all connections; not with TLS. @returns how many these were. */
  forgetConnections(then: AfterForgetting): number;
  /** Closes every connection, also during a request, and aborts every wait. */
  stop(): Promise<void>;
}

/** @throws the error of `listen`, such as `EADDRINUSE`. */
export async function startPushService({
  port = 0,
  tls,
  nowMs = Date.now,
  decrypt = true,
  subscriptionFile,
}: PushServiceOptions = {}): Promise<PushService> {
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  server.keepAliveTimeout = keepAliveTimeoutMs;
  const forgetConnections = connectionForgetter(server);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: chosenPort } = server.address() as AddressInfo;
  const origin = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${chosenPort}`;

  const log = subscriptionFile === undefined ? undefined : new SubscriptionLog(subscriptionFile);
  const channels = new Channels(log);
  const counter = new PushCounter();
  const vapid = new VapidVerifier({ origin, nowMs });
  const realBrowsers = acceptRealBrowsers(server, origin, channels);
  const arrivals = new EventEmitter().setMaxListeners(0);
  const acceptances = new EventEmitter().setMaxListeners(0);
  const stopping = new AbortController();
  const { signal: stopped } = stopping;
  const context = { origin, channels, arrivals, stopped, decrypt };
  for (const subscription of log?.subscriptions ?? []) {
    if ('uaid' in subscription) realBrowsers.restore(subscription);
    else channels.restore(new SimulatedBrowser(browserOf(subscription), context));
  }

  const pushService: PushService = {
    origin,
    channels,
    realBrowsers,
    subscribe({ applicationServerKey, keys = createBrowserKeys() } = {}) {
      const key =
        applicationServerKey === undefined
          ? undefined
          : normalizeApplicationServerKey(applicationServerKey);
      const id = randomUUID();
      const browser = new SimulatedBrowser({ id, keys, applicationServerKey: key }, context);
      channels.add(browser);
      return browser;
    },
    onMessage: (listener) => void arrivals.on(anyArrival, listener),
    stats: () => ({ ...channels.counts(), ...counter.counts() }),
    async waitFor(accepted) {
      while (counter.accepted < accepted) {
        await once(acceptances, 'accepted', { signal: stopped });
      }
    },
    forgetConnections,
    async stop() {
      stopping.abort(new Error('The push service was stopped.'));
      realBrowsers.stop();
      await closeServer(server);
    },
  };

  const onAccepted = () => acceptances.emit('accepted');
  const endpoint = { origin, channels, vapid, counter, onAccepted };
  server.on('connection', () => counter.connections++);
  server.on(
    'request',
    (request, response) => void handleRequest(request, response, pushService, endpoint),
  );
  return pushService;
}

function browserOf({ privateKey, authSecret, ...others }: SimulatedSubscription) {
  const [key, secret] = [privateKey, authSecret].map((text) => Buffer.from(text, 'base64url'));
  return { ...others, keys: restoreBrowserKeys(key!, secret!) };
}

const endpointPath = /^\/push\/([^/?]+)(\?|$)/;

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  pushService: PushService,
  endpoint: Endpoint,
): Promise<void> {
  try {
    if (!isAllowedRequest(request)) throw new Refusal(403, refusalText);
    const [, id] = endpointPath.exec(request.url!) ?? [];
    if (id === undefined) await handleControlRequest(request, response, pushService);
    else await receivePush(request, endpoint.counter.begin(response), id, endpoint);
  } catch (error) {
    // The sender closed the connection during its request.
    if (response.destroyed) return;
    const refusal = error instanceof Refusal ? error : new Refusal(500, String(error));
    response.writeHead(refusal.status, { ...refusal.headers, 'content-type': 'application/json' });
    response.end(refusal.body);
  }
}
