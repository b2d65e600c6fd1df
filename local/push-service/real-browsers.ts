import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import * as z from 'zod';
import { normalizeApplicationServerKey } from './application-server-key.ts';
import type { Channel, Channels, PushedMessage } from './channels.ts';

/**
 * The browser's side of the push service, as Firefox speaks it with Mozilla's: JSON over a
 * WebSocket of subprotocol `push-notification`. The browser says hello, registers a channel for
 * each subscription, is handed messages as they come, and acknowledges each. It also asks to be told
 * when settings of Mozilla's own change, which never happens here and has no answer.
 */

const subprotocol = 'push-notification';

const requestSchema = z.discriminatedUnion('messageType', [
  z.object({ messageType: z.literal('hello'), uaid: z.string().optional() }),
  z.object({ messageType: z.literal('register'), channelID: z.uuid(), key: z.string().optional() }),
  z.object({ messageType: z.literal('unregister'), channelID: z.string() }),
  z.object({ messageType: z.literal('broadcast_subscribe') }),
  z.object({
    messageType: z.literal('ack'),
    updates: z.array(z.object({ version: z.string(), code: z.int().optional() })),
  }),
]);
type Request = z.infer<typeof requestSchema>;

/** Acknowledges a message that was decrypted and handed to the service worker. */
const handedOver = 100;

interface WaitingMessage {
  /** What goes over the wire; its `version` tells messages apart. */
  readonly wire: { readonly version: string; readonly [member: string]: unknown };
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** One browser: it keeps its identity and its channels from one connection to the next. */
interface Browser {
  /** User agent id. */
  readonly uaid: string;
  readonly channelIds: Set<string>;
  /** Not yet acknowledged, oldest first. */
  readonly waiting: Map<string, WaitingMessage>;
  socket: WebSocket | undefined;
}

export interface RealBrowsers {
  /** How many are connected. */
  readonly connected: number;
  /** Messages that a browser could not decrypt or hand over. */
  readonly undelivered: number;
  /**
   * Forgets every browser, as a push service does that has lost its data: their endpoints are
   * gone, and each is told when it connects again, which it does at once.
   */
  forget(): void;
  stop(): void;
}

/** Lets real browsers connect to the server. */
export function admitRealBrowsers(
  server: Server,
  origin: string,
  channels: Channels,
): RealBrowsers {
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });
  const browsers = new Map<string, Browser>();
  let undelivered = 0;

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    sockets.handleUpgrade(request, socket, head, (connection) => connect(connection)),
  );

  function connect(socket: WebSocket): void {
    let browser: Browser | undefined;
    socket.on('message', (data) => {
      const text = String(data);
      // A ping of the protocol's own, answered in kind.
      if (text === '{}') return socket.send(text);
      const request = requestSchema.safeParse(parsed(text));
      if (!request.success) return socket.close(4400, 'This message is not understood.');
      if (request.data.messageType === 'hello') browser = greet(socket, request.data.uaid);
      else if (browser === undefined) socket.close(4401, 'The first message must be hello.');
      else answer(browser, request.data);
    });
    socket.on('close', () => {
      if (browser?.socket === socket) browser.socket = undefined;
    });
    // The close that follows tells enough.
    socket.on('error', () => {});
  }

  function greet(socket: WebSocket, uaid: string | undefined): Browser {
    const known = uaid === undefined ? undefined : browsers.get(uaid);
    // An id that is not the browser's own has it drop its subscriptions.
    const browser: Browser = known ?? {
      uaid: randomUUID(),
      channelIds: new Set(),
      waiting: new Map(),
      socket: undefined,
    };
    browsers.set(browser.uaid, browser);
    browser.socket = socket;
    const hello = { uaid: browser.uaid, use_webpush: true, broadcasts: {} };
    say(browser, { messageType: 'hello', status: 200, ...hello });
    for (const { wire, expires } of browser.waiting.values()) {
      if (expires > Date.now()) say(browser, wire);
      else browser.waiting.delete(wire.version);
    }
    return browser;
  }

  function answer(browser: Browser, request: Exclude<Request, { messageType: 'hello' }>): void {
    const { messageType } = request;
    if (messageType === 'register') {
      const { channelID, key } = request;
      const status = addChannel(browser, channelID, key) ? 200 : 400;
      const pushEndpoint = `${origin}/push/${channelID}`;
      say(browser, { messageType, channelID, status, pushEndpoint });
    } else if (messageType === 'unregister') {
      const { channelID } = request;
      if (browser.channelIds.delete(channelID)) channels.remove(channelID);
      say(browser, { messageType, channelID, status: 200 });
    } else if (messageType === 'ack') {
      for (const { version, code = handedOver } of request.updates) {
        if (browser.waiting.delete(version) && code !== handedOver) undelivered++;
      }
    }
  }

  function addChannel(browser: Browser, id: string, key: string | undefined): boolean {
    let applicationServerKey: string | undefined;
    try {
      applicationServerKey = key === undefined ? undefined : normalizeApplicationServerKey(key);
    } catch {
      return false;
    }
    const deliver = (message: PushedMessage) => hand(browser, id, message);
    channels.add({ id, applicationServerKey, deliver } satisfies Channel);
    browser.channelIds.add(id);
    return true;
  }

  function hand(browser: Browser, channelID: string, { headers, body }: PushedMessage): void {
    const ttl = Number(headers.ttl);
    const wire = {
      messageType: 'notification',
      channelID,
      version: randomUUID(),
      ttl,
      data: body.toString('base64url'),
      headers: { encoding: 'aes128gcm' },
    };
    browser.waiting.set(wire.version, { wire, expires: Date.now() + ttl * 1000 });
    say(browser, wire);
  }

  return {
    get connected() {
      return [...browsers.values()].filter(({ socket }) => socket !== undefined).length;
    },
    get undelivered() {
      return undelivered;
    },
    forget() {
      for (const { channelIds, socket } of browsers.values()) {
        for (const id of channelIds) channels.remove(id);
        socket?.terminate();
      }
      browsers.clear();
    },
    stop() {
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

function say({ socket }: Browser, message: object): void {
  socket?.send(JSON.stringify(message));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
