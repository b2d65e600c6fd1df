import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { isAllowedRequest, refusalText } from 'aws-emulator/loopback';
import { type WebSocket, WebSocketServer } from 'ws';
import * as z from 'zod';
import { parseJson } from '../../contract/text/text.ts';
import type { Channel, Channels, PushedMessage, RealSubscription } from './channels.ts';
import { normalizeApplicationServerKey } from './vapid.ts';

/**
 * The protocol between Firefox and Mozilla's push service: JSON over a WebSocket. Firefox asks for the
 * subprotocol `push-notification`, and Mozilla's server names none. The browser sends `hello`, registers one channel per subscription, receives
 * messages and acknowledges each. It also subscribes to changes of Mozilla's settings
 * (`broadcast_subscribe`), which gets no response.
 */

const requestSchema = z.discriminatedUnion('messageType', [
  z.object({ messageType: z.literal('hello'), uaid: z.string().optional() }),
  z.object({ messageType: z.literal('register'), channelID: z.uuid(), key: z.string().optional() }),
  z.object({ messageType: z.literal('unregister'), channelID: z.string() }),
  z.object({ messageType: z.literal('broadcast_subscribe') }),
  z.object({
    messageType: z.literal('ack'),
    updates: z.array(z.object({ version: z.string() })),
  }),
]);
type Request = z.infer<typeof requestSchema>;

/** A message that the browser has not acknowledged yet. */
interface PendingMessage {
  /** The JSON that is sent. Its `version` is the message's id. */
  readonly json: { readonly version: string; readonly [member: string]: unknown };
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
  /** Its channel and topic: a later message of both replaces it (RFC 8030 §5.4). Undefined: no topic. */
  readonly replacedBy: string | undefined;
}

/** One browser. It has the same id and channels on every connection. */
interface Browser {
  /** User agent id. */
  readonly uaid: string;
  readonly channelIds: Set<string>;
  /** By version, oldest first. */
  readonly pending: Map<string, PendingMessage>;
  socket: WebSocket | undefined;
}

/** Accepts WebSocket connections of real browsers on the server, but none of a page. */
export function acceptRealBrowsers(server: Server, origin: string, channels: Channels) {
  const sockets = new WebSocketServer({
    server,
    verifyClient: ({ req }, respond) => respond(isAllowedRequest(req), 403, refusalText),
    handleProtocols: () => false,
  });
  sockets.on('headers', (headers) => headers.push(`Date: ${new Date().toUTCString()}`));
  const browsers = new Map<string, Browser>();

  sockets.on('connection', (socket) => {
    let browser: Browser | undefined;
    socket.on('message', (data) => {
      const text = String(data);
      // The protocol's ping; the response is the same.
      if (text === '{}') return socket.send(text);
      const request = requestSchema.safeParse(parseJson(text));
      if (!request.success) return socket.close(4400, 'Invalid message.');
      if (request.data.messageType === 'hello') browser = handleHello(socket, request.data.uaid);
      else if (browser === undefined) socket.close(4401, 'The first message must be hello.');
      else handleRequest(browser, request.data);
    });
    socket.on('close', () => {
      if (browser?.socket === socket) browser.socket = undefined;
    });
    // Without a listener the error would end the process. A `close` event follows it.
    socket.on('error', () => {});
  });

  function handleHello(socket: WebSocket, uaid: string | undefined): Browser {
    const existing = uaid === undefined ? undefined : browsers.get(uaid);
    // A browser that gets another id than it sent drops its subscriptions.
    const browser = existing ?? newBrowser(randomUUID());
    browser.socket = socket;
    const hello = { uaid: browser.uaid, use_webpush: true, broadcasts: {} };
    send(browser, { messageType: 'hello', status: 200, ...hello });
    for (const { json, expiresAtMs } of browser.pending.values()) {
      if (expiresAtMs > Date.now()) send(browser, json);
      else browser.pending.delete(json.version);
    }
    return browser;
  }

  function newBrowser(uaid: string): Browser {
    const browser = { uaid, channelIds: new Set<string>(), pending: new Map(), socket: undefined };
    browsers.set(uaid, browser);
    return browser;
  }

  function handleRequest(
    browser: Browser,
    request: Exclude<Request, { messageType: 'hello' }>,
  ): void {
    const { messageType } = request;
    if (messageType === 'register') {
      const { channelID, key } = request;
      const status = addChannel(browser, channelID, key) ? 200 : 400;
      const pushEndpoint = `${origin}/push/${channelID}`;
      send(browser, { messageType, channelID, status, pushEndpoint });
    } else if (messageType === 'unregister') {
      const { channelID } = request;
      if (browser.channelIds.delete(channelID)) channels.remove(channelID);
      send(browser, { messageType, channelID, status: 200 });
    } else if (messageType === 'ack') {
      for (const { version } of request.updates) browser.pending.delete(version);
    }
  }

  /** @returns whether the application server key is valid. */
  function addChannel(browser: Browser, id: string, key: string | undefined): boolean {
    try {
      const applicationServerKey = normalizeApplicationServerKey(key);
      channels.add(channelOf(browser, { id, applicationServerKey }));
      return true;
    } catch {
      return false;
    }
  }

  function channelOf(
    browser: Browser,
    { id, applicationServerKey }: Pick<Channel, 'id' | 'applicationServerKey'>,
  ): Channel {
    browser.channelIds.add(id);
    return {
      id,
      applicationServerKey,
      deliver: (message) => deliver(browser, id, message),
      toStored: () => ({ id, applicationServerKey, uaid: browser.uaid }),
    };
  }

  function deliver(browser: Browser, channelID: string, { headers, body }: PushedMessage): void {
    const ttl = Number(headers.ttl);
    const json = {
      messageType: 'notification',
      channelID,
      version: randomUUID(),
      ttl,
      data: body.toString('base64url'),
      headers: { encoding: 'aes128gcm' },
    };
    const replacedBy = headers.topic && `${channelID} ${headers.topic}`;
    for (const [version, pending] of browser.pending) {
      if (replacedBy !== undefined && pending.replacedBy === replacedBy) {
        browser.pending.delete(version);
      }
    }
    const expiresAtMs = Date.now() + ttl * 1000;
    browser.pending.set(json.version, { json, expiresAtMs, replacedBy });
    send(browser, json);
  }

  return {
    /**
     * Deletes every browser, as if the push service lost its data. Their endpoints are gone. Browsers
     * reconnect immediately, get a new id, and drop their subscriptions.
     */
    forget() {
      for (const { channelIds, socket } of browsers.values()) {
        for (const id of channelIds) channels.remove(id);
        socket?.terminate();
      }
      browsers.clear();
    },
    /** Adds a subscription from before a restart. Its browser gets its id again when it connects. */
    restore({ uaid, ...subscription }: RealSubscription) {
      const browser = browsers.get(uaid) ?? newBrowser(uaid);
      channels.restore(channelOf(browser, subscription));
    },
    stop() {
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

/** Sends a message if the browser is connected. */
function send({ socket }: Browser, message: object): void {
  socket?.send(JSON.stringify(message));
}
