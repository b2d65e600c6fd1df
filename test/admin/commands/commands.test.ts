import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { projectTables } from '../../../admin/project-tables.ts';
import { newVapidPair } from '../../../admin/vapid-pair.ts';
import { identityKeyPattern, secretKeyPattern } from '../../../contract/formats.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { importValues } from '../../fixtures/moved-subscriptions.ts';
import { type Operator, startOperator } from '../../fixtures/operator.ts';
import { subscription } from '../../fixtures/subscription.ts';
import { subscriptionJson } from '../../fixtures/subscription-lines.ts';

let operator: Operator;
let projectId: string;

beforeAll(async () => {
  operator = await startOperator();
});
afterAll(() => operator.stop());
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
    expect(output).toMatch(/npm install \.\/carillon-[\s\S]*Without a bundler: copy carillon\.js/);
  });

  it('prints the project, its secret key and the base URL as JSON', async () => {
    const args = ['--name', 'My bells', '--send-cap', '50', '--rate-limit', 'none'];
    const created = await operator.runJson([
      'create',
      projectId,
      ...args,
      '--subscriber-cap',
      'default',
    ]);
    expect(created).toEqual({
      projectId,
      name: 'My bells',
      applicationServerKey: expect.any(String),
      plan: { monthlySendCap: 50, rateLimitPerMinute: null },
      createdAt: expect.any(String),
      secretKey: expect.stringMatching(secretKeyPattern),
      secretApiKey: expect.stringMatching(secretKeyPattern),
      userIds: 'open',
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

  it('reads the private VAPID key from standard input', async () => {
    const { publicKey, privateKey } = newVapidPair();
    const flags = [`--vapid-public=${publicKey}`, '--vapid-private-file', '-'];
    const { code } = await operator.runLocal(['create', projectId, ...flags], {
      typed: `${privateKey}\n`,
    });
    expect(code).toBe(0);
    expect(await operator.registry.find(projectId)).toMatchObject({ vapidPublicKey: publicKey });
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
    ['has a line break', 'two\nlines'],
    ['has an escape sequence', '\u001b[31mred'],
    ['has a C1 control character', 'a\u009b31mb'],
    ['has a line separator', 'a\u2028b'],
    ['changes the text direction', 'a\u202eb'],
    ['has an unpaired surrogate', 'a\ud800b'],
  ])('refuses a name that %s', async (_case, name) => {
    const { code, messages } = await operator.runLocal(['create', projectId, `--name=${name}`]);
    expect(code).toBe(2);
    expect(messages).toContain(
      'is invalid. Use 1 to 100 characters, not only blanks, without control characters.',
    );
    expect(await operator.registry.find(projectId)).toBeUndefined();
  });

  it('accepts a name of 100 characters in any script', async () => {
    const name = 'Übergrößenträger 鐘楼 🔔 '.padEnd(100, 'n');
    expect((await operator.runJson(['create', projectId, `--name=${name}`])).name).toBe(name);
  });

  it('fails if the id is in use', async () => {
    await operator.registry.create({ projectId, random: randomBytes });
    expect(await operator.runLocal(['create', projectId])).toEqual({
      code: 1,
      output: '',
      messages: `Project "${projectId}" already exists.\n`,
    });
  });
});

describe('show', () => {
  it('prints limits and usage', async () => {
    const { project } = await operator.registry.create({
      ...{ projectId, random: randomBytes },
      plan: { subscriberCap: 7 },
    });
    await subscriptionStore(
      operator.database.dynamo,
      projectTables(operator.database.tables),
      () => new Date(),
    ).save(project.ref, subscription(), null);
    const { code, output } = await operator.runLocal(['show', projectId]);
    expect(code).toBe(0);
    expect(output).toMatch(/Subscribers +1 +limit: 7\n/);
    expect(output).toMatch(/Notifications in \d{4}-\d\d +0 +limit: 10,000 \(default\)\n/);
    expect(output).toMatch(/Requests per minute +limit: 60 \(default\)\n/);
    expect(await operator.runJson(['show', projectId])).toMatchObject({
      projectId,
      plan: { subscriberCap: 7 },
      usage: { subscribers: 1, sends: 0 },
      limits: { subscriberCap: 7, monthlySendCap: 10_000, rateLimitPerMinute: 60 },
    });
  });

  it('prints no secret', async () => {
    const { secretKey } = await operator.registry.create({ projectId, random: randomBytes });
    const { output } = await operator.runLocal(['show', projectId, '--json']);
    expect(output).not.toContain(secretKey);
    expect(output).not.toMatch(/hash|private/i);
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
    expect(output).toMatch(new RegExp(`${projectId}-a .* 0  1,000 +0  10,000 +60 `));
    expect(listed.map((project) => project.projectId)).toEqual(expect.arrayContaining(ids));
  });
});

describe('set-plan', () => {
  it('changes the given limits', async () => {
    const plan = { subscriberCap: 7, monthlySendCap: 8 };
    await operator.registry.create({ projectId, plan, random: randomBytes });
    const flags = ['--subscriber-cap', 'default', '--rate-limit=9'];
    const changed = await operator.runJson(['set-plan', projectId, ...flags]);
    expect(changed.plan).toEqual({ monthlySendCap: 8, rateLimitPerMinute: 9 });
    expect(await operator.registry.find(projectId)).toMatchObject({ plan: changed.plan });
  });
});

describe('rotate-key', () => {
  it('prints a new secret key', async () => {
    const { secretKey } = await operator.registry.create({ projectId, random: randomBytes });
    const rotated = await operator.runJson(['rotate-key', projectId, '--yes']);
    expect(rotated.secretKey).toMatch(secretKeyPattern);
    expect(rotated.secretKey).not.toBe(secretKey);
    expect(rotated.secretApiKey).toBe(rotated.secretKey);
  });

  it('keeps the previous key valid for the grace period', async () => {
    await operator.registry.create({ projectId, random: randomBytes });
    const rotated = await operator.runLocal(['rotate-key', projectId, '--grace', '24h']);
    expect(rotated.output).toContain('"Use of previous secret keys"');
    const { previousKeyUntil } = await operator.runJson(['show', projectId]);
    const day = 24 * 60 * 60_000;
    expect(Math.abs(Date.parse(previousKeyUntil) - Date.now() - day)).toBeLessThan(60_000);
    const { output } = await operator.runLocal(['show', projectId]);
    expect(output).toContain(`Previous key valid until  ${previousKeyUntil.slice(0, 10)}`);
  });

  it('asks before the present key ends at once', async () => {
    const { secretKey } = await operator.registry.create({ projectId, random: randomBytes });
    const refused = await operator.runLocal(['rotate-key', projectId], { typed: 'no\n' });
    expect(refused.code).toBe(1);
    expect(refused.messages).toContain('makes the present secret key');
    expect(refused.messages).toContain('The secret key was not replaced.');
    const agreed = await operator.runLocal(['rotate-key', projectId], { typed: `${projectId}\n` });
    expect(agreed.code).toBe(0);
    expect(agreed.output).not.toContain(secretKey);
  });

  it('refuses to end a previous key that is to stay valid, unless it is revoked', async () => {
    await operator.registry.create({ projectId, random: randomBytes });
    await operator.runJson(['rotate-key', projectId, '--grace', '24h']);
    const refused = await operator.runLocal(['rotate-key', projectId, '--grace', '1h']);
    expect(refused.code).toBe(1);
    expect(refused.messages).toMatch(/is to stay valid until .* Wait, or use --revoke\./);
    const revoked = await operator.runLocal(['rotate-key', projectId, '--revoke', '--yes']);
    expect(revoked.code).toBe(0);
    expect(await operator.registry.find(projectId)).not.toHaveProperty('previousKeyUntil');
  });

  it.each(['0h', '24', '1w', '31d', '-1h', '1.5h'])(
    'refuses a grace period of "%s"',
    async (grace) => {
      const { code, messages } = await operator.runLocal([
        'rotate-key',
        projectId,
        `--grace=${grace}`,
      ]);
      expect(code).toBe(2);
      expect(messages).toContain(
        'is invalid. Use 0, or minutes, hours or days up to 30d, such as 30m, 24h or 7d.',
      );
    },
  );
});

describe('rename', () => {
  it('changes the name that people see', async () => {
    await operator.registry.create({ projectId, random: randomBytes });
    const { output } = await operator.runLocal(['rename', projectId, 'New name']);
    expect(output).toMatch(/^ +Name +New name$/m);
    expect(await operator.registry.find(projectId)).toMatchObject({ projectId, name: 'New name' });
  });

  it('refuses a blank name', async () => {
    const { code, messages } = await operator.runLocal(['rename', projectId, ' ']);
    expect(code).toBe(2);
    expect(messages).toContain("<name> ' ' is invalid. Use 1 to 100 characters, not only blanks");
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

  it.each([
    ['the operator types something else', 'yes\n'],
    ['the input ends', ''],
  ])('deletes nothing when %s', async (_case, typed) => {
    const { code, messages } = await operator.runLocal(['delete', projectId], { typed });
    expect(code).toBe(1);
    expect(messages).toContain('Nothing was deleted.');
    expect(await operator.registry.find(projectId)).toBeDefined();
  });

  it('counts in a dry run what an interrupted removal has left', async () => {
    await importValues(operator, projectId, [subscriptionJson()]);
    const { dynamo, tables } = operator.database;
    const TableName = projectTables(tables).projects;
    const { ref } = (await operator.registry.find(projectId))!;
    const mark = { projectId, ref, removed: true };
    await dynamo.send(new PutCommand({ TableName, Item: mark }));
    const { output } = await operator.runLocal(['delete', projectId, '--dry-run']);
    expect(output).toContain(`Would delete "${projectId}" with 1 subscription and 0 notif`);
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

  it('needs --yes without a terminal', async () => {
    const { code, messages } = await operator.runLocal(['delete', projectId]);
    expect(code).toBe(1);
    expect(messages).toBe('Cannot ask without a terminal. Use --yes to continue without asking.\n');
    expect(await operator.registry.find(projectId)).toBeDefined();
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

describe.each(['show', 'set-plan', 'rotate-key', 'delete'])('%s', (command) => {
  it('fails for an unknown project', async () => {
    const flags = { 'set-plan': ['--send-cap', '1'], delete: ['--yes'] }[command] ?? [];
    expect(await operator.runLocal([command, projectId, ...flags])).toEqual({
      code: 1,
      output: '',
      messages: `Project "${projectId}" does not exist. See all with: npm run -s carillon -- list --local\n`,
    });
  });
});
