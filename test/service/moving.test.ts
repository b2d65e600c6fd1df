import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { createBrowserKeys } from '../../admin/browser.ts';
import { newVapidPair } from '../../admin/vapid-pair.ts';
import { projectTables } from '../../contract/infrastructure/tables.ts';
import type { OldWorker } from '../../contract/wire/message.ts';
import { routes } from '../../contract/wire/routes.ts';
import type { VapidKeyItem } from '../../lambdas/store/items.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { signUserId } from '../../sdk/server/carillon-server.ts';
import { readTable } from '../fixtures/read-table.ts';
import type { ProjectCredentials } from '../fixtures/service.ts';
import { type ServiceOperator, startServiceOperator } from '../fixtures/service-operator.ts';

let first: ServiceOperator;
let second: ServiceOperator;

beforeAll(async () => {
  first = await startServiceOperator();
  // The simulated browsers are at the push service of the first stack.
  const { settings, pushService } = first.service.stack;
  const environment = { EXTRA_PUSH_ORIGINS: pushService.origin };
  second = await startServiceOperator({ environment }, { settings });
});
afterAll(async () => {
  await second.stop();
  await first.stop();
});

/** As docs/migrate.md describes. */
async function vapidPair(projectId: string) {
  const { dynamo, registry, stack } = first.service;
  const { Item } = await dynamo.send(
    new GetCommand({ TableName: stack.dynamodb.tables.VAPID_KEYS_TABLE, Key: { projectId } }),
  );
  const { vapidPublicKey: publicKey } = (await registry.find(projectId))!;
  return { publicKey, privateKey: (Item as VapidKeyItem).privateKey };
}

test('a project that is exported and imported into a second stack has the same subscriptions, counted exactly', async () => {
  const project = await first.service.createProject();
  const { projectId } = project;
  for (let count = 0; count < 60; count += 1) {
    await first.service.subscribe(project, count % 3 === 0 ? `user-${count % 7}` : undefined);
  }
  const file = `${first.folder.path}/${projectId}.ndjson`;
  expect((await first.run(['subscriptions', 'export', projectId, file])).code).toBe(0);

  const { publicKey, privateKey } = await vapidPair(projectId);
  const keyFile = first.folder.write('private-key.txt', privateKey);
  const keys = ['--vapid-public', publicKey, '--vapid-private-file', keyFile];
  expect((await second.run(['create', projectId, ...keys])).code).toBe(0);
  const imported = await second.run(['subscriptions', 'import', projectId, file, '--json']);
  expect(JSON.parse(imported.output)).toMatchObject({ created: 60, invalid: 0 });

  const subscriptionsOf = async ({ service }: ServiceOperator) => {
    const { subscriptions } = projectTables(service.stack.dynamodb.tables);
    const { ref } = (await service.registry.find(projectId))!;
    const items = await readTable(service.dynamo, subscriptions);
    // Each project stores them under hashes of its own, and what was imported with a mark.
    return items
      .filter(({ projectPart }) => String(projectPart).startsWith(`${ref}#`))
      .map(({ projectPart, endpointHash, imported, projectUser = '', ...item }) => ({
        ...item,
        projectUser: String(projectUser).replace(ref, 'ref'),
      }))
      .map((item) => JSON.stringify(Object.entries(item).sort()))
      .sort();
  };
  expect(await subscriptionsOf(first)).toHaveLength(60);
  expect(await subscriptionsOf(second)).toEqual(await subscriptionsOf(first));
  expect((await second.service.usage(projectId)).subscribers).toBe(60);
});

