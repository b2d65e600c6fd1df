import { type Gateway, startGateway } from '../../../local/gateway/gateway.ts';

let gateway: Gateway;

afterEach(() => gateway.stop());

describe('before it is opened, the gateway', () => {
  beforeEach(async () => {
    gateway = await startGateway({});
  });

  test.each([
    ['/things/1', 'GET'],
    ['/api/v1/projects/demo', 'POST'],
    ['/', 'POST'],
    ['/nothing', 'GET'],
  ])('returns 503 for %s with %s', async (path, method) => {
    const response = await fetch(gateway.origin + path, { method });
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect([response.status, await response.json()]).toEqual([
      503,
      { message: 'Service Unavailable' },
    ]);
  });

  test.each(['/', '/?projectId=x'])('returns a page that reloads itself for %s', async (path) => {
    const response = await fetch(gateway.origin + path);
    expect(response.status).toBe(503);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await response.text()).toContain('<meta http-equiv="refresh" content="1">');
  });
});
