import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { notificationIdSchema, projectIdSchema } from '../../contract/schemas/ids.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import { tallyNumbers } from '../../lambdas/store/items.ts';
import { notificationStore } from '../../lambdas/store/notifications.ts';
import { type Tally, tallyStore } from '../../lambdas/store/tallies.ts';
import type { GatewayResponse } from '../gateway/response.ts';
import type { LocalState } from '../start/state-file.ts';
import { localRegion } from '../template/references.ts';
import { playgroundPages } from './pages.ts';
import { referencePage } from './reference-page.ts';

export interface Playground {
  /** Responds to a request without a route. Undefined if the playground does not serve its path. */
  respond(request: IncomingMessage): Promise<GatewayResponse | undefined>;
  stop(): void;
}

/** The reference page may load nothing; its logo would come from another host. */
const nothingElsewhere =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; worker-src blob:";

const notFound = json(404, { message: 'Not Found' });

/**
 * Opens the playground on the API's origin. It serves its page, the reference page at `/docs`, and two
 * routes that only the local stack has:
 *
 *   GET /local/project                                 the demo project with its secret key
 *   GET /local/projects/<projectId>/notifications/<id> the current counts of a notification
 *
 * @param root root directory of the repository.
 */
export async function openPlayground(
  root: string,
  { baseUrl, dynamodb, project }: Pick<LocalState, 'baseUrl' | 'dynamodb' | 'project'>,
): Promise<Playground> {
  const pages = await playgroundPages(root);
  let reference: Promise<Uint8Array> | undefined;
  const { port } = new URL(baseUrl);
  const allowedHosts = [`localhost:${port}`, `127.0.0.1:${port}`];

  /**
   * Whether a request comes from the playground's page, a tool or the address bar, and not from
   * another site. The host is checked because another site's name may resolve to this machine (DNS
   * rebinding). Pages cannot set these headers; tools send neither `Origin` nor `Sec-Fetch-Site`.
   */
  function isAllowed({ host = '', origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
    return (
      allowedHosts.includes(host) &&
      (origin === undefined || origin === `http://${host}`) &&
      (site === undefined || site === 'same-origin' || site === 'none')
    );
  }

  const dynamo = documentClient({
    endpoint: dynamodb.endpoint,
    region: localRegion,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });

  const notifications = notificationStore(dynamo, dynamodb.tables.NOTIFICATIONS_TABLE);
  const tallies = tallyStore(dynamo, dynamodb.tables.TALLIES_TABLE);

  async function respondLocal(path: string): Promise<GatewayResponse | undefined> {
    if (path === '/local/project') return json(200, project);
    const [, projectId, notificationId] =
      /^\/local\/projects\/([^/]+)\/notifications\/([^/]+)$/.exec(path) ?? [];
    if (projectId === undefined) return undefined;
    const areValid =
      projectIdSchema.safeParse(projectId).success &&
      notificationIdSchema.safeParse(notificationId).success;
    if (!areValid) return notFound;
    const notification = await notifications.find(projectId, notificationId!);
    if (notification === undefined) return notFound;
    const numbers = tallyNumbers(notification.plan);
    return json(200, sumOf(await tallies.find(notification.id, numbers)));
  }

  return {
    async respond(request) {
      if (request.method !== 'GET') return undefined;
      const [path = ''] = request.url!.split('?');
      const file = pages.get(path);
      if (file !== undefined) return responseOf(200, file.type, file.contents);
      if (path === '/docs') {
        reference ??= referencePage(root);
        const page = responseOf(200, 'text/html; charset=utf-8', await reference);
        return {
          ...page,
          headers: { ...page.headers, 'content-security-policy': nothingElsewhere },
        };
      }
      if (!path.startsWith('/local/')) return undefined;
      return isAllowed(request.headers) ? respondLocal(path) : json(403, { message: 'Forbidden' });
    },
    stop: () => dynamo.destroy(),
  };
}

/** The counts of a notification so far. */
function sumOf(tallies: readonly (Tally | undefined)[]) {
  const sum = (count: (tally: Tally) => number) =>
    tallies.reduce((total, tally) => total + (tally === undefined ? 0 : count(tally)), 0);
  return {
    attempted: sum(({ counts }) => counts.attempted),
    delivered: sum(({ counts }) => counts.delivered),
    removed: sum(({ counts }) => counts.removed),
    failed: sum(({ counts }) => counts.failed),
    shown: sum(({ shown }) => shown),
    clicked: sum(({ clicked }) => clicked),
  };
}

function json(status: number, body: object): GatewayResponse {
  return responseOf(status, 'application/json', Buffer.from(JSON.stringify(body)));
}

function responseOf(status: number, type: string, contents: Uint8Array): GatewayResponse {
  const headers = { 'content-type': type, 'cache-control': 'no-store' };
  return { status, headers, body: Buffer.from(contents) };
}
