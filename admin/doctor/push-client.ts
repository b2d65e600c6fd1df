import { EventEmitter, once } from 'node:events';
import { WebSocket } from 'ws';
import * as z from 'zod';
import { parseJson } from '../../contract/text/text.ts';

/** What the push service sends. Members depend on the type; a ping is `{}`. */
const receivedSchema = z.object({
  // Node takes an event `error` for a failure.
  messageType: z
    .string()
    .refine((type) => type !== 'error')
    .optional(),
  status: z.int().optional(),
  pushEndpoint: z.url().optional(),
  channelID: z.string().optional(),
  version: z.string().optional(),
  /** The encrypted message, base64url. */
  data: z.string().default(''),
});
type Received = z.infer<typeof receivedSchema>;

/** The code by which a browser acknowledges a message that it has received. */
const deliveredCode = 100;

/**
 * A browser's side of the protocol between Firefox and Mozilla's push service: JSON over a WebSocket. It asks for no
 * subprotocol: Firefox asks for `push-notification`, Mozilla's server names none, and only Firefox accepts that.
 */
export class PushClient {
  readonly #socket: WebSocket;
  /** Emits what was received by its type, and `error` when the connection ends. */
  readonly #received = new EventEmitter();
  /** Bodies of pushes that nobody has taken yet. */
  readonly #messages: Buffer[] = [];
  #end: Error | undefined;
  #clockDifferenceMs = 0;

  private constructor(address: string) {
    this.#socket = new WebSocket(address, { handshakeTimeout: 10_000 });
    // Without a listener an error would end the process.
    this.#received.on('error', (error: Error) => {
      this.#end ??= error;
    });
    this.#socket.on('upgrade', ({ headers: { date } }) => {
      if (date !== undefined) this.#clockDifferenceMs = Date.parse(date) - Date.now();
    });
    this.#socket.on('open', () => this.#received.emit('open'));
    this.#socket.on('message', (data) => this.#receive(String(data)));
    this.#socket.on('error', (error) => this.#received.emit('error', error));
    this.#socket.on('close', (code) => {
      const closed = new Error(`The push service closed the connection (${code}).`);
      this.#received.emit('error', closed);
    });
  }

  /**
   * Connects as a new browser.
   * @param address of the push service's WebSocket: `wss://push.services.mozilla.com`.
   */
  static async connect(address: string, signal: AbortSignal): Promise<PushClient> {
    const client = new PushClient(address);
    try {
      await client.#next('open', signal);
      await client.#request('hello', { use_webpush: true }, signal);
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  /** The push service's clock less this machine's, in ms; 0 if the push service does not tell the time. */
  get clockDifferenceMs(): number {
    return this.#clockDifferenceMs;
  }

  /**
   * Makes a subscription that only the owner of the key may send to.
   * @param channelID a UUID, by which the browser knows the subscription.
   * @param key application server key, base64url.
   * @returns the endpoint.
   */
  async register(channelID: string, key: string, signal: AbortSignal): Promise<string> {
    const { pushEndpoint } = await this.#request('register', { channelID, key }, signal);
    if (pushEndpoint === undefined) throw new Error('The push service gave no endpoint.');
    return pushEndpoint;
  }

  /** Ends a subscription, if it exists. */
  async unregister(channelID: string, signal: AbortSignal): Promise<void> {
    await this.#request('unregister', { channelID, code: 200 }, signal);
  }

  /** Waits for the body of the next push. */
  async nextMessage(signal: AbortSignal): Promise<Buffer> {
    if (this.#messages.length === 0) await this.#next('notification', signal);
    return this.#messages.shift()!;
  }

  close(): void {
    this.#socket.terminate();
  }

  async #request(messageType: string, members: object, signal: AbortSignal): Promise<Received> {
    const responding = this.#next(messageType, signal);
    this.#send({ messageType, ...members });
    const response = await responding;
    if (response.status === 200) return response;
    throw new Error(`The push service responded to ${messageType} with ${response.status}.`);
  }

  async #next(event: string, signal: AbortSignal): Promise<Received> {
    if (this.#end !== undefined) throw this.#end;
    const [received] = await once(this.#received, event, { signal });
    return received;
  }

  #send(message: object): void {
    if (this.#end === undefined) this.#socket.send(JSON.stringify(message));
  }

  #receive(text: string): void {
    const { data: received } = receivedSchema.safeParse(parseJson(text));
    if (received === undefined) {
      this.#received.emit('error', new Error('The push service sent a malformed message.'));
      return;
    }
    const { messageType, channelID, version, data } = received;
    if (messageType === 'notification') {
      this.#messages.push(Buffer.from(data, 'base64url'));
      this.#send({ messageType: 'ack', updates: [{ channelID, version, code: deliveredCode }] });
    }
    if (messageType !== undefined) this.#received.emit(messageType, received);
  }
}
