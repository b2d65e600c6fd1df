import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoProject } from '../../local/demo-project.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import type { Stack } from '../../local/stack.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { startLocalStack } from '../fixtures/local-stack.ts';
import { busyPort, freePort } from '../fixtures/ports.ts';

async function post(stack: Stack, path: string, body: object, headers = {}) {
  const response = await fetch(`${stack.baseUrl}/api/v1/projects/demo${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return response.json();
}

test('a failed start stops everything that it started', async () => {
  const folder = temporaryFolder();
  const pushServicePort = await freePort();
  await expect(startLocalStack({ pushServicePort, assembly: folder.path })).rejects.toThrow(
    'Cannot read the assembly',
  );
  await expect(fetch(`http://127.0.0.1:${pushServicePort}`)).rejects.toThrow('fetch failed');
  folder.remove();
});

test('a site keeps its subscriptions and keys after a restart, until a reset', async () => {
  const folder = temporaryFolder();
  const port = await freePort();
  const dataDir = join(folder.path, 'data');
  /** Runs the stack with the demo project. A directory without its key file gives it a new key. */
  const restarted = async <Result>(
    use: (stack: Stack, project: Awaited<ReturnType<typeof demoProject>>) => Promise<Result>,
    { reset = false, keysIn = dataDir } = {},
  ): Promise<Result> => {
    const stack = await startLocalStack({ dataDir, port, pushServicePort: port + 1, reset });
    try {
      return await use(stack, await demoProject(stack.dynamodb, keysIn));
    } finally {
      await stack.stop();
    }
  };
  const send = (stack: Stack, secretKey: string) =>
    post(stack, '/notifications', { title: 'Ding' }, { authorization: `Bearer ${secretKey}` });

  const { project, id } = await restarted(async (stack, created) => {
    const browser = stack.pushService.subscribe(created);
    await post(stack, '', browser.toJSON());
    return { project: created, id: browser.id };
  });
  await restarted(async (stack, same) => {
    expect(same).toEqual(project);
    expect(await send(stack, project.secretKey)).toMatchObject({ attempted: 1, delivered: 1 });
    const { messages } = stack.pushService.channels.find(id) as SimulatedBrowser;
    expect(messages).toHaveLength(1);
  });
  await restarted(
    async (_, rotated) => {
      expect(rotated.applicationServerKey).toBe(project.applicationServerKey);
      expect(rotated.secretKey).not.toBe(project.secretKey);
    },
    { keysIn: join(folder.path, 'elsewhere') },
  );
  await restarted(
    async (stack, other) => {
      expect(other.applicationServerKey).not.toBe(project.applicationServerKey);
      expect(await send(stack, other.secretKey)).toMatchObject({ attempted: 0 });
      expect(stack.pushService.channels.find(id)).toBeUndefined();
    },
    { reset: true },
  );
  folder.remove();
});

test('data that cannot be used fail the start with a line that says how to start again', async () => {
  const folder = temporaryFolder();
  folder.write('dynoxide.db', 'not a database '.repeat(500));
  folder.write('shared-local-instance.db', 'not a database '.repeat(500));
  await expect(startLocalStack({ dataDir: folder.path })).rejects.toThrow(
    /^[^\n]+ Start with empty tables: npm start -- --reset$/,
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
