import { readFileSync } from 'node:fs';
import { choiceFields, choiceNames } from '../../contract/wire/fields.ts';
import {
  type CarillonOptions,
  optionNames,
  readCloseOptions,
  readOptions,
  readSubscribeOptions,
  type SubscribeOptions,
} from '../../sdk/client/options.ts';
import { expectKnown } from '../../sdk/common/option-checks.ts';

const site = 'https://shop.example';
const page = `${site}/cart/`;
const key =
  'BNbxGYNMhEIi9rgmgS4zEbQ0jVmC0MxrHcVwdkqGfNnuFqrHbkqUb3eRjX8UBnKMYBQWCzgYDTjRkCgLlIDtMTc';
const options: CarillonOptions = {
  baseUrl: 'https://push.example/',
  projectId: 'demo',
  applicationServerKey: key,
};

const everyOption: Required<CarillonOptions> = {
  ...{ ...options, events: false, serviceWorker: '/sw.js', scope: '/', channels: ['news'] },
  ...{ userId: 'ada', userIdSignature: 'signature', replaceWorker: true, locale: 'pt-BR' },
  history: 50,
};

test('by default, the service worker and its scope are at the root of the site', () => {
  expect(readOptions(options, page, site)).toEqual({
    project: { ...options, baseUrl: 'https://push.example', history: 0 },
    choice: {},
    serviceWorker: 'https://shop.example/carillon-sw.js',
    url: 'https://shop.example/carillon-sw.js',
    scope: 'https://shop.example/',
    replaceWorker: false,
  });
});

test.each(['false', 'true', 1, {}])('`replaceWorker: %j` replaces nothing', (replaceWorker) => {
  const settings = readOptions({ ...options, replaceWorker: replaceWorker as never }, page, site);
  expect(settings.replaceWorker).toBe(false);
});

test('the default scope is the folder of the service worker', () => {
  const serviceWorker = '/push/carillon-sw.js';
  const { scope } = readOptions({ ...options, serviceWorker }, page, site);
  expect(scope).toBe('https://shop.example/push/');
  const given = readOptions({ ...options, serviceWorker, scope: '/push/deep/' }, page, site);
  expect(given.scope).toBe('https://shop.example/push/deep/');
});

test('the default file is on the site, wherever relative URLs of the page lead', () => {
  const { serviceWorker, scope } = readOptions(options, 'https://cdn.example/', site);
  expect([serviceWorker, scope]).toEqual([`${site}/carillon-sw.js`, `${site}/`]);
});

test.each(['null', 'app://shop', 'capacitor://localhost'])(
  'a page whose origin is %s has no service worker, and no option is refused for its origin',
  (origin) => {
    for (const serviceWorker of [undefined, '/sw.js', 'https://shop.example/sw.js']) {
      const settings = readOptions(
        { ...options, serviceWorker, scope: '/' },
        'about:blank',
        origin,
      );
      expect(settings).toMatchObject({ serviceWorker: '', scope: '' });
    }
    expect(() => readOptions({ ...options, projectId: 'No' }, 'about:blank', origin)).toThrow(
      'projectId',
    );
  },
);

test('a trusted URL is given to the browser as it is', () => {
  const trusted = { toString: () => '/push/sw.js', toJSON: () => '/push/sw.js' };
  expect(readOptions({ ...options, serviceWorker: trusted }, page, site)).toMatchObject({
    serviceWorker: `${site}/push/sw.js`,
    url: trusted,
    scope: `${site}/push/`,
  });
});

test('of a registration, the newest worker and its scope are used', () => {
  const registration = {
    ...{ scope: `${site}/app/`, pushManager: {}, waiting: null },
    active: { scriptURL: `${site}/old.js` },
    installing: { scriptURL: `${site}/sw.js` },
  } as unknown as ServiceWorkerRegistration;
  expect(readOptions({ ...options, serviceWorker: registration }, page, site)).toMatchObject({
    serviceWorker: `${site}/sw.js`,
    scope: `${site}/app/`,
  });
});

