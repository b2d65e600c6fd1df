import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { busyPort, freePort } from '../../fixtures/ports.ts';

interface Interruption {
  /** What the output has by then. */
  readonly when: string;
  readonly act?: () => Promise<void>;
}

/** Runs `npm start`'s entry, and sends it SIGINT after an interruption. */
async function start(
  env: NodeJS.ProcessEnv,
  parameters: readonly string[] = [],
  { when, act = async () => {} }: Partial<Interruption> = {},
) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'local/start.ts', ...parameters], {
    env: { ...process.env, ...env },
  });
  const interrupted = new Promise<void>((resolve, reject) => {
    let heard = '';
    child.stdout.on('data', (chunk: Buffer) => {
      const before = heard;
      heard += chunk;
      if (when === undefined || before.includes(when) || !heard.includes(when)) return;
      act()
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

test('--help tells the settings', async () => {
  const { code, stdout, stderr } = await start({}, ['--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const name of ['PORT', 'DATA_DIR', 'EXTRA_PUSH_ORIGINS', 'DDB_ENGINE']) {
    expect(stdout).toContain(name);
  }
});

test('an argument is wrong usage', async () => {
  expect(await start({}, ['--port', '1'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'carillon: npm start takes no arguments; npm start -- --help lists its settings\n',
  });
});

test.each([
  [{ PORT: 'http' }, 'PORT must be a whole number from 1 to 65534; it is "http".'],
  [{ PORT: '65535' }, 'PORT must be a whole number from 1 to 65534; it is "65535".'],
  [{ DDB_ENGINE: 'mysql' }, 'DDB_ENGINE must be dynoxide or dynamodb-local; it is "mysql".'],
  [{ DATA_DIR: 'package.json' }, /^The data directory cannot be made: EEXIST: [^\n]+$/],
])('%p is answered by one line', async (env, line) => {
  const { code, stderr } = await start({ PORT: String(await freePort()), ...env });
  expect(stderr).toMatch(/^carillon: [^\n]+\n$/);
  expect(stderr.slice('carillon: '.length, -1)).toMatch(line);
  expect(code).toBe(1);
});

test.each(['the API’s', 'the push service’s'])(
  '%s busy port is answered by one line',
  async (which) => {
    const { port: busy, release } = await busyPort();
    const PORT = String(which === 'the API’s' ? busy : busy - 1);
    expect(await start({ PORT })).toEqual({
      code: 1,
      stdout: '',
      stderr: `carillon: Port ${busy} is in use. Free it, or choose another with PORT.\n`,
    });
    await release();
  },
);

// No assembly was kept for this setting.
const neverUsed = () => ({ EXTRA_PUSH_ORIGINS: `https://${randomUUID()}.example` });

test('Ctrl-C during the start ends it quietly', async () => {
  const env = { PORT: String(await freePort()), ...neverUsed() };
  const { code, stderr } = await start(env, [], { when: 'Synthesizing' });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('while it starts, the address of the API and the playground says so', async () => {
  const PORT = String(await freePort());
  const origin = `http://localhost:${PORT}`;
  const responses: Response[] = [];
  const act = async () => {
    responses.push(await fetch(origin));
    responses.push(await fetch(`${origin}/api/v1/projects/demo`, { method: 'POST' }));
  };
  await start({ PORT, ...neverUsed() }, [], { when: 'Synthesizing', act });
  const [page, api] = responses;
  expect([page!.status, await page!.text()]).toEqual([
    503,
    expect.stringContaining('Carillon is starting.'),
  ]);
  expect([api!.status, api!.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await api!.json()).toEqual({ message: 'Service Unavailable' });
});
