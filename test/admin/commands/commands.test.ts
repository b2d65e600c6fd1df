import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { projectCard } from '../../../admin/commands/create.ts';
import { runCarillon } from '../../../admin/commands/run.ts';
import { newVapidPair } from '../../../admin/vapid-pair.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import {
  identityKeyPattern,
  memberKeyPattern,
  secretKeyPattern,
} from '../../../contract/wire/formats.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { storedData } from '../../../contract/wording/stored-data.ts';
import { deviceIdOf } from '../../../lambdas/store/items.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { keyed } from '../../fixtures/known-project.ts';
import { importValues } from '../../fixtures/moved-subscriptions.ts';
import { useOperator } from '../../fixtures/operator.ts';
import { endpoint, subscription } from '../../fixtures/subscription.ts';
import { subscriptionJson } from '../../fixtures/subscription-lines.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

const operator = useOperator();

let projectId: string;

beforeEach(() => {
  projectId = `p-${randomUUID()}`;
});

describe('create', () => {
  it('prints the API key card', async () => {
    const { code, output, messages } = await operator.runLocal(['create', projectId]);
    const project = await operator.registry.find(projectId);
    expect({ code, messages }).toEqual({ code: 0, messages: '' });
    expect(output).toContain(`API key card of project "${projectId}"`);
    expect(output).toContain(project?.vapidPublicKey);
    expect(output).toContain(`${operator.baseUrl}/api/v1/projects/${projectId}/notifications`);
    expect(output).toMatch(/Secret key +carillon_sk_.*\n +Identity key +carillon_id_/);
    expect(output).toContain('shown only once');
    expect(output).toContain(`Base URL                ${operator.baseUrl}\n`);
    expect(output).toMatch(/npm install \.\/carillon-[\s\S]*Without a bundler: copy carillon\.js/);
  });

  it('prints the project, its secret key and the base URL as JSON', async () => {
    const longName = 'Übergrößenträger 鐘楼 🔔 '.padEnd(100, 'n');
    const created = await operator.runJson([
      ...['create', projectId, '--name', longName, '--user-ids', 'signed'],
      ...['--send-cap', '50', '--rate-limit', 'none', '--subscriber-cap', 'default'],
    ]);
    expect(created).toEqual({
      projectId,
      settings: {
        ...{ name: longName, userIds: 'signed', shownSample: 1, events: true },
        ...{ monthlySendCap: 50, rateLimitPerMinute: null },
      },
      applicationServerKey: expect.any(String),
      createdAt: expect.any(String),
      secretKey: expect.stringMatching(secretKeyPattern),
      identityKey: expect.stringMatching(identityKeyPattern),
      baseUrl: operator.baseUrl,
    });
  });

  it('accepts an existing VAPID pair', async () => {
    const { publicKey, privateKey } = newVapidPair();
    const file = join(operator.directory, 'private-key.txt');
    await writeFile(file, `${privateKey}\n`);
    const flags = [`--vapid-public=${publicKey}`, `--vapid-private-file=${file}`];
    const created = await operator.runJson(['create', projectId, ...flags]);
    expect(created.applicationServerKey).toBe(publicKey);
  });

  it('accepts a private VAPID key alone, in any form, from standard input or a file of PowerShell', async () => {
    const pair = newVapidPair();
    const args = ['create', projectId, '--json', '--vapid-private-file'];
    const typed = { typed: Buffer.from(pair.privateKey, 'base64url').toString('hex') };
    const { output } = await operator.runLocal([...args, '-'], typed);
    expect(JSON.parse(output).applicationServerKey).toBe(pair.publicKey);
    const file = join(operator.directory, 'keys.json');
    await writeFile(file, `\ufeff${JSON.stringify(pair)}\r\n`, 'utf16le');
    const created = await operator.runJson(['create', `${projectId}-2`, ...args.slice(3), file]);
    expect(created.applicationServerKey).toBe(pair.publicKey);
  });

  it('does not repeat a private key that is given instead of a file', async () => {
    const { publicKey, privateKey } = newVapidPair();
    const flags = [`--vapid-public=${publicKey}`, `--vapid-private-file=${privateKey}`];
    const { code, output, messages } = await operator.runLocal(['create', projectId, ...flags]);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(messages).toContain('Give the name of a file, or - for standard input');
    expect(messages).not.toContain(privateKey);
  });

  it.each([
    ['is longer than 100 characters', 'n'.repeat(101)],
    ['is blank', ' '],
    ['has an escape sequence', '\u001b[31mred'],
  ])('refuses a name that %s', async (_case, name) => {
    const { code, messages } = await operator.runLocal(['create', projectId, `--name=${name}`]);
    expect(code).toBe(2);
    expect(messages).toContain(
      'is invalid. Use 1 to 100 characters, not only blanks, without control characters.',
    );
    expect(await operator.registry.find(projectId)).toBeUndefined();
  });

  it('fails if the id is in use', async () => {
    await operator.registry.create({ projectId, random: randomBytes });
    expect(await operator.runLocal(['create', projectId])).toEqual({
      code: 1,
      output: '',
      messages: `Project "${projectId}" already exists. If its secret key is lost, replace it: rotate ${projectId} secret\n`,
    });
  });
});

