import { importList } from '../../../admin/commands/import.ts';
import type { ImportedSubscription } from '../../../admin/store/subscription-import.ts';
import { lineReader } from '../../../admin/subscriptions/line.ts';
import { ListColumns } from '../../../admin/subscriptions/list-columns.ts';
import { openList } from '../../../admin/subscriptions/list-file.ts';
import { newVapidPair } from '../../../admin/vapid-pair.ts';
import { choiceOf } from '../../../lambdas/store/items.ts';
import { knownProject } from '../../fixtures/known-project.ts';
import { subscriptionJson } from '../../fixtures/subscription-lines.ts';

const { publicKey } = newVapidPair();
const project = { ...knownProject, vapid: { current: { number: 0, publicKey } } };
const now = new Date('2026-11-26T12:00:00.000Z');

/** Reads a list as the command does. @returns what would be stored, and the report. */
async function read(list: string | object, channelsFromTags?: readonly string[]) {
  const text = typeof list === 'string' ? list : JSON.stringify(list);
  async function* bytes() {
    yield text;
  }
  const file = await openList(bytes());
  const columns = new ListColumns(channelsFromTags, file.columns);
  const stored: ImportedSubscription[] = [];
  const report = await importList(file, {
    projectId: project.projectId,
    columns,
    readLine: lineReader(project, [], () => now),
    async importBatch(_, batch) {
      stored.push(...batch);
      return {
        created: batch.length,
        updated: 0,
        unchanged: 0,
        overCap: 0,
        erased: 0,
        stored: batch,
      };
    },
    sleep: async () => {},
  });
  const found = stored.map((item) => ({
    endpoint: item.origin + item.path,
    auth: Buffer.from(item.auth).toString('base64url'),
    ...choiceOf(project.ref, item),
    createdAt: new Date(item.createdAt).toISOString(),
    updatedAt: new Date(item.updatedAt).toISOString(),
  }));
  const ofOne = (endpoint: string) => found.find((one) => one.endpoint === endpoint);
  return { ...report, columns, found, ofOne };
}

const standard = (text: string) => Buffer.from(text, 'base64url').toString('base64');
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
/** CSV of rows that have the same columns. */
const csv = (rows: readonly Readonly<Record<string, string>>[]) =>
  [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))]
    .map((cells) => `${cells.map(quoted).join()}\n`)
    .join('');

const nowhere = now.toISOString();
const visited = { createdAt: '2026-01-05T10:00:00.000Z', updatedAt: '2026-10-01T10:00:00.000Z' };

describe('OneSignal', () => {
  const row = (overrides: Readonly<Record<string, string>> = {}) => {
    const { endpoint, keys } = subscriptionJson();
    return {
      id: 'c0',
      identifier: endpoint.replace('/v2/', '/v1/'),
      device_type: '8',
      tags: '{"news":"1","Offers":"true","old":"0","plan":"gold"}',
      last_active: String(Date.parse(visited.updatedAt) / 1000),
      created_at: visited.createdAt.replace('T', ' ').replace('.000Z', ''),
      invalid_identifier: 'f',
      external_user_id: 'cy, the "second"',
      notification_types: '1',
      web_auth: standard(keys.auth),
      web_p256: standard(keys.p256dh),
      ...overrides,
    };
  };
  const fcm = 'https://fcm.googleapis.com/fcm/send/x';

  it('has user ids, tags and times', async () => {
    const one = row();
    const { ofOne, columns } = await read(csv([one]), ['news', 'offers', 'old', 'sport']);
    expect(ofOne(one.identifier)).toEqual({
      endpoint: one.identifier,
      auth: one.web_auth.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
      userId: 'cy, the "second"',
      channels: ['news', 'offers'],
      ...visited,
    });
    expect(columns.source).toBe('OneSignal');
    expect(columns.taken).toMatchObject({ endpoint: 'identifier', updatedAt: 'last_active' });
    expect([...columns.unused]).toEqual(['id']);
    expect(columns.warning).toBeUndefined();
    const { found } = await read(
      csv([row({ tags: '' }), row({ tags: '{}' }), row({ tags: '{' })]),
      ['news'],
    );
    expect(found.map(({ channels }) => channels)).toEqual([undefined, undefined, undefined]);
    expect((await read(csv([row()]))).found[0]!.channels).toBeUndefined();
  });

  it('without its column of opt-outs warns that these people are imported', async () => {
    const { notification_types: _, ...asked } = row();
    const { found, columns } = await read(csv([asked]));
    expect(found).toHaveLength(1);
    expect(columns.warning).toMatch(/no column notification_types: .* opted out .*Export again/);
  });

  it.each([
    ['de', 'de'],
    ['zh-Hant', 'zh-Hant'],
    ['pt_br', 'pt-BR'],
    ['', undefined],
    ['N/A', undefined],
  ])('has the language %j, which becomes %s', async (language, locale) => {
    const { found, having, invalid } = await read(csv([row({ language })]));
    expect(found[0]!.locale).toBe(locale);
    expect([having.locale, invalid]).toEqual([locale === undefined ? 0 : 1, 0]);
  });

  it.each<[string, object, object]>([
    ['Chrome', { device_type: '5', identifier: fcm }, {}],
    ['Safari', { device_type: '17', identifier: 'https://web.push.apple.com/x' }, {}],
    ['no subscription type', { notification_types: '' }, {}],
    [
      'Firefox under the key that all customers share',
      { identifier: subscriptionJson().endpoint },
      { otherKey: 1 },
    ],
    ['an opt-out', { notification_types: '-2' }, { notSubscribed: 1 }],
    ['0 for an opt-out', { notification_types: '0' }, { notSubscribed: 1 }],
    ['an invalid identifier', { invalid_identifier: 't' }, { notSubscribed: 1 }],
    ['Safari before web push', { device_type: '7', identifier: 'A5F0' }, { notWebPush: 1 }],
    ['e-mail', { device_type: '11', identifier: 'hal@example.com' }, { notWebPush: 1 }],
    ['no device type', { device_type: '' }, { notWebPush: 1 }],
    ['no keys', { web_auth: '' }, { noKeys: 1 }],
  ])('has rows of %s', async (_, overrides, skipped) => {
    expect(await read(csv([row(), row({ ...overrides })]))).toMatchObject({
      skipped,
      created: 2 - Object.keys(skipped).length,
      invalid: 0,
    });
  });

  it('is refused without the columns that have to be asked for', async () => {
    const { web_auth, ...others } = row();
    await expect(read(csv([others]))).rejects.toMatchObject({
      code: 'missing_columns',
      message: expect.stringMatching(/OneSignal has no column of auth\. Export again, .*web_auth/),
    });
    const { tags, ...untagged } = row();
    await expect(read(csv([untagged]), ['news'])).rejects.toThrow('has no column of tags');
  });
});

