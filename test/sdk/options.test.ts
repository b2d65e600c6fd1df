import { type CarillonOptions, readOptions } from '../../sdk/client/options.ts';

const site = 'https://shop.example';
const page = `${site}/cart/`;
const key =
  'BNbxGYNMhEIi9rgmgS4zEbQ0jVmC0MxrHcVwdkqGfNnuFqrHbkqUb3eRjX8UBnKMYBQWCzgYDTjRkCgLlIDtMTc';
const options: CarillonOptions = {
  baseUrl: 'https://push.example/',
  projectId: 'demo',
  applicationServerKey: key,
};

test('with the three options of the API key card, the worker lies at the top of the site', () => {
  expect(readOptions(options, page, site)).toEqual({
    project: { baseUrl: 'https://push.example', projectId: 'demo', applicationServerKey: key },
    serviceWorker: 'https://shop.example/carillon-sw.js',
    scope: 'https://shop.example/',
  });
});

test('a worker elsewhere has its folder for a scope, unless one is given', () => {
  const serviceWorker = '/push/carillon-sw.js';
  const { scope } = readOptions({ ...options, serviceWorker }, page, site);
  expect(scope).toBe('https://shop.example/push/');
  const given = readOptions({ ...options, serviceWorker, scope: '/push/deep/' }, page, site);
  expect(given.scope).toBe('https://shop.example/push/deep/');
});

test('a key in the other alphabet, padded, is the same key', () => {
  const other = `${key.replaceAll('-', '+').replaceAll('_', '/')}=`;
  const { project } = readOptions({ ...options, applicationServerKey: other }, page, site);
  expect(project.applicationServerKey).toBe(key);
});

const aPrivateKey = 'Hq2cLrvJvqAa6BHkUjNnqhGxWHwFyhJ0nVbWfn2WwYk';
const aSecretKey = `carillon_sk_${aPrivateKey}`;
const addressWanted = 'such as "https://push.example.com"';
const idWanted = '1 to 64 lowercase letters, digits or hyphens';
const keyWanted = '87 characters that start with "B"';
const workerWanted = 'such as "/carillon-sw.js"';

test.each<[string, string, Record<string, unknown>, string]>([
  ['no base URL', 'baseUrl', { baseUrl: undefined }, addressWanted],
  ['an empty base URL', 'baseUrl', { baseUrl: '' }, addressWanted],
  ['a broken base URL', 'baseUrl', { baseUrl: 'https://[' }, addressWanted],
  ['a host and port', 'baseUrl', { baseUrl: 'localhost:4320' }, addressWanted],
  ['a host alone', 'baseUrl', { baseUrl: 'push.example' }, addressWanted],
  ['a path alone', 'baseUrl', { baseUrl: '/push' }, addressWanted],
  ['another scheme', 'baseUrl', { baseUrl: 'ws://push.example' }, addressWanted],
  ['a base URL with a path', 'baseUrl', { baseUrl: 'https://push.example/api/v1' }, addressWanted],
  ['a base URL with a query', 'baseUrl', { baseUrl: 'https://push.example/?a=b' }, addressWanted],
  ['a base URL with a fragment', 'baseUrl', { baseUrl: 'https://push.example/#a' }, addressWanted],
  ['a base URL with a user', 'baseUrl', { baseUrl: 'https://me@push.example' }, addressWanted],
  ['a URL object', 'baseUrl', { baseUrl: new URL('https://push.example') }, addressWanted],
  ['no project id', 'projectId', { projectId: undefined }, idWanted],
  ['a project id in capitals', 'projectId', { projectId: 'Demo' }, idWanted],
  ['a project id with a slash', 'projectId', { projectId: 'demo/notifications' }, idWanted],
  ['a number', 'projectId', { projectId: 7 }, idWanted],
  ['no key', 'applicationServerKey', { applicationServerKey: undefined }, keyWanted],
  ['a short key', 'applicationServerKey', { applicationServerKey: 'short' }, keyWanted],
  [
    'a compressed key',
    'applicationServerKey',
    { applicationServerKey: `A${key.slice(1)}` },
    keyWanted,
  ],
  ['the private key', 'applicationServerKey', { applicationServerKey: aPrivateKey }, 'private key'],
  ['the secret key', 'applicationServerKey', { applicationServerKey: aSecretKey }, 'secret key'],
  ['a broken worker URL', 'serviceWorker', { serviceWorker: 'http://[' }, workerWanted],
  [
    'a worker of another site',
    'serviceWorker',
    { serviceWorker: 'https://cdn.example/carillon-sw.js' },
    workerWanted,
  ],
  ['a worker that is no text', 'serviceWorker', { serviceWorker: null }, workerWanted],
  ['a scope of another site', 'scope', { scope: 'https://cdn.example/' }, 'such as "/shop/"'],
])('%s: the error names the option and says what to write', (_, name, wrong, advice) => {
  const read = () => readOptions({ ...options, ...wrong } as CarillonOptions, page, site);
  expect(read).toThrow(expect.objectContaining({ name: 'CarillonError', code: 'invalid_options' }));
  expect(read).toThrow(`"${name}"`);
  expect(read).toThrow(advice);
});

test.each([undefined, null, 'demo'])('init(%p) asks for the first option', (given) => {
  const read = () => readOptions(given as unknown as CarillonOptions, page, site);
  expect(read).toThrow(expect.objectContaining({ name: 'CarillonError', code: 'invalid_options' }));
  expect(read).toThrow('"baseUrl"');
});
