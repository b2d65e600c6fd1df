import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { normalizeApplicationServerKey } from './application-server-key.ts';
import { type BrowserKeys, createBrowserKeys } from './browser-keys.ts';
import { Channels } from './channels.ts';
import { handleControl } from './control-api.ts';
import { type Endpoint, receivePush } from './endpoint.ts';
import { PushCounter, type PushCounts } from './push-counter.ts';
import { admitRealBrowsers, type RealBrowsers } from './real-browsers.ts';
import { Refusal } from './refusal.ts';
import { SimulatedBrowser } from './simulated-browser.ts';
import { VapidVerifier } from './vapid.ts';

/** Longer than any sender leaves a connection unused: it is the sender's to close. */
const keepAliveTimeout = 120_000;

export interface PushServiceOptions {
  /** 0, the default, takes any free one. */
  readonly port?: number;
  /** Serves https with this certificate, in PEM. */
  readonly tls?: { readonly key: string | Buffer; readonly cert: string | Buffer };
  /** Milliseconds since the epoch; what tokens expire by. */
  readonly now?: () => number;
  /** False: messages are counted, but neither decrypted nor kept. For benchmarks. */
  readonly decrypt?: boolean;
}

export interface SubscribeOptions {
  /** Restricts the subscription to this key's owner (RFC 8292 §4), as `PushManager` does. */
  readonly applicationServerKey?: string | undefined;
  /** Keys to use instead of new ones. Making a pair is what costs in a subscription. */
  readonly keys?: BrowserKeys;
}

export interface PushServiceStats extends PushCounts {
  /** Subscriptions there are. */
  readonly live: number;
  /** Subscriptions that have ended. */
  readonly gone: number;
}

/** A push service on this machine, in place of those of the browsers' makers. */
export interface PushService {
  /** Where it serves: `http://127.0.0.1:<port>`. */
  readonly origin: string;
  readonly channels: Channels;
  /** Those that connect by WebSocket at {@link origin}, of scheme `ws`. */
  readonly realBrowsers: RealBrowsers;
  /**
   * Makes a simulated browser with a subscription.
   * @throws {TypeError} if the application server key is none.
   */
  subscribe(options?: SubscribeOptions): SimulatedBrowser;
  stats(): PushServiceStats;
  /**
   * Resolves once so many messages were accepted since the start. Rejects with an `AbortError`
   * when the push service stops first.
   */
  waitFor(accepted: number): Promise<void>;
  /** Ends every connection, those without an answer included, and every wait. */
  stop(): Promise<void>;
}

/** @throws the error of `listen`, such as `EADDRINUSE`. */
export async function startPushService({
  port = 0,
  tls,
  now = Date.now,
  decrypt = true,
}: PushServiceOptions = {}): Promise<PushService> {
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  server.keepAliveTimeout = keepAliveTimeout;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: chosenPort } = server.address() as AddressInfo;
  const origin = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${chosenPort}`;

  const channels = new Channels();
  const tallies = new PushCounter();
  const vapid = new VapidVerifier({ origin, now });
  const realBrowsers = admitRealBrowsers(server, origin, channels);
  const arrivals = new EventEmitter().setMaxListeners(0);
  const acceptances = new EventEmitter().setMaxListeners(0);
  const stopping = new AbortController();
  const { signal: stopped } = stopping;
  const surroundings = { origin, channels, arrivals, stopped, decrypt };

  const service: PushService = {
    origin,
    channels,
    realBrowsers,
    subscribe({ applicationServerKey, keys = createBrowserKeys() } = {}) {
      const key =
        applicationServerKey === undefined
          ? undefined
          : normalizeApplicationServerKey(applicationServerKey);
      const id = randomUUID();
      const browser = new SimulatedBrowser({ id, keys, applicationServerKey: key }, surroundings);
      channels.add(browser);
      return browser;
    },
    stats: () => ({ ...channels.counts(), ...tallies.counts() }),
    async waitFor(accepted) {
      while (tallies.accepted < accepted) {
        await once(acceptances, 'accepted', { signal: stopped });
      }
    },
    async stop() {
      stopping.abort(new Error('The push service was stopped.'));
      realBrowsers.stop();
      await close(server);
    },
  };

  const onAccepted = () => acceptances.emit('accepted');
  const endpoint = { origin, channels, vapid, tallies, onAccepted };
  server.on('connection', () => tallies.connections++);
  server.on('request', (request, response) => void answer(request, response, service, endpoint));
  return service;
}

const endpointPath = /^\/push\/([^/?]+)(\?|$)/;

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  service: PushService,
  endpoint: Endpoint,
): Promise<void> {
  try {
    const [, id] = endpointPath.exec(request.url!) ?? [];
    if (id === undefined) await handleControl(request, response, service);
    else await receivePush(request, endpoint.tallies.begin(response), id, endpoint);
  } catch (error) {
    // A sender that hung up in the middle of its request gets no answer.
    if (response.destroyed) return;
    const refusal = error instanceof Refusal ? error : new Refusal(500, String(error));
    response.writeHead(refusal.status, { ...refusal.headers, 'content-type': 'application/json' });
    response.end(refusal.body);
  }
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