test.each([
  [undefined, ['de-CH', 'en-US'], 'de-CH'],
  [undefined, ['de_DE', 'en-US'], 'en-US'],
  [undefined, ['', 'en-US@posix'], undefined],
  [undefined, [`de-${'abcdefgh-'.repeat(5)}x`, 'fr'], 'fr'],
  ['pt-br', ['de'], 'pt-BR'],
  [null, ['de'], null],
  [['nb', 'en'] as never, ['de'], 'nb'],
])(
  'with the option %j, of %j a browser registers the language %s',
  (locale, languages, expected) => {
    const { choice } = readOptions({ ...options, locale }, page, site, languages);
    expect(choice.locale).toBe(expected);
  },
);

test.each(['pt_BR', 'x', 7 as never])('the locale %j is refused', (locale) => {
  expect(() => readOptions({ ...options, locale }, page, site)).toThrow('locale');
});

test('an optional member may be undefined', () => {
  const { baseUrl, projectId, applicationServerKey, ...optional } = everyOption;
  const undefinedOnes = Object.fromEntries(Object.keys(optional).map((name) => [name, undefined]));
  expect(readOptions({ ...options, ...undefinedOnes }, page, site)).toEqual(
    readOptions(options, page, site),
  );
});

test('a key in padded base64 is converted to base64url', () => {
  const other = `${key.replaceAll('-', '+').replaceAll('_', '/')}=`;
  const { project } = readOptions({ ...options, applicationServerKey: other }, page, site);
  expect(project.applicationServerKey).toBe(key);
});

const aPrivateKey = 'Hq2cLrvJvqAa6BHkUjNnqhGxWHwFyhJ0nVbWfn2WwYk';

/** Values that an option cannot have, and what the error tells instead. */
const wrongValues: readonly (readonly [
  name: string,
  advice: string,
  values: Readonly<Record<string, unknown>>,
])[] = [
  [
    'baseUrl',
    'such as "https://push.example.com"',
    {
      missing: undefined,
      empty: '',
      malformed: 'https://[',
      'only host and port': 'localhost:4320',
      'only a host': 'push.example',
      'only a path': '/push',
      'another scheme': 'ws://push.example',
      'with a path': 'https://push.example/api/v1',
      'with a query': 'https://push.example/?a=b',
      'with a fragment': 'https://push.example/#a',
      'with a user name': 'https://me@push.example',
      'a URL object': new URL('https://push.example'),
    },
  ],
  [
    'projectId',
    'copy it from the API key card',
    { missing: undefined, 'in capitals': 'Demo', 'a path': 'demo/notifications', 'a number': 7 },
  ],
  [
    'applicationServerKey',
    'copy it from the API key card',
    { missing: undefined, short: 'short', compressed: `A${key.slice(1)}` },
  ],
  [
    'applicationServerKey',
    'this key is secret; rotate it',
    { 'a private key': aPrivateKey, 'a secret key': `carillon_sk_${aPrivateKey}` },
  ],
  [
    'serviceWorker',
    'use a URL on this origin',
    { malformed: 'http://[', 'on another origin': 'https://cdn.example/sw.js', null: null },
  ],
  ['scope', 'use a URL on this origin', { 'on another origin': 'https://cdn.example/' }],
  ['userId', 'use String(user.id)', { 'a number': 42 }],
  ['history', 'use 0 to 100', { negative: -1, 'too many': 101, 'no number': 'all' }],
  ['channels', 'use a list of names', { 'no list': 'news', 'a number': [2026] }],
  ['channels', 'a-z, 0-9, -', { 'in capitals': ['News'] }],
];

