import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runConsole } from '../../console/run-console.ts';
import { freePort } from '../fixtures/ports.ts';
import { testTerminal } from '../fixtures/terminal.ts';
import { until } from '../fixtures/until.ts';

async function run(...args: readonly string[]) {
  const terminal = testTerminal();
  const code = await runConsole(args, terminal, process.cwd(), AbortSignal.abort());
  return { code, ...terminal.written() };
}

test('--help names the options and has an example', async () => {
  const { code, output, messages } = await run('--help');
  expect({ code, messages }).toEqual({ code: 0, messages: '' });
  for (const text of [
    '--base-url <url>',
    '--port <number>',
    '--watch',
    '--base-url https://push.example',
  ]) {
    expect(output).toContain(text);
  }
});

test.each([
  ['no base URL', [], "Required option '--base-url <url>' not specified."],
  ['a base URL with a path', ['--base-url', 'https://a.example/api'], 'without a path'],
  ['a base URL without a scheme', ['--base-url', 'a.example'], 'with its scheme'],
  ['a base URL without encryption', ['--base-url', 'http://a.example'], 'Use https'],
  ['an invalid port', ['--base-url', 'https://a.example', '--port', '0'], 'from 1 to 65535'],
  [
    'an unknown option',
    ['--base-url', 'https://a.example', '--prot', '1'],
    "unknown option '--prot'",
  ],
])('%s is refused in one line, with exit code 2', async (_, args, message) => {
  const { code, output, messages } = await run(...args);
  const [line, see, ...rest] = messages.trimEnd().split('\n');
  expect({ code, output, rest }).toEqual({ code: 2, output: '', rest: [] });
  expect(line!.toLowerCase()).toContain(message.toLowerCase());
  expect(see).toBe('See: npm run -s console -- --help');
});

test('a port in use is refused in one line, with exit code 1', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const result = await run('--base-url', 'https://a.example', '--port', String(port));
  other.close();
  expect(result).toEqual({
    code: 1,
    output: '',
    messages: `Port ${port} is in use; choose another with --port.\n`,
  });
});

test('the console is served at the printed address until it is interrupted', async () => {
  const terminal = testTerminal();
  const interrupted = new AbortController();
  const port = String(await freePort());
  const args = ['--base-url', 'https://a.example', '--port', port];
  const ended = runConsole(args, terminal, process.cwd(), interrupted.signal);
  const [address = ''] = await until('the address', () =>
    /http:\/\/127\.0\.0\.1:\d+/.exec(terminal.written().output),
  );
  expect((await fetch(address)).status).toBe(200);
  interrupted.abort();
  expect(await ended).toBe(0);
  await expect(fetch(address)).rejects.toThrow('fetch failed');
});