describe('other services and libraries', () => {
  const value = subscriptionJson();
  const { endpoint, keys } = value;

  it.each<[string, object | string, object]>([
    [
      'Pushpad',
      [
        {
          id: 1,
          endpoint,
          ...keys,
          uid: 'ann',
          tags: ['news'],
          last_click_at: nowhere,
          created_at: visited.createdAt,
        },
      ],
      { userId: 'ann', channels: ['news'], createdAt: visited.createdAt, updatedAt: nowhere },
    ],
    ['Pushpad without user', [{ id: 1, endpoint, ...keys, uid: null, tags: [] }], {}],
    [
      'Perfecty',
      csv([
        {
          id: '1',
          wp_user_id: '3',
          uuid: 'f6',
          endpoint,
          key_auth: keys.auth,
          key_p256dh: keys.p256dh,
        },
      ]),
      { userId: '3' },
    ],
    [
      'Perfecty without user',
      csv([
        {
          id: '1',
          wp_user_id: '0',
          uuid: 'f6',
          endpoint,
          key_auth: keys.auth,
          key_p256dh: keys.p256dh,
        },
      ]),
      {},
    ],
    [
      'Laravel',
      csv([
        {
          subscribable_type: 'App\\Models\\User',
          subscribable_id: '7',
          endpoint,
          public_key: keys.p256dh,
          auth_token: keys.auth,
          content_encoding: 'aesgcm',
          created_at: '2026-01-05 10:00:00',
          updated_at: '2026-10-01 12:00:00+02',
        },
      ]),
      { userId: '7', ...visited },
    ],
    ['web-push-php', [{ endpoint, publicKey: keys.p256dh, authToken: keys.auth }], {}],
    [
      'browsers, with a number as user id',
      [{ ...value, _id: '65f0', userId: 42 }],
      { userId: '42' },
    ],
    [
      'browsers, in an object',
      [{ subscription: { endpoint, keys }, userId: 'ben' }],
      { userId: 'ben' },
    ],
    [
      'browsers, on a line with an object',
      `${JSON.stringify({ subscription: { endpoint, keys }, user_id: 'ben' })}\n`,
      { userId: 'ben' },
    ],
    [
      'a column with JSON',
      csv([{ id: '7', 'User ID': 'ben', subscription: JSON.stringify(value) }]),
      { userId: 'ben' },
    ],
    [
      'columns with dots',
      csv([{ endpoint, 'keys.p256dh': keys.p256dh, 'KEYS.AUTH': keys.auth }]),
      {},
    ],
    [
      'columns of one table',
      csv([
        {
          Endpoint: endpoint,
          p256dh: `${standard(keys.p256dh)}`,
          Auth: standard(keys.auth),
          channels: 'news, offers',
        },
      ]),
      { channels: ['news', 'offers'] },
    ],
    [
      'an export of Carillon as an array',
      [
        {
          ...value,
          userId: 'ann',
          channels: ['news'],
          ...visited,
          applicationServerKey: publicKey,
        },
      ],
      { userId: 'ann', channels: ['news'], ...visited },
    ],
    [
      'times in milliseconds',
      [{ endpoint, ...keys, updated_at: now.getTime() }],
      { updatedAt: nowhere },
    ],
    ['malformed times', [{ endpoint, ...keys, updated_at: 'yesterday' }], { updatedAt: nowhere }],
  ])('%s', async (_, list, choice) => {
    const tags = JSON.stringify(list).includes('"tags":["') ? ['news'] : undefined;
    const { found, invalid, mistakes } = await read(list, tags);
    expect({ invalid, mistakes }).toEqual({ invalid: 0, mistakes: [] });
    expect(found).toEqual([
      {
        endpoint,
        auth: keys.auth,
        userId: undefined,
        channels: undefined,
        createdAt: nowhere,
        updatedAt: nowhere,
        ...choice,
      },
    ]);
  });

  it('django-webpush has users and groups apart, in any order', async () => {
    const { keys: otherKeys, endpoint: other } = subscriptionJson();
    const rows = [
      {
        model: 'webpush.pushinformation',
        pk: 1,
        fields: { user: 5, subscription: 1, group: null },
      },
      {
        model: 'webpush.subscriptioninfo',
        pk: 1,
        fields: { browser: 'chrome', endpoint, ...keys },
      },
      { model: 'webpush.subscriptioninfo', pk: 2, fields: { endpoint: other, ...otherKeys } },
      {
        model: 'webpush.pushinformation',
        pk: 2,
        fields: { user: ['ben'], subscription: 2, group: 1 },
      },
      {
        model: 'webpush.pushinformation',
        pk: 3,
        fields: { user: null, subscription: 2, group: 2 },
      },
      { model: 'webpush.group', pk: 1, fields: { name: 'news' } },
      { model: 'webpush.group', pk: 2, fields: { name: 'offers' } },
    ];
    const { created, ofOne } = await read(rows, ['news', 'offers']);
    expect(created).toBe(2);
    expect(ofOne(endpoint)).toMatchObject({ userId: '5', channels: undefined });
    expect(ofOne(other)).toMatchObject({ userId: 'ben', channels: ['news', 'offers'] });
  });

  it.each<[string, object | string, object]>([
    ['tokens of Firebase', 'token,user_id\nx:APA91b,ann\n', { notWebPush: 1 }],
    [
      'endpoints of Pinpoint',
      '{"Id":"1","ChannelType":"GCM","Address":"x:APA91b"}\n',
      { notWebPush: 1 },
    ],
    ['no endpoint', [{ endpoint: '', ...keys }], { notWebPush: 1 }],
    ['keys that are null', [{ endpoint, p256dh: null, auth: null }], { noKeys: 1 }],
    ['keys that are NULL', `endpoint,public_key,auth_token\n${endpoint},NULL,\\N\n`, { noKeys: 1 }],
    [
      'another key',
      [{ ...value, applicationServerKey: newVapidPair().publicKey }],
      { otherKey: 1 },
    ],
    [
      'somebody who is not active',
      csv([{ endpoint, uuid: 'f6', key_auth: keys.auth, key_p256dh: keys.p256dh, is_active: '0' }]),
      { notSubscribed: 1 },
    ],
  ])('counts %s', async (_, list, skipped) => {
    expect(await read(list)).toMatchObject({ skipped, created: 0, invalid: 0 });
  });

  it.each<[string, object | string, string]>([
    [
      'a user id that is not exact',
      [{ ...value, user_id: 2 ** 60 }],
      'user_id must be text, or a whole',
    ],
    [
      'a user id that is an object',
      [{ ...value, userId: { $oid: '65f0' } }],
      'userId must be text',
    ],
    [
      'a user id that is too long',
      [{ ...value, userId: 'x'.repeat(257) }],
      'userId must be text of 1',
    ],
    [
      'malformed keys',
      [{ endpoint, p256dh: 'x', auth: keys.auth }],
      'keys.p256dh must be base64url',
    ],
    ['an unknown push service', [{ ...value, endpoint: 'https://push.example/1' }], 'push.example'],
    ['other columns in an array', [{ address: endpoint, keys }], 'address is not a field'],
    ['a number', [7], 'must be an object'],
    ['null', [null], 'must be an object'],
    [
      'users of several kinds, whose ids may be the same',
      csv(
        ['App\\User', 'App\\Team'].map((subscribable_type) => ({
          ...{ subscribable_type, subscribable_id: '7', endpoint },
          ...{ public_key: keys.p256dh, auth_token: keys.auth },
        })),
      ),
      'subscribable_type must be App\\User as before',
    ],
  ])('names a row with %s', async (_, list, message) => {
    const { invalid, mistakes } = await read(list);
    expect(invalid).toBe(1);
    expect(mistakes[0]!.message).toContain(message);
  });
});

it.each([
  [
    'without endpoint',
    'id;name\n1;2\n',
    'unknown_columns',
    /columns id, name\. .* OneSignal \(identifier, device_type\)/,
  ],
  [
    'without header',
    'https://e/1,x,y\n',
    'unknown_columns',
    /The first line must name the columns/,
  ],
  ['without keys', 'endpoint,user_id\nhttps://e/1,x\n', 'unknown_columns', /Known are: /],
  [
    'with a column twice',
    'endpoint,auth,p256dh,Auth\n1,2,3,4\n',
    'ambiguous_columns',
    /column auth twice/,
  ],
])('CSV %s is refused', async (_, text, code, message) => {
  await expect(read(text)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});
