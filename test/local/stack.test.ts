import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FunctionLog } from '../../local/lambda/function-instance.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import type { Stack, StackOptions } from '../../local/stack.ts';
import { type DemoProject, demoProject } from '../../local/start/demo-project.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { startLocalStack } from '../fixtures/local-stack.ts';
import { busyPort, freePort } from '../fixtures/ports.ts';

function post(stack: Stack, path: string, body: object, headers: Record<string, string> = {}) {
  return fetch(`${stack.baseUrl}/api/v1/projects/demo${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

test('the stack subscribes, sends, delivers and tracks', async () => {
  const logs: FunctionLog[] = [];
  const stack = await startLocalStack({ onLog: (line) => logs.push(line) });
  try {
    const { applicationServerKey, secretKey } = await demoProject(stack.dynamodb, undefined);
    const browser = stack.pushService.subscribe({ applicationServerKey });
    expect((await post(stack, '', browser.toJSON())).status).toBe(201);

    const headers = { authorization: `Bearer ${secretKey}` };
    const sent = await post(stack, '/notifications', { title: 'Ding' }, headers);
    expect(await sent.json()).toMatchObject({ attempted: 1, delivered: 1, removed: 0, failed: 0 });
    expect(browser.messages.map(({ text }) => JSON.parse(text).notification.title)).toEqual([
      'Ding',
    ]);
    expect((await browser.show()).status).toBe(200);

    const logged = new Set(logs.map(({ function: name }) => name));
    expect([...stack.functions.keys()].filter((name) => logged.has(name))).toHaveLength(3);
  } finally {
    await stack.stop();
  }
});

test('the option environment replaces variables of the functions', async () => {
  const stack = await startLocalStack({ environment: { SUBSCRIBER_CAP: '1' } });
  try {
    const { applicationServerKey } = await demoProject(stack.dynamodb, undefined);
    const subscribe = async () => {
      const browser = stack.pushService.subscribe({ applicationServerKey });
      return (await post(stack, '', browser.toJSON())).status;
    };
    expect([await subscribe(), await subscribe()]).toEqual([201, 403]);
  } finally {
    await stack.stop();
  }
});

test('starting on a port in use fails with one sentence', async () => {
  const { port, release } = await busyPort();
  await expect(startLocalStack({ port })).rejects.toThrow(
    new Error(`Port ${port} is in use. Free it, or choose another with PORT.`),
  );
  await release();
});

test('a failed start stops everything that it started', async () => {
  const folder = temporaryFolder();
  const pushServicePort = await freePort();
  await expect(startLocalStack({ pushServicePort, assembly: folder.path })).rejects.toThrow(
    'Cannot read the assembly',
  );
  await expect(fetch(`http://127.0.0.1:${pushServicePort}`)).rejects.toThrow('fetch failed');
  folder.remove();
});

test('a start can be aborted', async () => {
  await expect(startLocalStack({ signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: 'AbortError',
  });
});

test('a site keeps its subscriptions after a restart, until a reset', async () => {
  const folder = temporaryFolder();
  const port = await freePort();
  const dataDir = join(folder.path, 'data');
  const restarted = async <Result>(
    use: (stack: Stack) => Promise<Result>,
    options: StackOptions = {},
  ): Promise<Result> => {
    const ports = { port, pushServicePort: port + 1 };
    const stack = await startLocalStack({ dataDir, ...ports, ...options });
    try {
      return await use(stack);
    } finally {
      await stack.stop();
    }
  };
  const send = async (stack: Stack, { secretKey }: DemoProject) => {
    const headers = { authorization: `Bearer ${secretKey}` };
    return (await post(stack, '/notifications', { title: 'Ding' }, headers)).json();
  };

  const { project, id } = await restarted(async (stack) => {
    const created = await demoProject(stack.dynamodb, dataDir);
    const browser = stack.pushService.subscribe(created);
    expect((await post(stack, '', browser.toJSON())).status).toBe(201);
    return { project: created, id: browser.id };
  });
  await restarted(async (stack) => {
    expect(await demoProject(stack.dynamodb, dataDir)).toEqual(project);
    expect(await send(stack, project)).toMatchObject({ attempted: 1, delivered: 1 });
    const { messages } = stack.pushService.channels.find(id) as SimulatedBrowser;
    expect(messages).toHaveLength(1);
  });
  await restarted(
    async (stack) => {
      const other = await demoProject(stack.dynamodb, dataDir);
      expect(other.applicationServerKey).not.toBe(project.applicationServerKey);
      expect(await send(stack, other)).toMatchObject({ attempted: 0 });
      expect(stack.pushService.channels.find(id)).toBeUndefined();
    },
    { reset: true },
  );
  folder.remove();
});

test('a reset while another stack uses the port removes nothing', async () => {
  const folder = temporaryFolder();
  const file = folder.write('demo-secret-key', 'a key');
  const { port, release } = await busyPort();
  await expect(startLocalStack({ port, dataDir: folder.path, reset: true })).rejects.toThrow();
  expect(readFileSync(file, 'utf8')).toBe('a key');
  await release();
  folder.remove();
});

test('the demo project has the same keys after a restart', async () => {
  const folder = temporaryFolder();
  const restarted = async <Result>(use: (stack: Stack) => Promise<Result>): Promise<Result> => {
    const stack = await startLocalStack({ dataDir: folder.path });
    try {
      return await use(stack);
    } finally {
      await stack.stop();
    }
  };
  const first = await restarted(({ dynamodb }) => demoProject(dynamodb, folder.path));
  expect(await restarted(({ dynamodb }) => demoProject(dynamodb, folder.path))).toEqual(first);

  // The key file is missing in the other directory, so the project gets a new key.
  const other = temporaryFolder();
  const rotated = await restarted(({ dynamodb }) => demoProject(dynamodb, other.path));
  expect(rotated.applicationServerKey).toBe(first.applicationServerKey);
  expect(rotated.secretKey).not.toBe(first.secretKey);
  const last = await restarted(({ dynamodb }) => demoProject(dynamodb, folder.path));
  expect([first.secretKey, rotated.secretKey]).not.toContain(last.secretKey);
  folder.remove();
  other.remove();
});
