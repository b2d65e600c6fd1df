import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { localPaths } from '../../console/local-stack.ts';
import { useFolder } from '../fixtures/folder.ts';
import { busyPort, freePort } from '../fixtures/ports.ts';

interface Interruption {
  /** Text of the output that triggers the interruption. */
  readonly when: string;
  /** Runs before the interruption. */
  readonly act?: (printed: string) => Promise<void>;
}

const folder = useFolder();

/** Runs the entry point of `npm start`. Interrupts it with SIGINT once its output contains `when`. */
async function start(
  env: NodeJS.ProcessEnv,
  parameters: readonly string[] = [],
  { when, act = async () => {} }: Partial<Interruption> = {},
) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'local/start.ts', ...parameters], {
    env: { ...process.env, DATA_DIR: folder.path, ...env },
  });
  const interrupted = new Promise<void>((resolve, reject) => {
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      const before = printed;
      printed += chunk;
      if (when === undefined || before.includes(when) || !printed.includes(when)) return;
      act(printed)
        .finally(() => child.kill('SIGINT'))
        .then(resolve, reject);
    });
    child.stdout.on('end', resolve);
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
    interrupted,
  ]);
  return { code, stdout, stderr };
}

test('--help lists the settings', async () => {
  const { code, stdout, stderr } = await start({}, ['--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const names = ['PORT', 'DATA_DIR', 'EXTRA_PUSH_ORIGINS', 'DDB_ENGINE', 'PUBLIC_BASE_URL'];
  for (const name of [...names, 'FIREFOX', '--browser', '--reset']) {
    expect(stdout).toContain(name);
  }
});

test('an unknown argument is refused with exit code 2', async () => {
  expect(await start({}, ['--port', '1'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'carillon: npm start takes only --browser and --reset; see npm start -- --help\n',
  });
});

test.each([
  [{ PORT: 'http' }, 'PORT must be a whole number from 1 to 65533; it is "http".'],
  [{ PORT: '65535' }, 'PORT must be a whole number from 1 to 65533; it is "65535".'],
  [{ DDB_ENGINE: 'mysql' }, 'DDB_ENGINE must be dynoxide or dynamodb-local; it is "mysql".'],
  [
    { PUBLIC_BASE_URL: 'push.your-tunnel.example' },
    'PUBLIC_BASE_URL must be an https: address without a path, such as https://push.your-tunnel.example; it is "push.your-tunnel.example".',
  ],
  [{ DATA_DIR: 'package.json' }, /^Cannot create the data directory: ENOTDIR: [^\n]+$/],
])('%p is refused with one line', async (env, line) => {
  const { code, stderr } = await start({ PORT: String(await freePort()), ...env });
  expect(stderr).toMatch(/^carillon: [^\n]+\n$/);
  expect(stderr.slice('carillon: '.length, -1)).toMatch(line);
  expect(code).toBe(1);
});

test.each(['API', 'push service'])(
  'a port in use of the %s is refused with one line',
  async (which) => {
    const port = await freePort();
    const busy = which === 'API' ? port : port + 1;
    const { release } = await busyPort(busy);
    const PORT = String(port);
    try {
      expect(await start({ PORT })).toEqual({
        code: 1,
        stdout: '',
        stderr: `carillon: Port ${busy} is in use. Free it, or choose another with PORT.\n`,
      });
    } finally {
      await release();
    }
  },
);

// No assembly with this setting is cached, so the stack is synthesized.
const uncachedSetting = () => ({ EXTRA_PUSH_ORIGINS: `https://${randomUUID()}.example` });

test('during the start, page and API return 503, and Ctrl-C stops it without an error', async () => {
  const PORT = String(await freePort());
  const origin = `http://localhost:${PORT}`;
  const responses: Response[] = [];
  const act = async () => {
    responses.push(await fetch(`${origin}/?projectId=x`));
    responses.push(await fetch(`${origin}/api/v1/projects/demo`, { method: 'POST' }));
  };
  const env = { PORT, ...uncachedSetting() };
  const { code, stderr } = await start(env, [], { when: 'Synthesizing', act });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [page, api] = responses;
  expect([page!.status, await page!.text()]).toEqual([
    503,
    expect.stringContaining('<meta http-equiv="refresh" content="1">'),
  ]);
  expect([api!.status, api!.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await api!.json()).toEqual({ message: 'Service Unavailable' });
});

test('X-Forwarded-For does not change the address that requests are counted under, and only a browser that has opened the printed address is told the keys', async () => {
  const statuses = new Set<number>();
  const act = async (printed: string) => {
    const [address = ''] = /http:\S+token=\S+/.exec(printed)!;
    const { origin } = new URL(address);
    // More than the limit allows in two minutes.
    for (let request = 0; request <= 120; request += 1) {
      const { status } = await fetch(`${origin}/api/v1/projects/demo`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.0.0.${request}` },
        body: '{}',
      });
      statuses.add(status);
    }

    const opened = await fetch(address, { redirect: 'manual' });
    expect([opened.status, opened.headers.get('location')]).toEqual([303, '/console']);
    const [attributes = ''] = opened.headers.getSetCookie();
    expect(attributes).toContain('; HttpOnly; SameSite=Strict');
    const [cookie = ''] = attributes.split(';');
    const wrong = `${cookie.split('=')[0]}=wrong`;
    const evil = 'https://evil.example';
    const refusedHeaders: Record<string, string>[] = [
      {},
      { cookie: wrong },
      { cookie, origin: evil },
    ];
    for (const headers of refusedHeaders) {
      for (const path of Object.values(localPaths)) {
        const refused = await fetch(origin + path, { headers });
        expect([headers, path, refused.status]).toEqual([headers, path, 403]);
      }
    }
    const session = await fetch(origin + localPaths.session, { headers: { cookie } });
    expect(await session.json()).toEqual({
      projectId: 'demo',
      secretKey: expect.stringMatching(/^carillon_sk_/),
    });
    const page = await fetch(`${origin}/`, { redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([303, '/console']);
    expect(page.headers.getSetCookie()).toEqual([]);
  };
  await start({ PORT: String(await freePort()) }, [], { when: 'Press Ctrl-C', act });
  expect([...statuses]).toEqual([400, 429]);
});

test('if the database ends, it says so, and ends', async () => {
  const PORT = String(await freePort());
  const act = async () => {
    const processes = execFileSync('ps', ['-ww', '-eo', 'pid,args'], { encoding: 'utf8' });
    const isEngine = /^ *\d+ \S*(dynoxide|java) /;
    const [engine] = processes
      .split('\n')
      .filter((line) => isEngine.test(line) && line.includes(folder.path));
    process.kill(Number.parseInt(engine!, 10), 'SIGKILL');
    // It ends without an interruption.
    await new Promise<never>(() => {});
  };
  const { code, stderr } = await start({ PORT }, [], { when: 'Press Ctrl-C', act });
  expect(stderr).toMatch(/^carillon: \S+ has ended: .+\. Run npm start again: \S+ is kept\.\n$/);
  expect(code).toBe(1);
});

test('behind a tunnel, the port of the API has the page of the console, and nothing of this machine', async () => {
  const PORT = String(await freePort());
  const statuses: Record<string, number> = {};
  const act = async (printed: string) => {
    const [address = ''] = /http:\S+token=\S+/.exec(printed)!;
    const { search, origin } = new URL(address);
    const api = `http://localhost:${PORT}`;
    expect(origin).toBe(`http://localhost:${Number(PORT) + 2}`);
    for (const path of [
      '/',
      `/${search}`,
      '/local/session',
      '/docs',
      '/console',
      '/api/v1/projects/demo',
    ]) {
      statuses[path.split('?')[0]!] = (await fetch(api + path)).status;
    }
    statuses.console = (await fetch(origin)).status;
    // The page calls the API on its own origin.
    statuses.api = (await fetch(`${origin}/api/v1/projects/demo`)).status;
  };
  const env = { PORT, PUBLIC_BASE_URL: 'https://push.tunnel.example' };
  await start(env, [], { when: 'Press Ctrl-C', act });
  expect(statuses).toEqual({
    '/': 404,
    '/local/session': 404,
    '/docs': 404,
    '/console': 200,
    '/api/v1/projects/demo': 401,
    console: 200,
    api: 401,
  });
});
