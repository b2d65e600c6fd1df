import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { gzipSync } from 'node:zlib';
import { writeCompleteFile } from '../../../admin/commands/subscriptions.ts';
import { subscriptionPages } from '../../../admin/store/all-subscriptions.ts';
import { newVapidPair } from '../../../admin/vapid-pair.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import { choiceFields, choiceNames } from '../../../contract/wire/fields.ts';
import { limits } from '../../../contract/wire/limits.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { useFolder } from '../../fixtures/folder.ts';
import { exportedValues, importValues } from '../../fixtures/moved-subscriptions.ts';
import { useOperator } from '../../fixtures/operator.ts';
import { rotatedLongAgo } from '../../fixtures/rotated-long-ago.ts';
import { subscription } from '../../fixtures/subscription.ts';
import { linesOf, subscriptionJson } from '../../fixtures/subscription-lines.ts';

const operator = useOperator();
let projectId: string;
let file: string;
const vapid = newVapidPair();

beforeEach(async () => {
  projectId = `p-${randomUUID()}`;
  file = join(operator.directory, `${projectId}.ndjson`);
  await operator.registry.create({ projectId, vapid, random: randomBytes });
});

/** The table of the push services, with one. */
const counted = (lines: number) =>
  `\nlines  push service\n    ${lines}  https://updates.push.services.mozilla.com\n`;
const importAll = (values: readonly unknown[]) => importValues(operator, projectId, values);
const exported = () => exportedValues(operator, projectId);

const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60_000).toISOString();

async function subscribers(): Promise<number> {
  return (await operator.registry.usage(projectId)).subscribers;
}

async function subscribe(url: ReturnType<typeof subscription>) {
  const { dynamo, tables } = operator.database;
  const project = await operator.database.projectOf(projectId);
  const store = subscriptionStore(dynamo, projectTables(tables), () => new Date());
  return store.save(project, url, null);
}

