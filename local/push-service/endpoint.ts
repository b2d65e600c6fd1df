import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DecryptionError } from '../../admin/browser.ts';
import type { Channel, Channels, PushedMessage } from './channels.ts';
import { methodNotAllowed, pushRefusal, readBody, unknownEndpoint } from './refusal.ts';
import type { VapidVerifier } from './vapid.ts';

/** RFC 8030 §7.2: every push service accepts this size. The browser vendors' accept no more. */
const bodyLimitBytes = 4096;
/** A longer TTL is reduced to this one (RFC 8030 §5.2 allows it). */
const maxTtlSeconds = 30 * 24 * 60 * 60;

export interface Endpoint {
  readonly origin: string;
  readonly channels: Channels;
  readonly vapid: VapidVerifier;
  readonly counter: PushCounter;
}

/**
 * Handles a request to `/push/<id>` (RFC 8030 §5). It first validates the push as a real push service
 * does, and then applies the channel's behaviour, so that a behaviour cannot hide an error of the
 * sender. Unlike a real push service, it also refuses a message that the browser cannot decrypt (400).
 * @throws {Refusal}
 */
export async function receivePush(
  request: IncomingMessage,
  response: ServerResponse,
  respond: Respond,
  id: string,
  { origin, channels, vapid, counter }: Endpoint,
): Promise<void> {
  if (request.method !== 'POST') throw methodNotAllowed('POST');
  const channel = findChannel(id, channels);
  const ttl = readTtl(request.headers);
  checkHeaders(request.headers);
  checkSender(vapid.verify(request.headers.authorization), channel);
  const body = await readBody(request, bodyLimitBytes);
  if (body.length === 0) throw pushRefusal('invalidEncryption', 'The body is empty.');

  let behaviour = channels.nextBehaviour(id);
  while (behaviour.stall) {
    const isOpen = await openAfter((signal) => channels.changed(id, signal), response);
    if (!isOpen) return;
    findChannel(id, channels);
    behaviour = channels.nextBehaviour(id);
  }
  const { delayMs, reset, status, headers, body: text } = behaviour;
  if (delayMs !== undefined) {
    const delay = (signal: AbortSignal) => sleep(delayMs, undefined, { signal });
    if (!(await openAfter(delay, response))) return;
  }
  if (reset) {
    request.socket.destroy();
    return;
  }
  if (status !== undefined) {
    respond(status, headers, text);
    return;
  }
  deliver(channel, { headers: request.headers, body });
  counter.accepted++;
  respond(201, { location: `${origin}/message/${counter.accepted}`, ttl });
}

function findChannel(id: string, channels: Channels): Channel {
  if (channels.isGone(id)) throw pushRefusal('gone', 'The subscription has ended.');
  const channel = channels.find(id);
  if (channel === undefined) throw unknownEndpoint();
  return channel;
}

function readTtl(headers: IncomingHttpHeaders): number {
  const { ttl } = headers;
  if (ttl === undefined) throw pushRefusal('missingTtl', 'The TTL header is missing.');
  if (!/^\d+$/.test(String(ttl))) {
    throw pushRefusal('invalidTtl', 'The TTL header must be a whole number of seconds, 0 or more.');
  }
  return Math.min(Number(ttl), maxTtlSeconds);
}

function checkHeaders(headers: IncomingHttpHeaders): void {
  if (headers['content-encoding'] !== 'aes128gcm') {
    throw pushRefusal('invalidEncryption', 'The Content-Encoding header must be aes128gcm.');
  }
  if (headers.topic !== undefined && !/^[\w-]{1,32}$/.test(String(headers.topic))) {
    throw pushRefusal('invalidTopic', 'The Topic header must have 1 to 32 base64url characters.');
  }
}

function checkSender(key: string, { applicationServerKey }: Channel): void {
  if (applicationServerKey !== undefined && applicationServerKey !== key) {
    throw pushRefusal(
      'invalidVapid',
      'VAPID public key mismatch: the subscription was made with another application server key.',
    );
  }
}

function deliver(channel: Channel, message: PushedMessage): void {
  try {
    channel.deliver(message);
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    throw pushRefusal('invalidEncryption', error.message);
  }
}

/** @returns whether the connection is still open at the end of the wait; false as soon as it closes. */
async function openAfter(
  wait: (signal: AbortSignal) => Promise<unknown>,
  response: ServerResponse,
): Promise<boolean> {
  const closing = new AbortController();
  const close = () => closing.abort();
  response.once('close', close);
  await wait(closing.signal).catch(() => {});
  response.off('close', close);
  return !closing.signal.aborted;
}

/** Sends the response to a request. */
export type Respond = (
  status: number,
  headers?: Readonly<Record<string, string | number>>,
  body?: string,
) => void;

/** Counts requests to endpoints and their responses, to compare with a sender's own counts. */
export class PushCounter {
  /** TCP connections to the push service, whatever their requests. */
  connections = 0;
  requests = 0;
  /** Requests that have no response yet. */
  inFlight = 0;
  /** Messages that a channel has received; their pushes got 201. */
  accepted = 0;
  /** Requests whose connection closed before a response. */
  withoutResponse = 0;
  /** By status. */
  readonly responses: Record<number, number> = {};

  /** Counts a request as in flight until it gets its response, or its connection closes. */
  begin(response: ServerResponse): Respond {
    this.requests++;
    this.inFlight++;
    let isOpen = true;
    const end = (status?: number) => {
      if (!isOpen) return;
      isOpen = false;
      this.inFlight--;
      if (status === undefined) this.withoutResponse++;
      else this.responses[status] = (this.responses[status] ?? 0) + 1;
    };
    response.once('close', () => end());
    return (status, headers = {}, body = '') => {
      // Counted first: a sender that has its response must find it in the counts.
      end(status);
      response.writeHead(status, headers).end(body);
    };
  }
}
