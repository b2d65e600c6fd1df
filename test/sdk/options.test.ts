import { channelListPattern, channelPattern } from '../../contract/formats.ts';
import {
  type CarillonOptions,
  readCloseOptions,
  readOptions,
  readSubscribeOptions,
  type SubscribeOptions,
} from '../../sdk/client/options.ts';

const site = 'https://shop.example';
const page = `${site}/cart/`;
const key =
  'BNbxGYNMhEIi9rgmgS4zEbQ0jVmC0MxrHcVwdkqGfNnuFqrHbkqUb3eRjX8UBnKMYBQWCzgYDTjRkCgLlIDtMTc';
const options: CarillonOptions = {
  baseUrl: 'https://push.example/',
  projectId: 'demo',
  applicationServerKey: key,
};

test('by default, the service worker and its scope are at the root of the site', () => {
  expect(readOptions(options, page, site)).toEqual({
    project: { baseUrl: 'https://push.example', projectId: 'demo', applicationServerKey: key },
    serviceWorker: 'https://shop.example/carillon-sw.js',
    scope: 'https://shop.example/',
  });
});

test('the default scope is the folder of the service worker', () => {
  const serviceWorker = '/push/carillon-sw.js';
  const { scope } = readOptions({ ...options, serviceWorker }, page, site);
  expect(scope).toBe('https://shop.example/push/');
  const given = readOptions({ ...options, serviceWorker, scope: '/push/deep/' }, page, site);
  expect(given.scope).toBe('https://shop.example/push/deep/');
});

test('a key in padded base64 is converted to base64url', () => {
  const other = `${key.replaceAll('-', '+').replaceAll('_', '/')}=`;
  const { project } = readOptions({ ...options, applicationServerKey: other }, page, site);
  expect(project.applicationServerKey).toBe(key);
});

const aPrivateKey = 'Hq2cLrvJvqAa6BHkUjNnqhGxWHwFyhJ0nVbWfn2WwYk';
const aSecretKey = `carillon_sk_${aPrivateKey}`;
const baseUrlAdvice = 'such as "https://push.example.com"';
const projectIdAdvice = '1 to 64 lowercase letters, digits or hyphens';
const keyAdvice = '87 characters that start with "B"';
const workerAdvice = 'such as "/carillon-sw.js"';

test.each<[string, string, Record<string, unknown>, string]>([
  ['a missing base URL', 'baseUrl', { baseUrl: undefined }, baseUrlAdvice],
  ['an empty base URL', 'baseUrl', { baseUrl: '' }, baseUrlAdvice],
  ['a malformed base URL', 'baseUrl', { baseUrl: 'https://[' }, baseUrlAdvice],
  ['a base URL with only host and port', 'baseUrl', { baseUrl: 'localhost:4320' }, baseUrlAdvice],
  ['a base URL with only a host', 'baseUrl', { baseUrl: 'push.example' }, baseUrlAdvice],
  ['a base URL with only a path', 'baseUrl', { baseUrl: '/push' }, baseUrlAdvice],
  ['a base URL with another scheme', 'baseUrl', { baseUrl: 'ws://push.example' }, baseUrlAdvice],
  ['a base URL with a path', 'baseUrl', { baseUrl: 'https://push.example/api/v1' }, baseUrlAdvice],
  ['a base URL with a query', 'baseUrl', { baseUrl: 'https://push.example/?a=b' }, baseUrlAdvice],
  ['a base URL with a fragment', 'baseUrl', { baseUrl: 'https://push.example/#a' }, baseUrlAdvice],
  ['a base URL with a user name', 'baseUrl', { baseUrl: 'https://me@push.example' }, baseUrlAdvice],
  [
    'a base URL that is a URL object',
    'baseUrl',
    { baseUrl: new URL('https://push.example') },
    baseUrlAdvice,
  ],
  ['a missing project id', 'projectId', { projectId: undefined }, projectIdAdvice],
  ['a project id in capitals', 'projectId', { projectId: 'Demo' }, projectIdAdvice],
  ['a project id with a slash', 'projectId', { projectId: 'demo/notifications' }, projectIdAdvice],
  ['a project id that is a number', 'projectId', { projectId: 7 }, projectIdAdvice],
  ['a missing key', 'applicationServerKey', { applicationServerKey: undefined }, keyAdvice],
  ['a short key', 'applicationServerKey', { applicationServerKey: 'short' }, keyAdvice],
  [
    'a compressed key',
    'applicationServerKey',
    { applicationServerKey: `A${key.slice(1)}` },
    keyAdvice,
  ],
  [
    'a private key',
    'applicationServerKey',
    { applicationServerKey: aPrivateKey },
    'this is a private or secret key',
  ],
  [
    'a secret key',
    'applicationServerKey',
    { applicationServerKey: aSecretKey },
    'this is a private or secret key',
  ],
  ['a malformed worker URL', 'serviceWorker', { serviceWorker: 'http://[' }, workerAdvice],
  [
    'a worker URL on another origin',
    'serviceWorker',
    { serviceWorker: 'https://cdn.example/carillon-sw.js' },
    workerAdvice,
  ],
  ['a worker URL that is null', 'serviceWorker', { serviceWorker: null }, workerAdvice],
  ['a scope on another origin', 'scope', { scope: 'https://cdn.example/' }, 'such as "/shop/"'],
  ['a user id that is a number', 'userId', { userId: 42 }, 'such as String(user.id)'],
  ['a channel that is not in a list', 'channels', { channels: 'news' }, 'use a list of names'],
  ['a channel in capitals', 'channels', { channels: ['News'] }, '1 to 32 lowercase letters'],
  ['a channel that is a number', 'channels', { channels: [2026] }, 'use a list of names'],
])('%s: the error names the option and a correct form', (_, name, wrong, advice) => {
  const read = () => readOptions({ ...options, ...wrong } as CarillonOptions, page, site);
  expect(read).toThrow(expect.objectContaining({ name: 'CarillonError', code: 'invalid_options' }));
  expect(read).toThrow(`"${name}"`);
  expect(read).toThrow(advice);
});