describe('show', () => {
  it('prints limits and usage', async () => {
    const { project } = await operator.registry.create({
      ...{ projectId, random: randomBytes },
      settings: { subscriberCap: 7 },
    });
    await subscriptionStore(
      operator.database.dynamo,
      projectTables(operator.database.tables),
      () => new Date(),
    ).save(keyed(project.ref), subscription(), null);
    const { code, output } = await operator.runLocal(['show', projectId]);
    expect(code).toBe(0);
    expect(output).toMatch(/Subscribers +1 +limit: 7\n/);
    expect(output.match(/Subscribers/g)).toHaveLength(1);
    expect(output).toMatch(/Firefox +1, seen within 30 days: 1\n/);
    expect(output).toMatch(/Notifications in \d{4}-\d\d +0 +limit: 10,000 \(default\)\n/);
    expect(output).toMatch(/Requests per minute +limit: 60 \(default\)\n/);
    expect(await operator.runJson(['show', projectId])).toMatchObject({
      projectId,
      settings: { subscriberCap: 7 },
      usage: { subscribers: 1, sends: 0, sample: { subscribers: 1 } },
      limits: { subscriberCap: 7, monthlySendCap: 10_000, rateLimitPerMinute: 60 },
    });
  });

  it('prints no secret, and the identity key only with --keys', async () => {
    const keys = await operator.registry.create({ projectId, random: randomBytes });
    const { secretKey, identityKey } = keys;
    await operator.registry.rotateKey(projectId, randomBytes, 60_000);
    const shown = await Promise.all(
      [['show', projectId], ['show', projectId, '--json'], ['list'], ['list', '--json']].map(
        async (args) => (await operator.runLocal(args)).output,
      ),
    );
    for (const output of shown) {
      expect(output).not.toContain(secretKey);
      expect(output).not.toMatch(/hash|private|carillon_id_/i);
    }
    const { output } = await operator.runLocal(['show', projectId, '--keys']);
    expect(output).toContain(`Identity key                     ${identityKey}\n`);
    expect(await operator.runJson(['show', projectId, '--keys'])).toMatchObject({ identityKey });
  });

  it('prints the sends of a month', async () => {
    const { project } = await operator.registry.create({ projectId, random: randomBytes });
    const { dynamo, tables } = operator.database;
    const Item = { projectRef: project.ref, period: '2026-10#3', used: 5 };
    await dynamo.send(new PutCommand({ TableName: projectTables(tables).usage, Item }));
    const month = async (text: string) =>
      (await operator.runLocal(['show', projectId, '--month', text])).output;
    expect(await month('2026-10')).toMatch(
      /Notifications in 2026-10 +5 +limit: 10,000 \(default\)\n/,
    );
    expect(await month('2026-09')).toMatch(/Notifications in 2026-09 +0 /);
    expect(await operator.runJson(['show', projectId, '--month', '2026-10'])).toMatchObject({
      usage: { month: '2026-10', sends: 5 },
    });
    expect((await operator.runLocal(['list', '--month', '2026-10'])).output).toMatch(
      new RegExp(`${projectId} .* 2026-10 +5 +10,000 `),
    );
  });
});

describe('list', () => {
  it('prints projects in order of their ids', async () => {
    const ids = [`${projectId}-b`, `${projectId}-a`];
    for (const id of ids) await operator.registry.create({ projectId: id, random: randomBytes });
    const { output } = await operator.runLocal(['list']);
    expect(output.indexOf(`${projectId}-a`)).toBeGreaterThan(0);
    expect(output.indexOf(`${projectId}-a`)).toBeLessThan(output.indexOf(`${projectId}-b`));
    const listed: { projectId: string }[] = await operator.runJson(['list']);
    expect(output).toMatch(new RegExp(`${projectId}-a .* 0  1,000  20..-.. +0  10,000 +60 `));
    expect(listed.map((project) => project.projectId)).toEqual(expect.arrayContaining(ids));
  });

  it('marks a paused project', async () => {
    await operator.registry.create({ projectId, random: randomBytes });
    await operator.registry.pause(projectId);
    const { output } = await operator.runLocal(['list']);
    expect(output).toContain(`\n${projectId} (paused)  `);
    const listed: { projectId: string }[] = await operator.runJson(['list']);
    expect(listed.find((one) => one.projectId === projectId)).toMatchObject({
      pausedAt: expect.any(String),
    });
  });
});

