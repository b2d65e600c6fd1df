import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { notificationIdSchema, projectIdSchema } from '../../contract/schemas.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import type { GatewayResponse } from '../gateway/response.ts';
import type { LocalState } from '../start/state-file.ts';
import { localRegion } from '../template/references.ts';
import { playgroundPages } from './pages.ts';

export interface Playground {
  /** Answers a request that is for none of the API's routes; undefined where it is not for this either. */
  answer(request: IncomingMessage): Promise<GatewayResponse | undefined>;
  stop(): void;
}

const notFound = json(404, { message: 'Not Found' });

/** Counts of a notification, as they lie in its record. */
const shownAttributes = ['attempted', 'delivered', 'removed', 'failed', 'shown', 'clicked'];

/**
 * The playground on the API's own origin: its pages, and what only a stack on this machine tells:
 *
 *   GET /local/project                                 the demo project, its secret key included
 *   GET /local/projects/<projectId>/notifications/<id> a notification's counts so far
 *
 * @param root the repository.
 */
export async function openPlayground(
  root: string,
  { baseUrl, dynamodb, project }: Pick<LocalState, 'baseUrl' | 'dynamodb' | 'project'>,
): Promise<Playground> {
  const pages = await playgroundPages(root);
  const { port } = new URL(baseUrl);
  const ownHosts = [`localhost:${port}`, `127.0.0.1:${port}`];

  /**
   * Whether no page of another site asks: neither by a fetch nor a navigation, nor under a name of
   * its own that leads to this machine. Pages cannot set these headers; tools leave the last two out.
   */
  function isOwn({ host = '', origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
    return (
      ownHosts.includes(host) &&
      (origin === undefined || origin === `http://${host}`) &&
      (site === undefined || site === 'same-origin' || site === 'none')
    );
  }

  const dynamo = documentClient({
    endpoint: dynamodb.endpoint,
    region: localRegion,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });

  async function tell(path: string): Promise<GatewayResponse | undefined> {
    if (path === '/local/project') return json(200, project);
    const [, projectId, notificationId] =
      /^\/local\/projects\/([^/]+)\/notifications\/([^/]+)$/.exec(path) ?? [];
    if (projectId === undefined) return undefined;
    const isPossible =
      projectIdSchema.safeParse(projectId).success &&
      notificationIdSchema.safeParse(notificationId).success;
    if (!isPossible) return notFound;
    const { Item: item } = await dynamo.send(
      new GetCommand({
        TableName: dynamodb.tables.NOTIFICATIONS_TABLE,
        Key: { projectId, notificationId },
      }),
    );
    if (item === undefined) return notFound;
    return json(200, Object.fromEntries(shownAttributes.map((name) => [name, item[name]])));
  }

  return {
    async answer(request) {
      if (request.method !== 'GET') return undefined;
      const [path = ''] = request.url!.split('?');
      const page = pages.get(path);
      if (page !== undefined) return respond(200, page.type, page.contents);
      if (!path.startsWith('/local/')) return undefined;
      return isOwn(request.headers) ? tell(path) : json(403, { message: 'Forbidden' });
    },
    stop: () => dynamo.destroy(),
  };
}

function json(status: number, body: object): GatewayResponse {
  return respond(status, 'application/json', Buffer.from(JSON.stringify(body)));
}

function respond(status: number, type: string, contents: Uint8Array): GatewayResponse {
  const headers = { 'content-type': type, 'cache-control': 'no-store' };
  return { status, headers, body: Buffer.from(contents) };
}