test.each([
  ['projectID', 'projectId'],
  ['base_url', 'baseUrl'],
  ['serviceWorkerUrl', 'serviceWorker'],
  ['user_id', 'userId'],
  ['ApplicationServerKey', 'applicationServerKey'],
])('the unknown option %s: the error names %s', (unknown, meant) => {
  const read = () => readOptions({ ...options, [unknown]: 'x' }, page, site);
  expect(read).toThrow(expect.objectContaining({ name: 'CarillonError', code: 'invalid_options' }));
  expect(read).toThrow(`"${unknown}": unknown; use ${meant}.`);
});

test('an unknown option that is like none: the error lists the options', () => {
  const read = () => readOptions({ ...options, vapidKey: 'x' } as never, page, site);
  expect(read).toThrow('"vapidKey": unknown; use baseUrl, projectId, applicationServerKey, ');
});

test('every option is known', () => {
  const all: Required<CarillonOptions> = {
    ...{ ...options, serviceWorker: '/sw.js', scope: '/', channels: ['news'] },
    ...{ userId: 'ada', userIdSignature: 'signature' },
  };
  expect(readOptions(all, page, site).serviceWorker).toBe(`${site}/sw.js`);
});

test.each<[SubscribeOptions, string]>([
  [{ chanels: ['news'] } as SubscribeOptions, '"chanels": unknown; use channels.'],
  [{ userID: 'ada' } as SubscribeOptions, '"userID": unknown; use userId.'],
  [{ scope: '/' } as SubscribeOptions, '"scope": unknown; use channels, userId, userIdSignature.'],
  [{ userId: 42 } as never, '"userId": use a string, such as String(user.id).'],
  [{ channels: 'news' } as never, '"channels": use a list of names'],
])('subscribe(%j) says what is wrong', (given, message) => {
  expect(() => readSubscribeOptions(given)).toThrow(message);
});

test('subscribe() takes what it documents, and the event of a click', () => {
  const all: Required<SubscribeOptions> = {
    ...{ userId: null, userIdSignature: 'signature' },
    channels: ['news', 'flash-sales-2026'],
  };
  expect(readSubscribeOptions(all)).toBe(all);
  expect(readSubscribeOptions({ channels: [] })).toEqual({ channels: [] });
  expect(readSubscribeOptions(new Event('click') as never)).toEqual({});
});

test.each<[unknown, string]>([
  [undefined, '"tag": use the tag or the id of a notification.'],
  [{}, '"tag"'],
  [{ tag: undefined }, '"tag"'],
  [{ tag: '' }, '"tag"'],
  [{ tag: null }, '"tag"'],
  ['chat-7', '"0": unknown; use tag, id.'],
  [{ tag: 'chat-7', id: 7 }, '"id"'],
  [{ id: '' }, '"id": use the tag or the id of a notification.'],
  [{ Tag: 'chat-7' }, '"Tag": unknown; use tag.'],
])('close(%j) closes nothing and says what is wrong', (given, message) => {
  expect(() => readCloseOptions(given as never)).toThrow(message);
});

test.each([{ tag: 'chat-7' }, { id: 'a' }])('close(%j) is accepted', (given) => {
  expect(readCloseOptions(given)).toEqual(given);
});

test.each(['', 'a'.repeat(33), 'a b', 'ä', 'news', 'a'.repeat(32), '-1', 'A'])(
  'the SDK and the service agree on the channel %j',
  (name) => {
    expect(channelListPattern.test(JSON.stringify(['other', name]))).toBe(
      channelPattern.test(name),
    );
  },
);

test.each([undefined, null, 'demo'])('init(%p) names the first missing option', (value) => {
  const read = () => readOptions(value as unknown as CarillonOptions, page, site);
  expect(read).toThrow(expect.objectContaining({ name: 'CarillonError', code: 'invalid_options' }));
  expect(read).toThrow('"baseUrl"');
});
