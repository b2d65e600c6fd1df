import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { behaviourSchema } from './behaviour.ts';
import type { Channels } from './channels.ts';
import { methodNotAllowed, Refusal } from './refusal.ts';
import { readBody } from './request-body.ts';
import { NothingToReportError } from './service-worker.ts';
import { type ReceivedMessage, SimulatedBrowser } from './simulated-browser.ts';

const maxBodyBytes = 1024 * 1024;

/** What the control API lets people do from outside the process. */
export interface Controlled {
  readonly origin: string;
  readonly channels: Channels;
  subscribe(options: { applicationServerKey?: string | undefined }): SimulatedBrowser;
  stats(): unknown;
}

const subscribeSchema = z.strictObject({ applicationServerKey: z.string().optional() });

/**
 * Answers everything but the endpoints:
 *
 *   GET    /                        says what this is
 *   GET    /stats                   counts
 *   POST   /browsers                a new browser: its subscription and its id
 *   DELETE /browsers/<id>           its subscription is gone
 *   GET    /browsers/<id>/messages  what it has received, decrypted
 *   POST   /browsers/<id>/behave    what becomes of the next pushes to it
 *   POST   /browsers/<id>/show      reports its last message as shown; the service's answer
 *   POST   /browsers/<id>/click     reports its last message as clicked; the service's answer
 *
 * @throws {Refusal} for anything else.
 */
export async function handleControl(
  request: IncomingMessage,
  response: ServerResponse,
  service: Controlled,
): Promise<void> {
  const [path = ''] = request.url!.split('?');
  const [root, id, action, ...rest] = path.slice(1).split('/');
  if (rest.length > 0) throw unknownAddress(path);
  if (root === 'browsers' && id !== undefined) {
    return answerBrowser(request, response, findBrowser(id, service.channels), action);
  }
  switch (path) {
    case '/':
      expectMethod(request, 'GET');
      return sendText(response, `A push service for Carillon on this machine: ${service.origin}\n`);
    case '/stats':
      expectMethod(request, 'GET');
      return sendJson(response, 200, service.stats());
    case '/browsers':
      expectMethod(request, 'POST');
      return sendJson(response, 201, await createBrowser(request, service));
    default:
      throw unknownAddress(path);
  }
}

async function answerBrowser(
  request: IncomingMessage,
  response: ServerResponse,
  browser: SimulatedBrowser,
  action: string | undefined,
): Promise<void> {
  switch (action) {
    case undefined:
      expectMethod(request, 'DELETE');
      browser.unsubscribe();
      return sendNothing(response);
    case 'messages':
      expectMethod(request, 'GET');
      return sendJson(response, 200, browser.messages.map(readable));
    case 'behave':
      expectMethod(request, 'POST');
      browser.behave(await readJson(request, behaviourSchema));
      return sendNothing(response);
    case 'show':
      expectMethod(request, 'POST');
      return relay(response, () => browser.show());
    case 'click':
      expectMethod(request, 'POST');
      return relay(response, () => browser.click());
    default:
      throw new Refusal(404, `A browser has nothing at "${action}".`);
  }
}

async function createBrowser(request: IncomingMessage, service: Controlled) {
  const options = await readJson(request, subscribeSchema);
  try {
    const browser = service.subscribe(options);
    return { id: browser.id, ...browser.toJSON() };
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal(400, error.message);
    throw error;
  }
}

function findBrowser(id: string, channels: Channels): SimulatedBrowser {
  const channel = channels.find(id);
  if (channel instanceof SimulatedBrowser) return channel;
  throw new Refusal(404, 'There is no browser with this id.');
}

/** A message for a person to read: its data parsed where it is JSON. */
function readable({ text, headers: { ttl, urgency, topic } }: ReceivedMessage) {
  return { data: parsed(text), ttl: Number(ttl), urgency, topic };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function relay(response: ServerResponse, report: () => Promise<Response>): Promise<void> {
  let answer: Response;
  try {
    answer = await report();
  } catch (error) {
    if (error instanceof NothingToReportError) throw new Refusal(409, error.message);
    throw new Refusal(502, 'The service that takes the beacons cannot be reached.');
  }
  const contentType = answer.headers.get('content-type');
  if (contentType !== null) response.setHeader('content-type', contentType);
  response.statusCode = answer.status;
  response.end(await answer.text());
}

/** An empty body reads as `{}`, so that curl needs no `-d`. */
async function readJson<Schema extends z.ZodType>(
  request: IncomingMessage,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const text = (await readBody(request, maxBodyBytes)).toString();
  const body = schema.safeParse(text === '' ? {} : parsed(text));
  if (body.success) return body.data;
  const wrong = body.error.issues.map(({ path, message }) => [...path, message].join(': '));
  throw new Refusal(400, `The body is wrong. ${wrong.join('; ')}`);
}

function expectMethod(request: IncomingMessage, method: string): void {
  if (request.method !== method) throw methodNotAllowed(method);
}

function unknownAddress(path: string): Refusal {
  return new Refusal(404, `There is nothing at ${path}.`);
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

function sendNothing(response: ServerResponse): void {
  response.statusCode = 204;
  response.end();
}
