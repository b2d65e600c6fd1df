import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { busyPort, freePort } from '../fixtures/ports.ts';

/** Runs `npm start`'s entry; `when` sends SIGINT once the output has this. */
async function start(env: NodeJS.ProcessEnv, parameters: readonly string[] = [], when?: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'local/start.ts', ...parameters], {
    env: { ...process.env, ...env },
  });
  let heard = '';
  child.stdout.on('data', (chunk: Buffer) => {
    heard += chunk;
    if (when !== undefined && heard.includes(when)) child.kill('SIGINT');
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
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

test('Ctrl-C during the start ends it quietly', async () => {
  const { code, stderr } = await start({ PORT: String(await freePort()) }, [], 'Synthesizing');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