test('a project is moved to a second stack during a rotation, with all but its results', async () => {
  const { service, folder, run } = first;
  const project = await service.createProject({
    monthlySendCap: 50,
    trackPerMinute: 7,
    userIds: 'signed',
  });
  const { projectId, secretKey, identityKey } = project;
  const signed = (userId: string, key: string) => ({
    userId,
    userIdSignature: signUserId(key, userId),
  });
  const register = async (
    { service: at }: ServiceOperator,
    browser: SimulatedBrowser,
    choice: object,
  ) => {
    const body = { ...browser.toJSON(), ...choice };
    const { status } = await at.call(routes.subscribe, { parameters: { projectId }, body });
    return status;
  };
  const browsers = [await service.subscribe(project), await service.subscribe(project)];
  expect(await register(first, browsers[0]!, signed('ann', identityKey))).toBe(201);
  await service.send(project, { title: 'Before' });
  const { registry } = service;
  await registry.rotateVapid(projectId);
  const rotated = await registry.get(projectId);
  browsers.push(
    await service.subscribe({ ...project, applicationServerKey: rotated.vapidPublicKey }),
  );
  const hourMs = 60 * 60_000;
  const later = await registry.rotateKey(projectId, randomBytes, hourMs);
  const laterIdentity = await registry.rotateIdentityKey(projectId, randomBytes, hourMs);
  const member = { name: 'Ann', role: 'sender', random: randomBytes } as const;
  const { key: memberKey } = await registry.invite(projectId, member);

  const file = `${folder.path}/${projectId}.project`;
  expect(await run(['export', projectId, file])).toMatchObject({ code: 0 });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const imported = await second.run(['import', file, '--json']);
  expect(JSON.parse(imported.output)).toMatchObject({
    ...{ projectId, keys: 'kept', members: ['Ann'], subscriptions: 3, keyDropped: 0 },
  });

  const there = (key: string, name: 'getProject' | 'listNotifications') =>
    second.service.call(routes[name], {
      parameters: { projectId },
      headers: { authorization: `Bearer ${key}` },
    });
  for (const key of [secretKey, later.secretKey, memberKey]) {
    expect((await there(key, 'getProject')).status).toBe(200);
  }
  const here = await service.call(routes.getProject, {
    parameters: { projectId },
    headers: { authorization: `Bearer ${secretKey}` },
  });
  expect((await second.run(['resume', projectId])).code).toBe(0);
  expect((await there(secretKey, 'getProject')).body).toEqual(here.body);
  expect((await there(secretKey, 'listNotifications')).body).toEqual({ notifications: [] });
  for (const [key, status] of [
    [identityKey, 201],
    [laterIdentity.identityKey, 201],
    [`carillon_id_${'x'.repeat(43)}`, 403],
  ] as const) {
    expect(await register(second, browsers[1]!, signed('bob', key))).toBe(status);
  }
  const { body } = await second.service.send(project, { title: 'After' });
  expect(body).toMatchObject({ attempted: 3, delivered: 3 });
  expect(browsers.map(({ messages }) => messages.at(-1)!.text.includes('After'))).toEqual([
    ...[true, true, true],
  ]);
  expect(await second.service.usage(projectId)).toMatchObject({ subscribers: 3, sends: 2 });

  // A file creates a project only.
  const before = await second.service.registry.get(projectId);
  const again = await second.run(['import', file]);
  expect(again).toMatchObject({
    code: 1,
    messages: expect.stringContaining('Nothing was changed.'),
  });
  expect(await second.service.registry.get(projectId)).toEqual(before);
  await second.service.registry.remove(projectId);
  const renewed = await second.run(['import', file, '--new-keys']);
  expect(renewed.output).toMatch(/Keys +new secret key, printed only once: carillon_sk_/);
  expect(renewed.output).toMatch(/Members +none/);
  expect(await second.service.registry.members(projectId)).toEqual([]);
});

test('a project with a pair of its own also sends to the subscriptions of another service, under the pair of that', async () => {
  const { service, folder, run } = first;
  const project = await service.createProject();
  const { projectId } = project;
  const own = await service.subscribe(project);
  const pair = newVapidPair();
  const theirs = service.stack.pushService.subscribe({ applicationServerKey: pair.publicKey });

  const keys = folder.write('keys.json', JSON.stringify(pair));
  expect(await run(['rotate', projectId, 'vapid', '--add-previous', keys])).toMatchObject({
    code: 0,
    output: expect.stringContaining(`--application-server-key ${pair.publicKey} --local\n`),
  });
  const list = folder.write('list.json', JSON.stringify([theirs.toJSON()]));
  const imported = await run([
    ...['subscriptions', 'import', projectId, list],
    ...['--application-server-key', pair.publicKey],
  ]);
  expect(imported).toMatchObject({ code: 0, output: expect.stringContaining('1 added') });

  const { body } = await service.send(project, { title: 'Hello' });
  expect(body).toMatchObject({ attempted: 2, delivered: 2 });
  expect([own.messages.length, theirs.messages.length]).toEqual([1, 1]);
  expect((await run(['show', projectId])).output).toMatch(/Subscribers that use it +1\n/);
});