describe('set', () => {
  const set = (...options: readonly string[]) => operator.runLocal(['set', projectId, ...options]);

  it('changes the name, limits and user ids that are given', async () => {
    const settings = { subscriberCap: 7, monthlySendCap: 8 };
    await operator.registry.create({ projectId, settings, random: randomBytes });
    const flags = ['--name', 'New name', '--subscriber-cap', 'default', '--rate-limit=9'];
    const changed = await operator.runJson(['set', projectId, ...flags, '--user-ids=signed']);
    const expected = {
      projectId,
      settings: {
        ...{ name: 'New name', userIds: 'signed' },
        ...{ monthlySendCap: 8, rateLimitPerMinute: 9 },
      },
    };
    expect(changed).toMatchObject({
      ...expected,
      limits: { subscriberCap: 1000, monthlySendCap: 8, rateLimitPerMinute: 9 },
    });
    expect(await operator.registry.find(projectId)).toMatchObject(expected);
    const { output } = await set('--name', 'Newer name', '--user-ids', 'open');
    expect(output).toMatch(/^ +Name +Newer name$/m);
    expect(output).toMatch(/^ +User ids +open$/m);
    expect((await operator.registry.find(projectId))!.settings).toEqual({
      name: 'Newer name',
      ...{ monthlySendCap: 8, rateLimitPerMinute: 9 },
    });
  });

  it('allows pages of some origins, or any', async () => {
    await operator.registry.create({ projectId, random: randomBytes });
    const { output } = await set(
      '--origins=https://WWW.example.com,https://shop.example.com:8443/',
    );
    expect(output).toMatch(
      /Origins +https:\/\/www\.example\.com https:\/\/shop\.example\.com:8443\n/,
    );
    expect((await set('--origins=any')).output).not.toContain('Origins');
    for (const wrong of [
      'www.example.com',
      'https://example.com/shop',
      '*',
      'https://a.example,',
    ]) {
      const { code, messages } = await set(`--origins=${wrong}`);
      expect(code).toBe(2);
      expect(messages).toContain('is not an origin');
    }
  });

  it('sets how many browsers report `shown`, and 1 is every browser', async () => {
    await operator.registry.create({ projectId, random: randomBytes });
    expect((await set('--shown-sample=10')).output).toMatch(
      /Shown is reported by +one browser in 10\n/,
    );
    const settingsNow = async () => (await operator.registry.find(projectId))!.settings;
    expect(await settingsNow()).toEqual({ name: projectId, shownSample: 10 });
    expect((await set('--shown-sample=1')).output).toMatch(/Shown is reported by +every browser\n/);
    expect(await settingsNow()).toEqual({ name: projectId });
    for (const wrong of ['0', '101', '1.5', 'none', '-1']) {
      const { code, messages } = await set(`--shown-sample=${wrong}`);
      expect([code === 0, messages]).toEqual([false, expect.stringContaining('from 1 to 100')]);
    }
  });

  it('sets the rate limits of single actions, which one for all actions replaces', async () => {
    await operator.registry.create({ projectId, random: randomBytes });
    const limitsAfter = async (rateLimit: string) => {
      const { limits } = (await operator.runJson([
        'set',
        projectId,
        `--rate-limit=${rateLimit}`,
      ])) as {
        limits: { rateLimitPerMinute: number | null; rateLimits?: object };
      };
      return [limits.rateLimitPerMinute, limits.rateLimits];
    };
    expect(await limitsAfter('track=600,send=none')).toEqual([60, { send: null, track: 600 }]);
    expect((await set('--rate-limit=100')).output).toMatch(/Requests per minute +limit: 100\n$/);
    expect(await limitsAfter('getUser=7')).toEqual([100, { getUser: 7 }]);
    const { output } = await operator.runLocal(['show', projectId]);
    expect(output).toMatch(
      /Requests per minute +limit: 100\n +getUser +limit: 7\n\nLatest sends\nNothing was sent\.\n$/,
    );
    expect(await limitsAfter('getUser=default')).toEqual([100, undefined]);
    expect(await limitsAfter('track=60')).toEqual([100, { track: 60 }]);
    expect(await limitsAfter('default')).toEqual([60, undefined]);
  });

  it('says what happens to user ids that are claimed when signatures are required', async () => {
    await operator.registry.create({ projectId, random: randomBytes });
    const { output } = await set('--user-ids=signed');
    expect(output).toMatch(/User ids +signed\n/);
    expect(output).toContain('Subscriptions that already have a user id\nkeep it');
    expect(output).toContain(`carillon -- users delete <userId> --project ${projectId} --local\n`);
  });

  it('warns of a cap below the number of subscribers, and prints both', async () => {
    await operator.registry.create({ projectId, random: randomBytes });
    await importValues(operator, projectId, [subscriptionJson(), subscriptionJson()]);
    const warning =
      'The subscriber cap, 1, is below the number of subscribers, 2. All of them stay, and new ones are refused.';
    const { code, output } = await set('--subscriber-cap=1');
    expect(code).toBe(0);
    expect(output).toMatch(/Subscribers +2 +limit: 1\n/);
    expect(output.endsWith(`\n\n${warning}\n`)).toBe(true);
    expect(await operator.runJson(['set', projectId, '--subscriber-cap=1'])).toMatchObject({
      warning,
      ...{ usage: { subscribers: 2 }, limits: { subscriberCap: 1 } },
    });
    for (const cap of ['2', 'none', 'default']) {
      expect((await set('--subscriber-cap', cap)).output).not.toContain('below');
    }
  });
});