describe('subscriptions import', () => {
  it('adds and counts subscriptions as the web-push library has them', async () => {
    const values = [subscriptionJson(), subscriptionJson({ userId: 'ann' })];
    expect(await importAll(values)).toMatchObject({
      code: 0,
      report: { projectId, created: 2, updated: 0, unchanged: 0, overCap: 0, invalid: 0 },
    });
    expect(await subscribers()).toBe(2);
    const found = await exported();
    expect(found).toHaveLength(2);
    for (const value of values) expect(found).toContainEqual(expect.objectContaining(value));
  });

  it('refuses a field that a line does not have, and names the one that was probably meant', async () => {
    const subscription = {
      ...subscriptionJson(),
      expirationTime: null,
      contentEncoding: 'aes128gcm',
    };
    const lines = [
      { ...subscription, user_id: 'ada' },
      { ...subscription, userId: 'ada' },
    ];
    const { code, output } = await operator.runLocal(['subscriptions', 'import', projectId], {
      typed: linesOf(lines),
    });
    expect(code).toBe(1);
    expect(stripVTControlCharacters(output)).toBe(
      'line 1: user_id is not a field of a line; did you mean "userId"?\n' +
        '1 added, 0 updated, 0 unchanged; 1 with user id.\n' +
        counted(1),
    );
  });

  it('reads a pipe, which can be read only once', async () => {
    execFileSync('mkfifo', [file]);
    const [result] = await Promise.all([
      operator.runLocal(['subscriptions', 'import', projectId, file]),
      writeFile(file, linesOf([subscriptionJson()])),
    ]);
    expect(result).toMatchObject({ code: 0, output: expect.stringContaining('1 added') });
  });

  it('changes nothing in a dry run, and counts what the import then does', async () => {
    projectId = `${projectId}-cap`;
    await operator.registry.create({
      projectId,
      settings: { subscriberCap: 300 },
      random: randomBytes,
    });
    const stored = Array.from({ length: 100 }, () => subscriptionJson());
    await importAll(stored);
    const changed = stored.slice(0, 30).map((one) => ({ ...one, userId: 'ann' }));
    const fresh = Array.from({ length: 250 }, () => subscriptionJson());
    const again = { ...fresh[0], userId: 'bob' };
    const invalid = { ...fresh[1], user_id: 'eve' };
    await writeFile(file, linesOf([...stored.slice(30), ...changed, ...fresh, again, invalid]));
    const before = await exported();
    const args = ['subscriptions', 'import', projectId, file];
    const dry = await operator.runLocal([...args, '--dry-run', '--json']);
    expect(await exported()).toEqual(before);
    expect(await subscribers()).toBe(100);
    const report = JSON.parse(dry.output);
    expect(report).toMatchObject({
      ...{ dryRun: true, created: 200, unchanged: 70, updated: 31, overCap: 50, invalid: 1 },
      pushServices: { 'https://updates.push.services.mozilla.com': 301 },
    });
    const { output } = await operator.runLocal([...args, '--json']);
    const { dryRun: _, ...planned } = report;
    expect(JSON.parse(output)).toEqual(planned);
    expect((await operator.runLocal([...args, '--dry-run'])).output).toMatch(
      /This was a dry run: nothing was changed\.\n$/,
    );
  });

  it('skips invalid lines and names each', async () => {
    await writeFile(
      file,
      [
        JSON.stringify(subscriptionJson()),
        '{"endpoint":',
        '',
        JSON.stringify(subscriptionJson({ endpoint: 'https://push.example/1' })),
        `[${JSON.stringify(subscriptionJson())}]`,
        JSON.stringify(subscriptionJson()),
        JSON.stringify(subscriptionJson({ userId: 'Ren\xe9' })),
        JSON.stringify(subscriptionJson({ userId: 'x'.repeat(limits.bodyBytes.subscribe) })),
        JSON.stringify({ ...subscriptionJson(), userIdSignature: 'x' }),
      ].join('\r\n'),
      'latin1',
    );
    const result = await operator.runLocal(['subscriptions', 'import', projectId, file]);
    expect(result).toEqual({
      code: 1,
      output:
        'line 2: is not JSON\n' +
        'line 4: endpoint must be on a known push service; "push.example" is not one\n' +
        'line 5: must be an object\n' +
        'line 7: is not UTF-8\n' +
        'line 8: is longer than 20480 bytes: write one subscription per line\n' +
        `line 9: userIdSignature is not a field of a line; the fields are endpoint, keys, ${choiceNames.join(', ')}, ` +
        'applicationServerKey, createdAt, updatedAt, firstAt, expirationTime, contentEncoding\n' +
        '2 added, 0 updated, 0 unchanged; 0 with user id.\n' +
        counted(2),
      messages: 'Left out: 6 invalid lines.\n',
    });
    expect(await subscribers()).toBe(2);
  });

  it('updates subscriptions that exist, and keeps a user id and channels that the line does not have', async () => {
    const channels = ['news', 'sales'];
    const [first, second] = [
      subscriptionJson({ userId: 'ann', channels }),
      subscriptionJson({ channels: [] }),
    ];
    await importAll([first, second]);
    const { userId, channels: _, ...rest } = first;
    const changed = { ...rest, keys: subscriptionJson().keys };
    expect((await importAll([changed, second])).report).toMatchObject({
      created: 0,
      updated: 1,
      unchanged: 1,
    });
    expect(await subscribers()).toBe(2);
    expect(await exported()).toContainEqual(
      expect.objectContaining({ ...changed, userId, channels }),
    );
    const others = { ...changed, channels: ['sales'] };
    expect((await importAll([others, others])).report).toMatchObject({ updated: 1, unchanged: 1 });
    expect(await exported()).toContainEqual(expect.objectContaining({ ...others, userId }));
    expect(await exported()).toContainEqual(
      expect.not.objectContaining({ channels: expect.anything() }),
    );
  });

  it.each(choiceNames)(
    'adds the %s of a line without a time only where none is stored',
    async (name) => {
      const [{ samples }, stated, silent] = [choiceFields[name], subscription(), subscription()];
      await subscribe({ ...stated, choice: { [name]: samples[0] } });
      await subscribe(silent);
      await importAll(
        [stated, silent].map(({ endpoint }) => ({
          ...subscriptionJson({ endpoint: endpoint.href }),
          [name]: samples[1],
        })),
      );
      expect((await exported()).map((line) => line[name])).toEqual(
        expect.arrayContaining([...samples]),
      );
    },
  );

  it('takes a time in the future as now, so that later requests of the browser count', async () => {
    const saved = subscription();
    const { href } = saved.endpoint;
    const future = { createdAt: daysAgo(-1), updatedAt: daysAgo(-1) };
    await importAll([{ ...subscriptionJson({ endpoint: href }), ...future }]);
    const [imported] = await exported();
    expect(Date.parse(String(imported!.createdAt))).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(String(imported!.updatedAt))).toBeLessThanOrEqual(Date.now());
    expect(await subscribe({ ...saved, choice: { userId: 'ann' } })).toBe('updated');
    expect(await exported()).toMatchObject([{ endpoint: href, userId: 'ann' }]);
  });

  it('says how it has read a list of another service, and counts what it left out by reason', async () => {
    const [first, second] = [subscriptionJson(), subscriptionJson()];
    const rows = [
      ['endpoint', 'public_key', 'auth_token', 'subscribable_id', 'tags', 'id'],
      [first.endpoint, first.keys.p256dh, first.keys.auth, '7', 'news|offers', '1'],
      [second.endpoint, '', '', '8', 'news', '2'],
      ['token', '', '', '9', '', '3'],
    ];
    await writeFile(file, gzipSync(rows.map((cells) => `${cells.join(';')}\r\n`).join('')));
    const args = ['subscriptions', 'import', projectId, file];
    const { code, output, messages } = await operator.runLocal(args, { typed: '' });
    expect(code).toBe(0);
    expect(messages).toContain('1/1');
    expect(stripVTControlCharacters(output)).toBe(
      'Read as CSV (gzip) of Laravel: endpoint from endpoint, p256dh from public_key, auth from auth_token, userId from subscribable_id.\n' +
        'Not used: tags, id.\n' +
        '1 added, 0 updated, 0 unchanged; 1 with user id.\n' +
        'Rows left out:\n' +
        "  1 without the browser's keys\n" +
        '  1 not web push: a token, an address or a number\n' +
        counted(1),
    );
    expect(await operator.runJson([...args, '--dry-run'])).toMatchObject({
      ...{ unchanged: 1, skipped: { noKeys: 1, notWebPush: 1 } },
      list: { form: 'CSV', packing: 'gzip', source: 'Laravel', unused: ['tags', 'id'] },
    });
  });

  it('prints the warning of a list', async () => {
    const { endpoint, keys } = subscriptionJson();
    const header = 'identifier,device_type,web_p256,web_auth\n';
    await writeFile(
      file,
      `${header}${endpoint.replace('/v2/', '/v1/')},8,${keys.p256dh},${keys.auth}\n`,
    );
    const args = ['subscriptions', 'import', projectId, file, '--dry-run'];
    const { output } = await operator.runLocal(args, { typed: '' });
    expect(stripVTControlCharacters(output)).toContain(
      '\nWarning: this list of OneSignal has no column notification_types',
    );
    expect(await operator.runJson(args)).toMatchObject({
      list: { warning: expect.stringContaining('notification_types') },
    });
  });

  it('makes channels of the tags that are named', async () => {
    const tagged = { ...subscriptionJson(), tags: ['Offers', 'plan-gold'] };
    await writeFile(file, JSON.stringify([tagged]));
    const args = ['subscriptions', 'import', projectId, file, '--channels-from-tags'];
    const refused = await operator.runLocal([...args, 'Offers']);
    expect(refused).toMatchObject({ code: 2, output: '' });
    expect(refused.messages).toContain(
      'Each must be 1 to 32 lowercase letters, digits or hyphens.',
    );
    expect(await operator.runJson([...args, 'news,offers'])).toMatchObject({
      having: { channels: 1 },
    });
    expect(await exported()).toMatchObject([{ channels: ['offers'] }]);
  });

  it('fails if no row is a subscription, or if the file is none of the known ones', async () => {
    const args = ['subscriptions', 'import', projectId, file, '--json'];
    await writeFile(file, 'token,user_id\nx:APA91b,ann\n');
    const { code, output, messages } = await operator.runLocal(args);
    expect([code, JSON.parse(output).skipped]).toEqual([1, { notWebPush: 1 }]);
    expect(JSON.parse(messages).error.code).toBe('nothing_imported');
    for (const empty of ['', 'endpoint,p256dh,auth\n', '[]']) {
      await writeFile(file, empty);
      const refused = await operator.runLocal(args.slice(0, -1));
      expect([empty, refused.code, refused.messages]).toEqual([
        empty,
        1,
        expect.stringContaining('The list has no rows.'),
      ]);
    }
    await writeFile(file, 'url,name\nhttps://e/1,ann\n');
    const refused = await operator.runLocal(args);
    expect([refused.code, refused.output]).toEqual([1, '']);
    expect(JSON.parse(refused.messages).error.code).toBe('unknown_columns');
  });

  it('says once that the file is the export of a project', async () => {
    const file = join(operator.directory, `${projectId}.project`);
    await operator.runLocal(['export', projectId, file]);
    expect(await operator.runLocal(['subscriptions', 'import', projectId, file])).toEqual({
      ...{ code: 1, output: '' },
      messages: 'The file is the export of a project: use the command import.\n',
    });
  });

  it('names rows of an array by their numbers', async () => {
    await writeFile(file, `[${JSON.stringify(subscriptionJson())},\n7]`);
    const { code, output } = await operator.runLocal(['subscriptions', 'import', projectId, file]);
    expect(code).toBe(1);
    expect(output).toContain('row 2, line 2: must be an object\n1 added,');
  });

  it('fails for an unreadable file', async () => {
    const args = ['subscriptions', 'import', projectId, `${file}-none`];
    const { code, messages } = await operator.runLocal(args);
    expect(code).toBe(1);
    expect(messages).toContain('Cannot read');
  });

  it.each([[[]], [['--dry-run']]])(
    'counts in its summary what it did, not what it left out (options %j)',
    async (options) => {
      await operator.registry.set(projectId, { subscriberCap: 1 });
      await writeFile(
        file,
        linesOf(Array.from({ length: 3 }, () => subscriptionJson({ userId: 'ada' }))),
      );
      const args = ['subscriptions', 'import', projectId, file, ...options];
      const { output, messages } = await operator.runLocal(args);
      expect(output).toContain(`1 added, 0 updated, 0 unchanged; 1 with user id.\n${counted(1)}`);
      expect(messages).toContain('Left out: 2 subscriptions');
    },
  );
});

