import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { pathOf } from '../../contract/text/addresses.ts';
import { type Route, routes } from '../../contract/wire/routes.ts';
import { type ProjectCredentials, type Service, useService } from '../fixtures/service.ts';

const publicBaseUrl = 'https://push.carillon.example';
/** That of the proxy, and the one that it sends after a rotation. */
const [secret, nextSecret] = [
  'a-secret-of-32-random-characters',
  'the-secret-that-the-proxy-gets-next',
];
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const secretHashes = `${sha256(secret)},${sha256(nextSecret)}`;

/** Sends without waiting, with these headers, which `fetch` would not set. @returns `Location`. */
function locationOfSend(
  { stack }: Service,
  { projectId, secretKey }: ProjectCredentials,
  headers: Record<string, string>,
): Promise<string | undefined> {
  const body = '{"title":"T"}';
  return new Promise((resolve, reject) => {
    const sent = request(stack.baseUrl + pathOf(routes.send, { projectId }), {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${secretKey}`, prefer: 'respond-async' },
        ...{ 'content-type': 'application/json', 'content-length': body.length },
        ...headers,
      },
    });
    sent.on('response', async (response) => {
      await text(response);
      resolve(response.headers.location);
    });
    sent.on('error', reject).end(body);
  });
}

describe.each([
  ['a public base URL', { PUBLIC_BASE_URL: publicBaseUrl }, () => publicBaseUrl],
  ['no public base URL', {}, ({ stack }: Service) => stack.baseUrl],
])('with %s', (_, environment, expected) => {
  let project: ProjectCredentials;
  const service = useService({ environment });
  beforeAll(async () => {
    project = await service.createProject();
  });

  test.each<Record<string, string>>([
    {},
    { host: 'evil.example' },
    { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'ftp' },
  ])('Location is the configured address with headers %j', async (headers) => {
    const location = await locationOfSend(service, project, headers);
    expect(location?.startsWith(`${expected(service)}/api/v1/projects/`)).toBe(true);
  });

  test('the events URL in messages is the configured address', async () => {
    // The project above may still be sending.
    const other = await service.createProject();
    const browser = await service.subscribe(other);
    const { body } = await service.send(other, { title: 'T' });
    const parameters = { projectId: other.projectId, notificationId: body.id };
    const url = expected(service) + pathOf(routes.track, parameters);
    expect(browser.messages[0]!.text).toContain(`"${url}`);
  });
});

describe('behind a proxy that sends the origin secret', () => {
  const lines: { network?: string }[] = [];
  let project: ProjectCredentials;
  const service = useService({
    environment: { ORIGIN_SECRET_HASHES: secretHashes },
    onLog: (line) => {
      expect(line.text).not.toContain(secret);
      expect(line.text).not.toContain(nextSecret);
      lines.push(JSON.parse(line.text));
    },
  });
  beforeAll(async () => {
    project = await service.createProject({ rateLimitPerMinute: 1 });
  });

  async function networkOf(headers: Record<string, string>): Promise<string | undefined> {
    await service.call(routes.unsubscribe, {
      parameters: { projectId: 'unknown' },
      query: '?endpoint=x',
      headers,
    });
    return lines.at(-1)?.network;
  }

  test.each([
    ['203.0.113.7', '203.0.113.0/24'],
    ['2001:db8:1:2::3', '2001:db8:1::/48'],
    ['192.0.2.1, 203.0.113.7', '203.0.113.0/24'],
    ['192.0.2.1, 192.0.2.2,203.0.113.7', '203.0.113.0/24'],
  ])('X-Forwarded-For: %s is a request from %s', async (forwarded, network) => {
    const headers = { 'x-origin-secret': secret, 'x-forwarded-for': forwarded };
    expect(await networkOf(headers)).toBe(network);
  });

  test.each<[string, Record<string, string>]>([
    ['no secret', {}],
    ['a wrong secret', { 'x-origin-secret': `${secret}x` }],
    ['an empty secret', { 'x-origin-secret': '' }],
    ['the hash as secret', { 'x-origin-secret': sha256(secret) }],
    ['no address', { 'x-origin-secret': secret, 'x-forwarded-for': 'unknown' }],
  ])('with %s, a request is from the address of its connection', async (_, headers) => {
    const network = await networkOf({ 'x-forwarded-for': '203.0.113.7', ...headers });
    expect(network).toBe('127.0.0.0/24');
  });

  test('during a rotation, both secrets count', async () => {
    const headers = { 'x-origin-secret': nextSecret, 'x-forwarded-for': '203.0.113.7' };
    expect(await networkOf(headers)).toBe('203.0.113.0/24');
  });

  test('each visitor has a rate limit', async () => {
    const statusFrom = async (address: string, sent: string) => {
      const { status } = await service.call(routes.unsubscribe, {
        parameters: { projectId: project.projectId },
        query: '?endpoint=https://fcm.googleapis.com/x',
        headers: { 'x-origin-secret': sent, 'x-forwarded-for': address },
      });
      return status;
    };
    const forged = await Promise.all([1, 2, 3].map((n) => statusFrom(`203.0.113.${n}`, 'wrong')));
    expect(forged.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1);
    expect(await statusFrom('203.0.113.1', secret)).toBe(200);
    expect(await statusFrom('203.0.113.2', secret)).toBe(200);
  });
});

describe('a deployment that requires the origin secret', () => {
  let project: ProjectCredentials;
  let databaseCalls = 0;
  const service = useService({
    environment: { ORIGIN_SECRET_HASHES: secretHashes, REQUIRE_ORIGIN_SECRET: 'true' },
    onDynamoDbCall: () => {
      databaseCalls += 1;
      return undefined;
    },
  });
  beforeAll(async () => {
    project = await service.createProject();
  });

  const call = (route: Route, headers: Record<string, string>) =>
    service.call(route, {
      parameters: { projectId: project.projectId, notificationId: 'none' },
      headers: { authorization: `Bearer ${project.secretKey}`, ...headers },
      ...(route.method === 'POST' && { body: {} }),
    });

  test.each(Object.values<Route>(routes))(
    '$name refuses requests that did not come through the proxy, without a call to the database',
    async (route) => {
      databaseCalls = 0;
      for (const sent of ['', 'wrong']) {
        const { status, body } = await call(route, { 'x-origin-secret': sent });
        expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'direct_request' });
      }
      expect(databaseCalls).toBe(0);
    },
  );

  test.each([secret, nextSecret])('requests with the secret %s are accepted', async (sent) => {
    const { status } = await call(routes.getProject, { 'x-origin-secret': sent });
    expect(status).toBe(200);
  });

  test('a refused browser reads the error, as any other', async () => {
    const { status, headers } = await call(routes.subscribe, {});
    expect(status).toBe(403);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });
});