describe('delete', () => {
  beforeEach(() => operator.registry.create({ projectId, random: randomBytes }));

  it('deletes the project after the operator types its id', async () => {
    const { code, output, messages } = await operator.runLocal(['delete', projectId], {
      typed: `${projectId}\n`,
    });
    expect(code).toBe(0);
    expect(messages).toContain('Type the project id to continue');
    expect(output).toBe(`Deleted "${projectId}" with 0 subscriptions and 0 notifications.\n`);
    expect(await operator.registry.find(projectId)).toBeUndefined();
  });

  it('does not count what is left of an interrupted removal', async () => {
    const { ref } = await operator.registry.get(projectId);
    const { dynamo, tables } = operator.database;
    const Item = { projectId, ref, removed: true };
    await dynamo.send(new PutCommand({ TableName: tables.PROJECTS_TABLE, Item }));
    const { messages } = await operator.runLocal(['delete', projectId], { typed: '' });
    expect(messages).toContain(`This permanently deletes "${projectId}" and what is left of it.`);
  });

  it.each([
    ['the operator types something else', 'yes\n'],
    ['the input ends', ''],
  ])('deletes nothing when %s', async (_case, typed) => {
    const { code, messages } = await operator.runLocal(['delete', projectId], { typed });
    expect(code).toBe(1);
    expect(messages).toContain('Nothing was deleted.');
    expect(await operator.registry.find(projectId)).toBeDefined();
  });

  it('changes nothing in a dry run, and counts what it would delete', async () => {
    await importValues(operator, projectId, [subscriptionJson(), subscriptionJson()]);
    const { code, output } = await operator.runLocal(['delete', projectId, '--dry-run']);
    expect(code).toBe(0);
    expect(output).toBe(
      `Would delete "${projectId}" with 2 subscriptions and 0 notifications.\n` +
        'This was a dry run: nothing was changed.\n',
    );
    expect(await operator.registry.usage(projectId)).toMatchObject({ subscribers: 2 });
  });

  it.each([
    ['--dry-run', 'counting'],
    ['--yes', 'deleting'],
  ])('draws a bar with %s', async (option, label) => {
    await importValues(operator, projectId, [subscriptionJson(), subscriptionJson()]);
    const { messages } = await operator.runLocal(['delete', projectId, option], { typed: '' });
    expect(messages).toContain(label);
    expect(messages).toContain('2/2');
  });

  it('does not ask with --yes', async () => {
    expect(await operator.runJson(['delete', projectId, '--yes'])).toEqual({
      projectId,
      removed: { subscriptions: 0, notifications: 0 },
    });
    expect(await operator.registry.find(projectId)).toBeUndefined();
  });
});

it('a mistyped project id is answered with the one that was probably meant', async () => {
  await operator.registry.create({ projectId, random: randomBytes });
  const { messages } = await operator.runLocal(['show', projectId.slice(0, -1)]);
  expect(messages).toContain(` does not exist. Did you mean "${projectId}"? See all with: `);
});

it.each([
  'show unknown',
  'show unknown --keys',
  'set unknown --send-cap 1',
  'set unknown --name Bells',
  'set unknown --user-ids signed',
  'rotate unknown secret',
  'rotate unknown identity',
  'rotate unknown vapid',
  'rotate unknown vapid --drop-previous',
  'delete unknown --yes',
  'users export ada --project unknown',
  'users delete ada --project unknown --yes',
  'subscriptions import unknown',
  'subscriptions export unknown',
  'subscriptions prune unknown --unseen-days 30',
  'members unknown',
])('"%s" fails, because there is no such project', async (call) => {
  expect(await operator.runLocal(call.split(' '))).toEqual({
    code: 1,
    output: '',
    messages:
      'Project "unknown" does not exist. See all with: npm run -s carillon -- list --local\n',
  });
  expect(await operator.registry.find('unknown')).toBeUndefined();
});

