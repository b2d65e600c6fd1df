import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { behaviourSchema } from './behaviour.ts';
import type { Channels } from './channels.ts';
import { methodNotAllowed, Refusal } from './refusal.ts';
import { readBody } from './request-body.ts';
import { NothingToReportError } from './service-worker.ts';
import { type ReceivedMessage, SimulatedBrowser } from './simulated-browser.ts';

const bodyLimitBytes = 1024 * 1024;

/** The parts of the push service that the control API uses. */
export interface ControlledPushService {
  readonly origin: string;
  readonly channels: Channels;
  subscribe(options: { applicationServerKey?: string | undefined }): SimulatedBrowser;
  stats(): unknown;
}

const subscribeSchema = z.strictObject({ applicationServerKey: z.string().optional() });

/**
 * Handles all requests but pushes:
 *
 *   GET    /                        describes this server in one line
 *   GET    /stats                   counts of subscriptions, pushes and responses
 *   POST   /browsers                creates a simulated browser; returns its id and subscription
 *   DELETE /browsers/<id>           ends its subscription
 *   GET    /browsers/<id>/messages  the messages it received, decrypted
 *   POST   /browsers/<id>/behave    sets how the next pushes to it are treated
 *   POST   /browsers/<id>/show      reports its last message as shown; returns the service's response
 *   POST   /browsers/<id>/click     reports its last message as clicked; returns the same
 *
 * @throws {Refusal} for any other request.
 */
export async function handleControlRequest(
  request: IncomingMessage,
  response: ServerResponse,
  pushService: ControlledPushService,
): Promise<void> {
  const [path = ''] = request.url!.split('?');
  const [root, id, action, ...rest] = path.slice(1).split('/');
  if (rest.length > 0) throw unknownPath(path);
  if (root === 'browsers' && id !== undefined) {
    const browser = findBrowser(id, pushService.channels);
    return handleBrowserRequest(request, response, browser, action);
  }
  switch (path) {
    case '/':
      expectMethod(request, 'GET');
      return sendText(response, `Carillon's local push service at ${pushService.origin}\n`);
    case '/stats':
      expectMethod(request, 'GET');
      return sendJson(response, 200, pushService.stats());
    case '/browsers':
      expectMethod(request, 'POST');
      return sendJson(response, 201, await createBrowser(request, pushService));
    default:
      throw unknownPath(path);
  }
}

async function handleBrowserRequest(
  request: IncomingMessage,
  response: ServerResponse,
  browser: SimulatedBrowser,
  action: string | undefined,
): Promise<void> {
  switch (action) {
    case undefined:
      expectMethod(request, 'DELETE');
      browser.unsubscribe();
      return sendNoContent(response);
    case 'messages':
      expectMethod(request, 'GET');
      return sendJson(response, 200, browser.messages.map(messageJson));
    case 'behave':
      expectMethod(request, 'POST');
      browser.behave(await readJson(request, behaviourSchema));
      return sendNoContent(response);
    case 'show':
      expectMethod(request, 'POST');
      return relayResponse(response, () => browser.show());
    case 'click':
      expectMethod(request, 'POST');
      return relayResponse(response, () => browser.click());
    default:
      throw new Refusal(404, `Unknown action "${action}": use messages, behave, show or click.`);
  }
}

async function createBrowser(request: IncomingMessage, pushService: ControlledPushService) {
  const options = await readJson(request, subscribeSchema);
  try {
    const browser = pushService.subscribe(options);
    return { id: browser.id, ...browser.toJSON() };
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal(400, error.message);
    throw error;
  }
}

function findBrowser(id: string, channels: Channels): SimulatedBrowser {
  const channel = channels.find(id);
  if (channel instanceof SimulatedBrowser) return channel;
  throw new Refusal(404, 'There is no simulated browser with this id.');
}

function messageJson({ text, headers: { ttl, urgency, topic } }: ReceivedMessage) {
  return { data: parseIfJson(text), ttl: Number(ttl), urgency, topic };
}

function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Posts a beacon and returns the service's response to the caller. */
async function relayResponse(
  response: ServerResponse,
  postBeacon: () => Promise<Response>,
): Promise<void> {
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
  const body = schema.safeParse(text === '' ? {} : parseIfJson(text));
  if (body.success) return body.data;
  const issues = body.error.issues.map(({ path, message }) => [...path, message].join(': '));
  throw new Refusal(400, `Invalid body. ${issues.join('; ')}`);
}

function expectMethod(request: IncomingMessage, method: string): void {
  if (request.method !== method) throw methodNotAllowed(method);
}

function unknownPath(path: string): Refusal {
  return new Refusal(404, `Unknown path ${path}.`);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

function sendText(response: ServerResponse, text: string): void {
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.end(text);
}

function sendNoContent(response: ServerResponse): void {
  response.statusCode = 204;
  response.end();
}
