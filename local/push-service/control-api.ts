import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { parseJson } from '../../contract/text/text.ts';
import { behaviourSchema, type Channels } from './channels.ts';
import { methodNotAllowed, Refusal, readBody } from './refusal.ts';
import {
  NothingToReportError,
  type ReceivedMessage,
  SimulatedBrowser,
} from './simulated-browser.ts';

const bodyLimitBytes = 1024 * 1024;

/** The parts of the push service that the control API uses. */
interface ControlledPushService {
  readonly origin: string;
  readonly channels: Channels;
  subscribe(options: { applicationServerKey?: string | undefined }): SimulatedBrowser;
  stats(): unknown;
}

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly pushService: ControlledPushService;
  /** The browser with the id in the path. */
  readonly browser: SimulatedBrowser;
}

type Operation = readonly [method: string, handle: (call: Call) => Promise<void> | void];

const subscribeSchema = z.strictObject({ applicationServerKey: z.string().optional() });

/** By path. */
const operations: Readonly<Record<string, Operation>> = {
  // Describes this server in one line.
  '/': ['GET', ({ response, pushService }) => sendDescription(response, pushService.origin)],
  // Counts of subscriptions, pushes and responses.
  '/stats': ['GET', ({ response, pushService }) => sendJson(response, 200, pushService.stats())],
  // Creates a simulated browser; returns its id and subscription.
  '/browsers': ['POST', createBrowser],
  // Ends its subscription.
  '/browsers/<id>': [
    'DELETE',
    ({ response, browser }) => {
      browser.unsubscribe();
      response.writeHead(204).end();
    },
  ],
  // The messages that it received, decrypted.
  '/browsers/<id>/messages': [
    'GET',
    ({ response, browser }) => sendJson(response, 200, browser.messages.map(messageJson)),
  ],
  // Sets how the next pushes to it are treated.
  '/browsers/<id>/behave': [
    'POST',
    async ({ request, response, browser }) => {
      browser.behave(await readJson(request, behaviourSchema));
      response.writeHead(204).end();
    },
  ],
  // Report its last message as shown or clicked; return the service's response.
  '/browsers/<id>/show': ['POST', ({ response, browser }) => relay(response, () => browser.show())],
  '/browsers/<id>/click': [
    'POST',
    ({ response, browser }) => relay(response, () => browser.click()),
  ],
};

/**
 * Handles all requests but pushes.
 * @throws {Refusal} for anything but the operations above.
 */
export async function handleControlRequest(
  request: IncomingMessage,
  response: ServerResponse,
  pushService: ControlledPushService,
): Promise<void> {
  const [path = ''] = request.url!.split('?');
  const [, id] = /^\/browsers\/([^/]+)/.exec(path) ?? [];
  const browser = id === undefined ? undefined : pushService.channels.find(id);
  if (id !== undefined && !(browser instanceof SimulatedBrowser)) {
    throw new Refusal(404, 'There is no simulated browser with this id.');
  }
  const operation = operations[path.replace(/^\/browsers\/[^/]+/, '/browsers/<id>')];
  if (operation === undefined) throw new Refusal(404, `Unknown path ${request.url}.`);
  const [method, handle] = operation;
  if (request.method !== method) throw methodNotAllowed(method);
  await handle({ request, response, pushService, browser: browser as SimulatedBrowser });
}

async function createBrowser({ request, response, pushService }: Call): Promise<void> {
  const options = await readJson(request, subscribeSchema);
  try {
    const browser = pushService.subscribe(options);
    sendJson(response, 201, { id: browser.id, ...browser.toJSON() });
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal(400, error.message);
    throw error;
  }
}

function messageJson({ text, headers: { ttl, urgency, topic } }: ReceivedMessage) {
  return { data: parseJson(text) ?? text, ttl: Number(ttl), urgency, topic };
}

/** Posts a beacon and returns the service's response to the caller. */
async function relay(response: ServerResponse, postBeacon: () => Promise<Response>): Promise<void> {
  let relayed: Response;
  try {
    relayed = await postBeacon();
  } catch (error) {
    if (error instanceof NothingToReportError) throw new Refusal(409, error.message);
    throw new Refusal(502, 'The service that takes the beacons cannot be reached.');
  }
  const contentType = relayed.headers.get('content-type');
  if (contentType !== null) response.setHeader('content-type', contentType);
  response.statusCode = relayed.status;
  response.end(await relayed.text());
}

/** An empty body counts as `{}`, so that curl needs no `-d`. */
async function readJson<Schema extends z.ZodType>(
  request: IncomingMessage,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const text = (await readBody(request, bodyLimitBytes)).toString();
  const body = schema.safeParse(text === '' ? {} : parseJson(text));
  if (body.success) return body.data;
  const issues = body.error.issues.map(({ path, message }) => [...path, message].join(': '));
  throw new Refusal(400, `Invalid body. ${issues.join('; ')}`);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendDescription(response: ServerResponse, origin: string): void {
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`Carillon's local push service at ${origin}\n`);
}