const project = {
  projectId: 'demo',
  applicationServerKey: 'BPublic',
  secretKey: 'carillon_sk_secret',
  identityKey: 'carillon_id_identity',
};

describe('projectCard', () => {
  const card = projectCard(project, 'https://api.example');

  it('has a script without the keys of the server', () => {
    const script = card.slice(card.indexOf('<script'), card.lastIndexOf('</script>'));
    expect(script).toContain("projectId: 'demo'");
    expect(script).not.toMatch(/carillon_(sk|id)_/);
  });

  it('has a curl command that a shell can run, without the key in its arguments', () => {
    const command = card.slice(card.indexOf('curl '));
    const script = `curl() { printf '%s\\n' "$@"; echo stdin; cat; }\n${command}`;
    const printed = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\n');
    expect(printed).toEqual([
      '-X',
      'POST',
      'https://api.example/api/v1/projects/demo/notifications',
      '-H',
      '@-',
      '-H',
      'Content-Type: application/json',
      '-d',
      '{ "title": "Hello", "body": "The first of many." }',
      'stdin',
      'Authorization: Bearer carillon_sk_secret',
      '',
    ]);
  });
});

describe('members', () => {
  let projectId: string;

  beforeEach(async () => {
    projectId = `p-${randomUUID()}`;
    await operator.registry.create({ projectId, random: randomBytes });
  });

  const invite = (...options: readonly string[]) => ['invite', projectId, 'Ann', ...options];

  test('invite prints the key once, with its end and how to take it back', async () => {
    const { code, output } = await operator.runLocal(
      invite('--role', 'sender', '--expires', '90d'),
    );
    expect(code).toBe(0);
    expect(output).toMatch(/^For "Ann", with the role sender\. .* printed only once:\n\n/);
    expect(output).toContain(
      `  Console     ${operator.baseUrl}/console, unless it is turned off\n  Project id  ${projectId}\n  Member key  carillon_mk_`,
    );
    expect(output).toMatch(/The key is valid until \d{4}-\d\d-\d\d \d\d:\d\d UTC\. /);
    expect(output).toContain(`carillon -- revoke ${projectId} 'Ann' --local\n`);
  });

  test('an apostrophe in a name is quoted in the printed command', async () => {
    const { output } = await operator.runLocal([...invite('--role', 'viewer').with(2, "O'Neil")]);
    expect(output).toContain(`revoke ${projectId} 'O'\\''Neil' --local\n`);
  });

  test('members lists who has a key, and revoke takes one back', async () => {
    expect((await operator.runLocal(['members', projectId])).output).toContain(
      'No members. Invite one:',
    );
    const invited = await operator.runJson(invite('--role=viewer'));
    expect(invited).toEqual({
      ...{ projectId, name: 'Ann', role: 'viewer' },
      key: expect.stringMatching(memberKeyPattern),
    });
    const short = { name: 'Short', role: 'sender', lifetimeMs: 1, random: randomBytes } as const;
    await operator.registry.invite(projectId, short);
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(await operator.runJson(['members', projectId])).toEqual([
      { name: 'Ann', role: 'viewer', createdAt: time, expired: false },
      { name: 'Short', role: 'sender', createdAt: time, expiresAt: time, expired: true },
    ]);
    const { output } = await operator.runLocal(['members', projectId]);
    expect(output).toMatch(/Short +sender +.* UTC \(expired\)/);
    expect(await operator.runJson(['revoke', projectId, 'Ann'])).toEqual({
      ...{ projectId, name: 'Ann', revoked: true },
    });
    expect(await operator.runJson(['members', projectId])).toHaveLength(1);
  });

  test('the keys of a person are listed and revoked in all projects', async () => {
    const other = `${projectId}-2`;
    await operator.registry.create({ projectId: other, random: randomBytes });
    const name = `Ann ${randomUUID()}`;
    for (const id of [projectId, other]) {
      await operator.registry.invite(id, { name, role: 'viewer', random: randomBytes });
    }
    await operator.registry.invite(other, { name: 'Bob', role: 'viewer', random: randomBytes });
    const listed = await operator.runJson(['members', `--name=${name.toUpperCase()}`]);
    expect(listed).toMatchObject([
      { projectId, name },
      { projectId: other, name },
    ]);
    const revoke = ['revoke', '--name', name];
    const dry = await operator.runLocal([...revoke, '--dry-run']);
    expect(dry.output).toContain(
      `Would end 2 member keys of "${name}", within 30 seconds: ${projectId}, ${other}.\n`,
    );
    const refused = await operator.runLocal(revoke, { typed: 'yes\n' });
    expect(refused).toMatchObject({
      code: 1,
      messages: expect.stringContaining('Nothing was revoked.'),
    });
    expect(await operator.registry.members(projectId)).toHaveLength(1);
    const { output } = await operator.runLocal([...revoke, '--yes']);
    for (const id of [projectId, other]) {
      expect(output).toContain(`carillon -- rotate ${id} secret --grace 24h --local\n`);
      await operator.registry.invite(id, { name, role: 'viewer', random: randomBytes });
    }
    const revoked = { name, projectIds: [projectId, other], revoked: true };
    expect(await operator.runJson([...revoke, '--yes'])).toEqual(revoked);
    expect(await operator.registry.members(projectId)).toEqual([]);
    expect(await operator.registry.members(other)).toMatchObject([{ name: 'Bob' }]);
    for (const args of [
      ['members', '--name', name],
      [...revoke, '--yes'],
    ]) {
      const none = await operator.runLocal(args);
      expect(none).toEqual({ code: 1, output: '', messages: 'No project has such a member.\n' });
    }
  });

  test('a key that somebody else ends meanwhile does not keep those in other projects', async () => {
    const ids = ['a', 'b'].map((letter) => `${letter}-${randomUUID()}`);
    const name = `Ann ${randomUUID()}`;
    for (const id of ids) {
      await operator.registry.create({ projectId: id, random: randomBytes });
      await operator.registry.invite(id, { name, role: 'viewer', random: randomBytes });
    }
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const terminal = { ...testTerminal({ isTTY: true }), input };
    terminal.messages.once('data', async () => {
      await operator.registry.revoke(ids[0]!, name);
      input.end(`${name}\n`);
    });
    const args = ['revoke', '--name', name, '--local'];
    expect(await runCarillon(args, terminal, join(operator.directory, 'local.json'))).toBe(0);
    expect(await operator.registry.members(ids[1]!)).toEqual([]);
  });

  test('a name that is nearly that of a member is asked about', async () => {
    const name = `Zoë ${randomUUID()}`;
    await operator.registry.invite(projectId, { name, role: 'viewer', random: randomBytes });
    const { messages } = await operator.runLocal(['revoke', '--name', name.toLowerCase()]);
    expect(messages).toBe(`No project has such a member. Did you mean "${name}"?\n`);
  });

  test.each(['members', 'members p --name Ann', 'revoke p', 'revoke p Ann --name Ann', 'revoke'])(
    '"%s" is a wrong call',
    async (call) => {
      expect(await operator.runLocal(call.split(' '))).toMatchObject({ code: 2, output: '' });
    },
  );

  test.each([
    [['--role', 'admin'], 'Allowed choices are viewer, sender.'],
    [[], "equired option '--role <viewer|sender>' not specified"],
    [['--role=viewer', '--expires', '0'], 'Use minutes, hours or days up to 366d'],
    [['--role=viewer', '--expires', '367d'], 'Use minutes, hours or days up to 366d'],
  ])('invite %j is a wrong call', async (options, message) => {
    const { code, messages } = await operator.runLocal(invite(...options));
    expect(code).toBe(2);
    expect(messages).toContain(message);
    expect(await operator.registry.members(projectId)).toEqual([]);
  });

  test.each(['', ' ', 'a\nb', 'x'.repeat(65), '__proto__'])(
    '%j is no name of a member',
    async (name) => {
      const { code, messages } = await operator.runLocal([
        'invite',
        projectId,
        name,
        '--role=viewer',
      ]);
      expect(code).toBe(2);
      expect(messages).toContain('Use 1 to 64 characters');
    },
  );
});