describe('the choice of an imported subscription', () => {
  let project: ProjectCredentials;
  let subscription: ReturnType<SimulatedBrowser['toJSON']>;

  beforeEach(async () => {
    project = await first.service.createProject();
    const { applicationServerKey } = project;
    subscription = first.service.stack.pushService.subscribe({ applicationServerKey }).toJSON();
    await importChoice({ ...imported, locale: 'de' });
  });

  async function importChoice(choice: object) {
    const list = first.folder.write('list.ndjson', JSON.stringify({ ...subscription, ...choice }));
    const args = ['subscriptions', 'import', project.projectId, list, '--json'];
    return JSON.parse((await first.run(args)).output);
  }

  async function register(choice: object): Promise<number> {
    const body = { ...subscription, ...choice };
    const { projectId } = project;
    const { status } = await first.service.call(routes.subscribe, {
      parameters: { projectId },
      body,
    });
    return status;
  }

  /** The choice that is stored. */
  async function choice() {
    const { output } = await first.run(['subscriptions', 'export', project.projectId]);
    const { userId, channels } = JSON.parse(output);
    return { userId, channels };
  }

  const imported = { userId: 'ann', channels: ['news'] };

  test('stays until the browser makes one', async () => {
    for (const keys of [subscription.keys, newKeys(), newKeys()]) {
      expect(await register({ keys })).toBe(201);
      expect(await choice()).toEqual(imported);
    }
    const { output } = await first.run(['subscriptions', 'export', project.projectId]);
    expect(JSON.parse(output).keys).not.toEqual(subscription.keys);
    const { body } = await first.service.send(project, { title: 'Hello', userIds: ['ann'] });
    expect(body).toMatchObject({ attempted: 1 });
  });

  test.each([
    [{ userId: 'bob' }, { userId: 'bob' }],
    [{ channels: ['sport'] }, { channels: ['sport'] }],
    [{ channels: [] }, {}],
    [{ userId: null }, {}],
  ])('is replaced by %j, and from then on by every request', async (chosen, stored) => {
    await register({});
    await register(chosen);
    expect(await choice()).toEqual(stored);
    await register({});
    expect(await choice()).toEqual({});
  });

  test.each([
    [{}, imported],
    [{ userId: 'bob' }, { userId: 'bob', channels: ['news'] }],
    [{ channels: ['sport'] }, { userId: 'ann', channels: ['sport'] }],
    [{ channels: [] }, { userId: 'ann' }],
    [{ userId: null }, { channels: ['news'] }],
  ])('is changed by a renewal only in what it states: %j', async (chosen, stored) => {
    await register({ renewal: true, ...chosen });
    expect(await choice()).toEqual(stored);
    // Also once the browser has chosen.
    await register({ ...imported });
    await register({ renewal: true, ...chosen });
    expect(await choice()).toEqual(stored);
    await register({ renewal: false });
    expect(await choice()).toEqual({});
    expect(await register({ renewal: 'yes' })).toBe(400);
  });

  // The SDK states the page's language at the first visit.
  test.each([
    [{ renewal: true }, 'de'],
    [{ renewal: true, locale: 'pt-br' }, 'pt-BR'],
    [{ renewal: true, locale: null }, undefined],
    [{}, 'de'],
    [{ locale: 'fr' }, 'fr'],
  ])('has its language after %j: %s', async (visit, locale) => {
    await register(visit);
    const { output } = await first.run(['subscriptions', 'export', project.projectId]);
    expect(JSON.parse(output).locale).toBe(locale);
    if ('renewal' in visit) expect(await choice()).toEqual(imported);
  });

  test('is imported again until the browser makes one, and later only with a time', async () => {
    await register({});
    expect(await importChoice({ userId: 'cy' })).toMatchObject({ updated: 1 });
    expect(await choice()).toEqual({ userId: 'cy', channels: ['news'] });
    await register({ userId: 'bob' });
    expect(await importChoice({ userId: 'cy', channels: ['sport'] })).toMatchObject({
      unchanged: 1,
    });
    expect(await choice()).toEqual({ userId: 'bob' });
    const updatedAt = new Date().toISOString();
    expect(await importChoice({ userId: 'cy', updatedAt })).toMatchObject({ updated: 1 });
    expect(await choice()).toEqual({ userId: 'cy' });
  });

  test('that nobody has made is imported also where the browser has registered itself', async () => {
    await register({ userId: null });
    expect(await importChoice({ userId: 'cy' })).toMatchObject({ updated: 1 });
    expect(await choice()).toEqual({ userId: 'cy' });
  });
});