describe('subscriptions export', () => {
  const untrusted = 'a\u0085\u009b2J\u202eb\u2028c\u2029é';

  it('writes the same lines each time, with every character in a file and in a pipe', async () => {
    await importAll(Array.from({ length: 30 }, () => subscriptionJson({ userId: untrusted })));
    const printed = await operator.runLocal(['subscriptions', 'export', projectId]);
    expect(printed.output).toContain(untrusted);
    const target = `${file}.export`;
    const args = ['subscriptions', 'export', projectId, target];
    const result = await operator.runLocal(args, { typed: '' });
    expect(result.output).toBe(`Exported 30 subscriptions to ${target}.\n`);
    expect(readFileSync(target, 'utf8')).toBe(printed.output);
  });

  it('escapes what could control a terminal, as JSON that has the same values', async () => {
    await importAll([subscriptionJson({ userId: untrusted })]);
    const printed = await operator.runLocal(['subscriptions', 'export', projectId], { typed: '' });
    expect(printed.code).toBe(0);
    expect(printed.output).not.toMatch(/[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
    expect(printed.output).toContain('é');
    expect(printed.output.split('\n').map((line) => line && JSON.parse(line))).toEqual([
      expect.objectContaining({ userId: untrusted }),
      '',
    ]);
  });

  it('asks before it replaces a file', async () => {
    await writeFile(file, 'precious');
    const args = ['subscriptions', 'export', projectId, file];
    const refused = await operator.runLocal(args, { typed: 'no\n' });
    expect(refused.code).toBe(1);
    expect(refused.messages).toContain(`This replaces the file ${file}.`);
    expect(refused.messages).toContain('Nothing was written.');
    expect((await operator.runLocal(args)).messages).toContain('use --yes');
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect(await operator.runLocal([...args, '--yes'])).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe('');
  });
});

test('subscriptions count shows push services and hours of creation, and how to remove an hour and a push service of no browser', async () => {
  const createdAt = '2026-11-20T01:59:59.000Z';
  const junk = Array.from({ length: 3 }, () => ({ ...subscriptionJson(), createdAt }));
  await importAll([...junk, { ...subscriptionJson(), createdAt: '2026-11-21T00:00:00.000Z' }]);
  const stranger = 'https://localhost:4001';
  const endpoint = `${stranger}/junk`;
  const later = { ...subscriptionJson(), endpoint, createdAt: '2026-11-22T00:00:00.000Z' };
  await importAll([later]);
  const count = ['subscriptions', 'count', projectId];
  const hours = { '2026-11-20T01:00:00Z': 3, '2026-11-21T00:00:00Z': 1, '2026-11-22T00:00:00Z': 1 };
  const { pushServices, ...counts } = await operator.runJson(count);
  expect(counts).toEqual({ subscriptions: 5, hours });
  expect(Object.values(pushServices)).toEqual([4, 1]);
  const { output } = await operator.runLocal(count);
  expect(output).toMatch(/\n2026-11-20T01:00:00Z +3\n2026-11-2\dT00:00:00Z +1\n/);
  const [, prune = ''] = /carillon -- (.+--created-before.+) --local\n/.exec(output)!;
  expect(await operator.runJson(prune.split(' '))).toMatchObject({ removed: 3, kept: 2 });
  expect(output.match(/--push-origin \S+/g)).toEqual([`--push-origin ${stranger}`]);
});

describe('subscriptions prune', () => {
  const prune = (...options: string[]) => ['subscriptions', 'prune', projectId, ...options];
  /** Three without a visit for 40 days, and two with one 20 days ago. */
  beforeEach(async () => {
    const value = (days: number) => ({ ...subscriptionJson(), updatedAt: daysAgo(days) });
    await importAll([...[40, 40, 40].map(value), ...[20, 20].map(value)]);
  });

  it('removes them after the operator has agreed, and keeps the others', async () => {
    const { code, output, messages } = await operator.runLocal(prune('--unseen-days', '30'), {
      typed: `${projectId}\n`,
    });
    expect(code).toBe(0);
    expect(stripVTControlCharacters(messages)).toContain(
      `This permanently deletes 3 subscriptions of "${projectId}" and keeps 2.`,
    );
    expect(output).toBe('Removed 3 subscriptions without a visit for 30 days; 2 kept.\n');
    expect(await subscribers()).toBe(2);
    expect(await exported()).toHaveLength(2);
  });

  it('changes nothing in a dry run, without asking', async () => {
    const { code, output } = await operator.runLocal(prune('--unseen-days', '30', '--dry-run'));
    expect({ code, output }).toEqual({
      code: 0,
      output:
        'Would remove 3 subscriptions without a visit for 30 days; 2 kept.\n' +
        'This was a dry run: nothing was changed.\n',
    });
    expect(await operator.runJson(prune('--unseen-days', '30', '--dry-run'))).toEqual({
      dryRun: true,
      removed: 3,
      kept: 2,
    });
    expect(await subscribers()).toBe(5);
  });

  it('removes those of one origin that were created in a time', async () => {
    const junk = (origin: string, createdAt: string) => ({
      ...subscriptionJson({ endpoint: `${origin}/${createdAt}` }),
      createdAt,
    });
    const days = ['2026-11-01', '2026-11-02', '2026-11-03'].map((day) => `${day}T12:00:00.000Z`);
    const origins = ['https://gateway.push.apple.com', 'https://web.push.apple.com'];
    await importAll(origins.flatMap((origin) => days.map((day) => junk(origin, day))));
    const options = [
      '--push-origin=https://gateway.push.apple.com/',
      '--created-after=2026-11-02T13:00:00+01:00',
      '--created-before=2026-11-03T12:00:00Z',
    ];
    const which =
      'created since 2026-11-02T12:00:00.000Z, created before 2026-11-03T12:00:00.000Z, ' +
      'at https://gateway.push.apple.com';
    const one = await operator.runLocal(prune(...options, '--yes'));
    expect(one.output).toBe(`Removed 1 subscription ${which}; 10 kept.\n`);
    const all = await operator.runJson(prune(options[0]!, '--yes'));
    expect(all).toMatchObject({ removed: 2, kept: 8 });
    const left = (await exported()).map(({ endpoint }) => new URL(String(endpoint)).origin);
    expect(left).not.toContain(origins[0]);
    expect(left.filter((origin) => origin === origins[1])).toHaveLength(3);
  });

  it('removes those that the last send kept though a push service calls them gone', async () => {
    const { dynamo, tables } = operator.database;
    const { subscriptions: table } = projectTables(tables);
    const { ref } = (await operator.registry.find(projectId))!;
    for await (const [first] of subscriptionPages(dynamo, table, ref)) {
      if (first === undefined) continue;
      const store = subscriptionStore(dynamo, projectTables(tables), () => new Date());
      await store.mark(ref, [[first.endpointHash, Date.now() - 1000]]);
      break;
    }
    const { output } = await operator.runLocal(prune('--failing=gone_unconfirmed', '--yes'));
    expect(output).toBe('Removed 1 subscription that a push service calls gone; 4 kept.\n');
  });

  it('asks nothing if there is nothing to remove', async () => {
    const { code, output } = await operator.runLocal(prune('--unseen-days', '41'));
    expect({ code, output }).toEqual({
      code: 0,
      output: 'Removed 0 subscriptions without a visit for 41 days; 5 kept.\n',
    });
  });

  it('removes nothing if the operator does not agree, or cannot be asked', async () => {
    const days = ['--unseen-days', '30'];
    const refused = await operator.runLocal(prune(...days), { typed: 'no\n' });
    expect(refused).toMatchObject({ code: 1, output: '' });
    expect(stripVTControlCharacters(refused.messages)).toContain('Nothing was removed.');
    const silent = await operator.runLocal(prune(...days, '--json'));
    expect(silent.code).toBe(1);
    expect(JSON.parse(silent.messages).error.code).toBe('confirmation_needed');
    expect(await subscribers()).toBe(5);
  });

  it.each([
    ['no condition', '--unseen-days', []],
    ['too few days', '--unseen-days', ['29']],
    ['a fraction', '--unseen-days', ['30.5']],
    ['a number that is not exact', '--unseen-days', ['9'.repeat(20)]],
    ['a time without its offset', '--created-after', ['2026-11-01T12:00']],
    ['a day', '--created-before', ['2026-11-01']],
    ['a reason that is not stored', '--failing', ['refused']],
    ['an endpoint', '--push-origin', ['https://web.push.apple.com/x']],
  ])('refuses %s, with exit code 2', async (_, option, values) => {
    const options = values.map((value) => `${option}=${value}`);
    const { code, messages } = await operator.runLocal(prune(...options, '--yes', '--json'));
    const { error } = JSON.parse(messages);
    expect([code, error.code, error.message]).toEqual([
      2,
      'usage',
      expect.stringContaining(option),
    ]);
    expect(await subscribers()).toBe(5);
  });
});

const withKey = (applicationServerKey: string) => ({
  ...subscriptionJson(),
  applicationServerKey,
});

const countPreviousPair = async () =>
  operator.registry.countPreviousPair((await operator.registry.find(projectId))!);

describe('the application server key of an imported subscription', () => {
  /** The keys of a project whose key was rotated. */
  const previous = vapid.publicKey;
  let current: string;

  beforeEach(async () => {
    current = (await operator.registry.rotateVapid(projectId)).vapidPublicKey;
    const { dynamo, tables } = operator.database;
    await rotatedLongAgo(dynamo, tables.PROJECTS_TABLE, projectId);
  });

  it('keeps the key of each line; without one, a new subscription has the current key', async () => {
    const [old, young, unknown] = [withKey(previous), withKey(current), subscriptionJson()];
    expect((await importAll([old, young, unknown])).report).toMatchObject({ created: 3 });
    const values = await exported();
    for (const value of [old, young, { ...unknown, applicationServerKey: current }]) {
      expect(values).toContainEqual(expect.objectContaining(value));
    }
    expect(await countPreviousPair()).toBe(1);
    expect((await importAll(values)).report).toMatchObject({ unchanged: 3 });
  });

  it('changes the key of a stored subscription only to one that its line has', async () => {
    const [first, second] = [withKey(previous), withKey(previous)];
    await importAll([first, second]);
    const { applicationServerKey, ...withoutKey } = first;
    const changed = { ...withoutKey, keys: subscriptionJson().keys };
    const { report } = await importAll([changed, { ...second, applicationServerKey: current }]);
    expect(report).toMatchObject({ updated: 2 });
    const values = await exported();
    expect(values).toContainEqual(expect.objectContaining({ ...changed, applicationServerKey }));
    expect(values).toContainEqual(
      expect.objectContaining({ ...second, applicationServerKey: current }),
    );
    // And back to the first pair, whose number is not stored.
    expect((await importAll([second])).report).toMatchObject({ updated: 1 });
    expect(await exported()).toContainEqual(expect.objectContaining(second));
  });

  it('takes the named key where a line has none', async () => {
    await writeFile(file, linesOf([subscriptionJson(), withKey(current)]));
    const args = ['subscriptions', 'import', projectId, file, '--application-server-key'];
    const { publicKey } = newVapidPair();
    const refused = await operator.runLocal([...args, publicKey]);
    expect(refused.messages).toContain(`does not have the application server key ${publicKey}`);
    expect(await operator.runJson([...args, previous])).toMatchObject({ created: 2 });
    expect(await countPreviousPair()).toBe(1);
  });

  it('skips lines with a key that is not one of the project', async () => {
    const { publicKey } = newVapidPair();
    const { code, report } = await importAll([withKey(publicKey), withKey('x')]);
    expect(code).toBe(1);
    expect(report).toMatchObject({
      created: 0,
      invalid: 2,
      mistakes: [
        {
          line: 1,
          message: 'applicationServerKey must be a key of the project: see carillon show',
        },
        { line: 2, message: expect.stringContaining('applicationServerKey must be base64url') },
      ],
    });
    expect(await exported()).toEqual([]);
  });

  it('exports no subscription whose key was dropped', async () => {
    await importAll([withKey(previous), withKey(current)]);
    const interrupted = { onWait: () => {}, sleep: () => Promise.reject(new Error('Ctrl-C')) };
    await operator.registry
      .dropPreviousVapid(projectId, { isForced: true, waiting: interrupted })
      .catch(() => {});
    expect(await exported()).toEqual([expect.objectContaining({ applicationServerKey: current })]);
  });
});

const folder = useFolder();

async function* pages() {
  yield 'new, ';
  yield 'complete';
}

it('replaces a file, and what an earlier call left, by one that only its owner can read', async () => {
  const file = folder.write('file', 'old');
  folder.write('file.unfinished', 'left');
  await writeCompleteFile(file, pages());
  expect(readFileSync(file, 'utf8')).toBe('new, complete');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder.path)).toEqual(['file']);
});

it('keeps the old file and leaves no other one if the text fails', async () => {
  const file = folder.write('file', 'old');
  async function* failing() {
    yield 'secret';
    throw new Error('The database failed.');
  }
  await expect(writeCompleteFile(file, failing())).rejects.toThrow('The database failed.');
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(readdirSync(folder.path)).toEqual(['file']);
});

it.each([
  ['none/file', 'ENOENT: no such file or directory'],
  ['file/under', 'ENOTDIR: not a directory'],
  ['', 'it is not a regular file.'],
])('reads nothing if the file "%s" cannot be written', async (name, reason) => {
  folder.write('file', '');
  let isRead = false;
  async function* watched() {
    isRead = true;
    yield 'secret';
  }
  const file = join(folder.path, name);
  await expect(writeCompleteFile(file, watched())).rejects.toMatchObject({
    code: 'unwritable_file',
    message: expect.stringContaining(`Cannot write ${file}: ${reason}`),
  });
  expect(isRead).toBe(false);
  expect(readdirSync(folder.path)).toEqual(['file']);
});
