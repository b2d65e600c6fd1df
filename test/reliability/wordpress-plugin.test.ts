import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Folder, temporaryFolder } from '../fixtures/folder.ts';
import { type Service, startService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { type Fault, startFaultyGateway } from './fixtures/faulty-gateway.ts';
import { canRun, languages, run } from './fixtures/languages.ts';

/** WordPress cannot be had here: its functions are replaced. */
const wordpress = resolve('test/reliability/fixtures/wordpress.php');
const plugin = readFileSync('examples/wordpress/carillon.php', 'utf8');

interface Transition {
  readonly id: number;
  readonly new: string;
  readonly old: string;
  /** Default: `post`. */
  readonly type?: string;
}

const published = { id: 7, new: 'publish', old: 'draft' };
const updated = { id: 7, new: 'publish', old: 'publish' };
const withdrawn = { id: 7, new: 'draft', old: 'publish' };

let service: Service;
let folder: Folder;

beforeAll(async () => {
  service = await startService();
  folder = temporaryFolder();
  folder.write('carillon.php', plugin);
});
afterAll(async () => {
  folder.remove();
  await service.stop();
});

/** Runs processes of PHP one after the other. Each has the transitions of one request. */
async function processes(
  requests: readonly (readonly Transition[])[],
  faults: readonly Fault[] = [],
) {
  const project = await service.createProject();
  const browser = await service.subscribe(project);
  const gateway = await startFaultyGateway(service.stack.baseUrl, faults);
  const outputs: { stdout: string; stderr: string }[] = [];
  try {
    for (const transitions of requests) {
      const json = JSON.stringify(transitions.map((one) => ({ type: 'post', ...one })));
      const output = await run(['php', wordpress, 'carillon.php', json], folder, {
        CARILLON_BASE_URL: gateway.origin,
        CARILLON_PROJECT: project.projectId,
        CARILLON_SECRET_KEY: project.secretKey,
      });
      expect(output).toMatchObject({ succeeded: true });
      outputs.push(output);
    }
  } finally {
    await gateway.stop();
  }
  const { sends } = await service.usage(project.projectId);
  const messages = await until('the delivery of what was sent', () =>
    browser.messages.length >= sends ? browser.messages : undefined,
  );
  const notifications = messages.map(({ text }) => JSON.parse(text).notification);
  return { outputs, sends, notifications, requests: gateway.requests };
}

const describeIfAvailable = canRun(languages.php) ? describe : describe.skip;

describeIfAvailable('the plugin for WordPress', () => {
  test('a published post notifies with its title as text, and its address', async () => {
    const { notifications, requests } = await processes([[published]]);
    expect(notifications).toMatchObject([
      { title: 'Doors open – post 7', navigate: 'https://example.com/?p=7' },
    ]);
    expect(requests[0]!.headers['idempotency-key']).toMatch(/^[0-9a-f]{64}$/);
  });

  test('a post that is updated, taken offline and published again is sent once', async () => {
    const { notifications, requests } = await processes([
      [published, updated, withdrawn, published],
    ]);
    expect({ messages: notifications.length, requests: requests.length }).toEqual({
      messages: 1,
      requests: 1,
    });
  });

  test('a post that two requests publish, neither of which sees the field of the other, notifies once', async () => {
    const { sends, notifications, requests } = await processes([[published], [published]]);
    expect({ sends, messages: notifications.length, requests: requests.length }).toEqual({
      sends: 1,
      messages: 1,
      requests: 2,
    });
  });

  test('two posts notify twice', async () => {
    const { sends, notifications } = await processes([[published, { ...published, id: 8 }]]);
    expect({ sends, messages: notifications.length }).toEqual({ sends: 2, messages: 2 });
  });

  test.each<[string, Transition]>([
    ['a page', { ...published, type: 'page' }],
    ['a revision', { ...published, type: 'revision' }],
    ['an update of a published post', updated],
    ['a draft', { id: 7, new: 'draft', old: 'auto-draft' }],
    ['a post that is scheduled', { id: 7, new: 'future', old: 'draft' }],
  ])('%s makes no request', async (_, transition) => {
    const { requests } = await processes([[transition]]);
    expect(requests).toEqual([]);
  });

  test('a failure is repeated under the same key, with growing pauses', async () => {
    const { outputs, sends, notifications, requests } = await processes(
      [[published]],
      ['response lost', { code: 'unavailable', retryAfter: 300 }, { code: 'rate_limited' }],
    );
    expect({ sends, messages: notifications.length }).toEqual({ sends: 1, messages: 1 });
    const keys = requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(Array(4).fill(keys[0]));
    expect(JSON.parse(outputs[0]!.stdout)).toEqual([60, 300, 240]);
  });

  test('a post that is taken offline before the repetition is not sent', async () => {
    const { sends, requests } = await processes(
      [[published, withdrawn]],
      [{ code: 'unavailable' }],
    );
    expect({ sends, attempts: requests.length }).toEqual({ sends: 0, attempts: 1 });
  });

  test.each([302, 307] as const)('a redirect with %i is not followed', async (redirect) => {
    const { outputs, sends, requests } = await processes([[published]], [{ redirect }]);
    expect({ sends, attempts: requests.length }).toEqual({ sends: 0, attempts: 1 });
    expect(outputs[0]!.stderr).toContain(`Carillon, post 7: ${redirect}`);
  });

  test.each<[string, readonly Fault[]]>([
    ['a refused request', [{ code: 'invalid_request' }]],
    ['the cap of the month', [{ code: 'send_cap_reached' }]],
    ['the sixth failure', Array(6).fill({ code: 'unavailable' })],
  ])('%s is logged and not repeated', async (_, faults) => {
    const { outputs, sends, requests } = await processes([[published]], faults);
    expect({ sends, attempts: requests.length }).toEqual({ sends: 0, attempts: faults.length });
    const { code } = faults[0] as { code: string };
    expect(outputs[0]!.stderr).toMatch(new RegExp(`Carillon, post 7: .*${code}`));
  });
});