describe('while an old service worker is still there', () => {
  const title = 'Hello';
  const [tomorrow, yesterday] = [1, -1].map((days) =>
    new Date(Date.now() + days * 24 * 60 * 60_000).toISOString(),
  );

  /** A project with a browser that was imported, one that has registered itself since, and one that came itself. */
  async function moved(oldWorker?: OldWorker) {
    const project = await first.service.createProject();
    const { projectId, applicationServerKey } = project;
    if (oldWorker) await first.service.registry.set(projectId, { oldWorker });
    const { pushService } = first.service.stack;
    const browsers = [1, 2].map(() => pushService.subscribe({ applicationServerKey }));
    const lines = browsers.map((browser) => JSON.stringify({ ...browser.toJSON(), userId: 'ann' }));
    const list = first.folder.write('list.ndjson', lines.join('\n'));
    expect((await first.run(['subscriptions', 'import', projectId, list])).code).toBe(0);
    const [imported, registered] = browsers;
    const body = { ...registered!.toJSON(), userId: 'ann' };
    await first.service.call(routes.subscribe, { parameters: { projectId }, body });
    const own = await first.service.subscribe(project, 'ann');
    return { project, imported: imported!, others: [registered!, own] };
  }

  const textOf = (browser: SimulatedBrowser) => String(browser.messages.at(-1)?.text);

  test('messages to imported browsers carry what it needs, and no others', async () => {
    const { project, imported, others } = await moved();
    const until = tomorrow!.slice(0, 'YYYY-MM-DD'.length);
    const set = ['set', project.projectId, '--old-worker', 'onesignal', '--until', until];
    expect((await first.run(set)).output).toMatch(
      /Old service worker +onesignal until .* 00:00 UTC\n/,
    );
    const { body } = await first.service.send(project, { title });
    expect(body).toMatchObject({ delivered: 3 });
    const { custom, title: onTop, alert: _, ...message } = JSON.parse(textOf(imported));
    expect({ custom, onTop }).toEqual({ custom: { i: body.id, u: '/' }, onTop: title });
    for (const browser of others) {
      expect(JSON.parse(textOf(browser))).toEqual(message);
      expect(textOf(browser)).toBe(JSON.stringify(message));
    }
    expect(
      (await first.run(['set', project.projectId, '--old-worker', 'none'])).output,
    ).not.toContain('Old service worker');
  });

  test('personal texts are in these members too', async () => {
    const { project, imported, others } = await moved({ name: 'flat', until: tomorrow! });
    const recipients = [{ userId: 'ann', values: { name: 'Ann' } }];
    const sent = await first.service.send(project, { title: 'Hello {{name}}', recipients });
    expect(sent.body).toMatchObject({ delivered: 3 });
    expect(JSON.parse(textOf(imported))).toMatchObject({ title: 'Hello Ann', url: '/' });
    for (const browser of others) expect(JSON.parse(textOf(browser))).not.toHaveProperty('title');
  });

  test('after the last day, and without the setting, messages are byte for byte the same', async () => {
    for (const setting of [undefined, { name: 'perfecty', until: yesterday! } as const]) {
      const { project, imported, others } = await moved(setting);
      await first.service.send(project, { title });
      expect(textOf(imported)).toContain(title);
      for (const browser of others) expect(textOf(browser)).toBe(textOf(imported));
    }
  });

  test('a message that would be too large goes without them', async () => {
    const { project, imported, others } = await moved({ name: 'perfecty', until: tomorrow! });
    const large = { title, body: 'é'.repeat(1000), url: `https://a.example/${'x'.repeat(700)}` };
    const { body } = await first.service.send(project, large);
    expect(body).toMatchObject({ delivered: 3 });
    expect(textOf(imported)).toBe(textOf(others[0]!));
    expect(textOf(imported)).toContain('xxx');
  });

  test.each([
    [['--old-worker', 'onesignal'], '--old-worker needs --until'],
    [['--until', '2026-01-01'], 'Use a day from'],
    [['--until', tomorrow!.slice(0, 10)], '--until is for --old-worker only'],
    [['--old-worker', 'flat', '--until', '2099-01-01'], 'Use a day from'],
    [['--old-worker', 'flat', '--until', 'tomorrow'], 'Use a day from'],
    [
      ['--old-worker', 'wonderpush', '--until', tomorrow!.slice(0, 10)],
      'Allowed choices are onesignal,',
    ],
  ])('refuses the settings %j', async (options, message) => {
    const { code, messages } = await first.run(['set', 'my-site', ...options]);
    expect([code, messages]).toEqual([2, expect.stringContaining(message)]);
  });
});

function newKeys() {
  const { publicKey, authSecret } = createBrowserKeys();
  return { p256dh: publicKey.toString('base64url'), auth: authSecret.toString('base64url') };
}
