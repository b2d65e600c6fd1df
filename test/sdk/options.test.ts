import { type CarillonOptions, readOptions } from '../../sdk/client/options.ts';

const page = 'https://shop.example/cart/';
const key =
  'BNbxGYNMhEIi9rgmgS4zEbQ0jVmC0MxrHcVwdkqGfNnuFqrHbkqUb3eRjX8UBnKMYBQWCzgYDTjRkCgLlIDtMTc';
const options: CarillonOptions = {
  baseUrl: 'https://push.example/',
  projectId: 'demo',
  applicationServerKey: key,
};

test('with the three options of the API key card, the worker lies at the top of the site', () => {
  expect(readOptions(options, page)).toEqual({
    project: { baseUrl: 'https://push.example', projectId: 'demo', applicationServerKey: key },
    serviceWorker: 'https://shop.example/carillon-sw.js',
    scope: 'https://shop.example/',
  });
});

test('a worker elsewhere has its folder for a scope, unless one is given', () => {
  const serviceWorker = '/push/carillon-sw.js';
  const { scope } = readOptions({ ...options, serviceWorker }, page);
  expect(scope).toBe('https://shop.example/push/');
  const given = readOptions({ ...options, serviceWorker, scope: '/push/deep/' }, page);
  expect(given.scope).toBe('https://shop.example/push/deep/');
});

test('a key in the other alphabet, padded, is the same key', () => {
  const other = `${key.replaceAll('-', '+').replaceAll('_', '/')}=`;
  const { project } = readOptions({ ...options, applicationServerKey: other }, page);
  expect(project.applicationServerKey).toBe(key);
});

test.each([
  ['baseUrl', { baseUrl: '' }],
  ['baseUrl', { baseUrl: 'https://[' }],
  ['projectId', { projectId: undefined }],
  ['applicationServerKey', { applicationServerKey: 'short' }],
  ['serviceWorker', { serviceWorker: 'http://[' }],
])('a wrong %s is named', (name, wrong) => {
  const read = () => readOptions({ ...options, ...wrong } as CarillonOptions, page);
  expect(read).toThrow(expect.objectContaining({ code: 'invalid_options' }));
  expect(read).toThrow(name);
});