test.each(
  wrongValues.flatMap(([name, advice, values]) =>
    Object.entries(values).map(([what, value]) => ({ name, what, value, advice })),
  ),
)('$name, $what: the error names the option and a correct form', ({ name, value, advice }) => {
  const read = () => readOptions({ ...options, [name]: value } as CarillonOptions, page, site);
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
  ['vapidKey', 'baseUrl, projectId, applicationServerKey, '],
])(
  'the unknown option %s: the error of init() names it, that of check() also %s',
  (unknown, meant) => {
    const given = { ...options, [unknown]: 'x' };
    const read = () => readOptions(given, page, site);
    expect(read).toThrow(
      expect.objectContaining({ name: 'CarillonError', code: 'invalid_options' }),
    );
    expect(read).toThrow(`"${unknown}": unknown; see check().`);
    expect(() => expectKnown(given, optionNames)).toThrow(`"${unknown}": unknown; use ${meant}`);
  },
);

test('every option is known', () => {
  expect(readOptions(everyOption, page, site).serviceWorker).toBe(`${site}/sw.js`);
  expect([...optionNames].sort()).toEqual(Object.keys(everyOption).sort());
});

test.each([...new Set([...optionNames, ...choiceNames])])('docs/sdk.md has %s', (name) => {
  const [, tables] = readFileSync('docs/sdk.md', 'utf8').split(/^## `Carillon\.init|^### State/m);
  expect(tables).toMatch(new RegExp(`[\`{,] ?${name}\\b`));
});

test.each<[SubscribeOptions, string]>([
  [{ chanels: ['news'] } as SubscribeOptions, '"chanels": unknown; see check().'],
  [{ scope: '/' } as SubscribeOptions, '"scope": unknown; see check().'],
  [{ userId: 42 } as never, '"userId": use String(user.id).'],
  [{ channels: 'news' } as never, '"channels": use a list of names'],
])('subscribe(%j) says what is wrong', (given, message) => {
  expect(() => readSubscribeOptions(given)).toThrow(message);
});

test('subscribe() takes each member that a visitor chooses, and the event of a click', () => {
  const chosen = choiceNames.filter((name) => choiceFields[name].isChosen);
  for (const sample of [0, 1] as const) {
    const samples = chosen.map((name) => [name, choiceFields[name].samples[sample]]);
    const choice = { ...Object.fromEntries(samples), userIdSignature: 'signature' };
    expect(readSubscribeOptions({ ...choice, renewal: true })).toEqual(choice);
    // Only a visitor agrees.
    const consent = sample === 0 ? 'v' : 'v'.repeat(64);
    expect(readSubscribeOptions({ ...choice, consent })).toEqual({ ...choice, consent });
    expect(readSubscribeOptions({ ...choice, consent, renewal: true })).toEqual(choice);
  }
  expect(readSubscribeOptions({ userId: null })).toEqual({ userId: null });
  expect(readSubscribeOptions({ channels: [] })).toEqual({ channels: [] });
  const ofLibrary = { type: 'click', preventDefault() {}, nativeEvent: {} };
  for (const event of [new Event('click'), ofLibrary]) {
    expect(readSubscribeOptions(event as never)).toEqual({});
  }
});

test.each<[unknown, string]>([
  [undefined, '"tag": use a tag or an id.'],
  [{}, '"tag"'],
  [{ tag: undefined }, '"tag"'],
  [{ tag: '' }, '"tag"'],
  [{ tag: null }, '"tag"'],
  ['chat-7', '"tag"'],
  [{ tag: 'chat-7', id: 7 }, 'a tag or an id'],
  [{ id: '' }, 'a tag or an id'],
  [{ Tag: 'chat-7' }, '"tag"'],
])('close(%j) closes nothing and says what is wrong', (given, message) => {
  expect(() => readCloseOptions(given as never)).toThrow(message);
});

test.each([{ tag: 'chat-7' }, { id: 'a' }])('close(%j) is accepted', (given) => {
  expect(readCloseOptions(given)).toEqual(given);
});

test.each([undefined, null, 'demo'])('init(%p) names the first missing option', (value) => {
  const read = () => readOptions(value as unknown as CarillonOptions, page, site);
  expect(read).toThrow(expect.objectContaining({ name: 'CarillonError', code: 'invalid_options' }));
  expect(read).toThrow('"baseUrl"');
});