describe('users', () => {
  let projectId: string;
  let ref: ProjectRef;

  beforeEach(async () => {
    projectId = `p-${randomUUID()}`;
    const { project } = await operator.registry.create({ projectId, random: randomBytes });
    ref = project.ref;
  });

  const savedAt = new Date('2026-11-20T12:00:00Z');

  async function subscribe(
    userId: string,
    url?: string,
    now = savedAt,
    channels: string[] | undefined = undefined,
  ) {
    const tables = projectTables(operator.database.tables);
    const saved = subscription({
      choice: { userId, channels },
      ...(url && { endpoint: endpoint(url) }),
    });
    await subscriptionStore(operator.database.dynamo, tables, () => now).save(
      keyed(ref),
      saved,
      null,
    );
    return saved;
  }

  const subscribers = async () => (await operator.registry.usage(projectId)).subscribers;

  describe('users export', () => {
    it('prints everything that is stored under the user id as JSON', async () => {
      const url = 'https://updates.push.services.mozilla.com/wpush/v2/of-ada';
      const { keys } = await subscribe('ada', url);
      await subscribe('ada', url, new Date('2026-11-21T12:00:00Z'), ['news']);
      await subscribe('bob');
      const { vapidPublicKey: applicationServerKey } = (await operator.registry.find(projectId))!;
      await operator.registry.rotateVapid(projectId);
      const exported = await operator.runJson(['users', 'export', 'ada', '--project', projectId]);
      expect(exported).toEqual({
        userId: 'ada',
        projectIds: [projectId],
        subscriptions: [
          {
            projectId,
            endpoint: url,
            keys: {
              p256dh: Buffer.from(keys.p256dh).toString('base64url'),
              auth: Buffer.from(keys.auth).toString('base64url'),
            },
            applicationServerKey,
            userId: 'ada',
            userSince: '2026-11-20T12:00:00.000Z',
            channels: ['news'],
            createdAt: '2026-11-20T12:00:00.000Z',
            updatedAt: '2026-11-21T12:00:00.000Z',
            firstAt: '2026-11-20T12:00:00.000Z',
          },
        ],
        elsewhere: expect.any(Array),
      });
      const ofNobody = await operator.runJson([
        'users',
        'export',
        'nobody',
        '--project',
        projectId,
      ]);
      expect(ofNobody).toMatchObject({ userId: 'nobody', subscriptions: [] });
      const leftOut = exported.elsewhere.map(({ what }: { what: string }) => what);
      const rows = storedData.filter(({ exported }) => typeof exported === 'string');
      expect(leftOut).toEqual(rows.map(({ what }) => what));
    });

    it('prints all of many subscriptions', async () => {
      for (let made = 0; made < 101; made += 1) await subscribe('ada');
      const { subscriptions } = await operator.runJson([
        'users',
        'export',
        'ada',
        '--project',
        projectId,
      ]);
      expect(subscriptions).toHaveLength(101);
    });

    it('prints endpoints and times as text, without keys', async () => {
      const { keys } = await subscribe('ada\u202e/x');
      const { output } = await operator.runLocal([
        'users',
        'export',
        'ada\u202e/x',
        '--project',
        projectId,
      ]);
      expect(output).toContain(`Stored subscriptions of "ada\\u202e/x" in ${projectId}: 1\n`);
      expect(output).toMatch(/https:\S+( +2026-11-20 12:00 UTC){3}\n/);
      expect(output).toContain('  Recovery of the tables: all tables but RateLimits');
      expect(output).not.toContain(Buffer.from(keys.auth).toString('base64url'));
    });
  });

  describe('a browser of which only the endpoint or the device id is known', () => {
    it('is found in all projects, and deleted in one', async () => {
      const person = `user-${randomUUID()}`;
      const ofAda = { ...subscriptionJson(), userId: person };
      await importValues(operator, projectId, [ofAda, subscriptionJson()]);
      const device = deviceIdOf(ofAda.endpoint);
      const byUser = await operator.runJson(['users', 'find', person]);
      expect(byUser).toMatchObject([{ projectId, userId: person, endpoint: ofAda.endpoint }]);
      for (const option of [`--device=${device}`, `--endpoint=${ofAda.endpoint}`]) {
        expect(await operator.runJson(['users', 'find', option])).toEqual(byUser);
        const exported = await operator.runJson([
          'users',
          'export',
          option,
          '--project',
          projectId,
        ]);
        expect(exported.subscriptions).toMatchObject([{ endpoint: ofAda.endpoint }]);
      }
      const { output } = await operator.runLocal(['users', 'find', person]);
      expect(output).toMatch(`1 subscription of "${person}":`);
      expect(output).toContain(`${projectId}  ${person}  https:`);
      const args = [
        'users',
        'delete',
        `--endpoint=${ofAda.endpoint}`,
        '--project',
        projectId,
        '--yes',
      ];
      const who = { device, projectIds: [projectId] };
      expect(await operator.runJson(args)).toEqual({ ...who, removed: 1 });
      expect(await operator.runJson(args)).toEqual({ ...who, removed: 0 });
      expect(await subscribers()).toBe(1);
      expect(await operator.runLocal(['users', 'find', person])).toEqual({
        ...{
          code: 1,
          output: '',
          messages: `No project has "${person}". Other ways: a user id, --device, --endpoint, another --stack.\n`,
        },
      });
      const { endpoint: erased } = ofAda;
      expect((await operator.runLocal(['users', 'find', '--endpoint', erased])).messages).toBe(
        `No project has "${erased}". Erased in ${projectId}: the browser comes back only when its visitor subscribes.\n`,
      );
    });

    it('is deleted in all projects only if that is said', async () => {
      const person = `user-${randomUUID()}`;
      const other = `p-${randomUUID()}`;
      await operator.registry.create({ projectId: other, random: randomBytes });
      for (const id of [projectId, other]) {
        await importValues(operator, id, [{ ...subscriptionJson(), userId: person }]);
      }
      const both = [projectId, other].toSorted();
      const { output } = await operator.runLocal(['users', 'find', person]);
      const options = both.map((id) => `--project ${id}`).join(' ');
      expect(output).toContain(`carillon -- users delete '${person}' ${options} --local\n`);
      const { subscriptions } = await operator.runJson([
        'users',
        'export',
        person,
        '--all-projects',
      ]);
      expect(subscriptions.map((one: { projectId: string }) => one.projectId)).toEqual(both);
      const unsaid = await operator.runLocal(['users', 'delete', person, '--yes']);
      expect(unsaid).toMatchObject({
        code: 2,
        messages: expect.stringContaining('--all-projects'),
      });
      const args = ['users', 'delete', person, '--all-projects'];
      const { messages } = await operator.runLocal(args, { typed: `${person}\n` });
      expect(messages).toContain(`subscriptions of "${person}" in ${both.join(', ')}: 2`);
      expect(await operator.runLocal(['users', 'find', person])).toMatchObject({ code: 1 });
    });

    it.each([
      ['a user id or a browser', []],
      ['one of them', ['ada', '--endpoint=https://push.example.net/a']],
      ['an endpoint', ['--endpoint=push.example.net']],
      ['a device id', ['--device=ada']],
    ])('needs %s', async (_, args) => {
      expect(await operator.runLocal(['users', 'find', ...args])).toMatchObject({ code: 2 });
    });
  });

  describe('users delete', () => {
    it('deletes the subscriptions of the user and their counts with --yes', async () => {
      for (const userId of ['ada', 'ada', 'bob']) await subscribe(userId);
      const args = ['users', 'delete', 'ada', '--project', projectId, '--yes'];
      const who = { userId: 'ada', projectIds: [projectId] };
      expect(await operator.runJson(args)).toEqual({ ...who, removed: 2 });
      expect(await operator.runJson(args)).toEqual({ ...who, removed: 0 });
      expect(await subscribers()).toBe(1);
    });

    it('is known as erased by its browser, although the record has the user id', async () => {
      const ofAda = subscriptionJson();
      await importValues(operator, projectId, [{ ...ofAda, userId: 'ada' }]);
      await operator.runJson(['users', 'delete', 'ada', '--project', projectId, '--yes']);
      const audit = async (of: string) =>
        (await operator.runLocal(['audit', projectId, '--endpoint', of])).output;
      expect(await audit(ofAda.endpoint)).toBe(
        'Nothing is recorded of this browser, which was erased: look for its user id, too.\n',
      );
      expect(await audit(subscriptionJson().endpoint)).toBe('Nothing is recorded.\n');
    });

    it('is recorded for the projects that it has reached if another one is deleted meanwhile', async () => {
      const other = `p-${randomUUID()}`;
      await operator.registry.create({ projectId: other, random: randomBytes });
      await subscribe('ada');
      const input = Object.assign(new PassThrough(), { isTTY: true });
      const terminal = { ...testTerminal({ isTTY: true }), input };
      terminal.messages.once('data', async () => {
        await operator.registry.remove(other);
        input.end('ada\n');
      });
      const projects = [projectId, other].flatMap((id) => ['--project', id]);
      const args = ['users', 'delete', 'ada', ...projects, '--local'];
      expect(await runCarillon(args, terminal, join(operator.directory, 'local.json'))).toBe(1);
      expect(await subscribers()).toBe(0);
      expect(await operator.runJson(['audit', projectId, 'ada'])).toMatchObject([
        { projectId, count: 1, failed: true },
      ]);
    });

    it('takes a user id that starts with a hyphen after --', async () => {
      await subscribe('-ada');
      const args = ['users', 'delete', '--yes', '--local', '--project', projectId, '--', '-ada'];
      const { output } = await operator.run(args);
      expect(output).toBe(
        `Deleted subscriptions of "-ada" in ${projectId}: 1\nNotifications that wait at a push service for the browser may still arrive, until their ttl ends.\n`,
      );
    });

    it('deletes after the operator types the user id, and nothing otherwise', async () => {
      await subscribe('ada');
      const args = ['users', 'delete', 'ada', '--project', projectId];
      const refused = await operator.runLocal(args, { typed: 'yes\n' });
      expect(refused).toMatchObject({ code: 1, output: '' });
      expect(refused.messages).toContain(
        `This permanently deletes subscriptions of "ada" in ${projectId}: 1`,
      );
      expect(await subscribers()).toBe(1);
      expect(await operator.runLocal(args, { typed: 'ada\n' })).toMatchObject({ code: 0 });
      expect(await subscribers()).toBe(0);
    });
  });
});
