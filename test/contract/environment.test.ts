import { readEnvironment } from '../../contract/environment.ts';

test('reads only what a function needs, in its type', () => {
  const environment = readEnvironment(['PROJECTS_TABLE', 'SUBSCRIBER_CAP', 'EXTRA_PUSH_ORIGINS'], {
    PROJECTS_TABLE: 'projects',
    SUBSCRIBER_CAP: '1000',
    EXTRA_PUSH_ORIGINS: 'http://a,http://b:1',
    USAGE_TABLE: 'usage',
  });
  expect(environment).toEqual({
    PROJECTS_TABLE: 'projects',
    SUBSCRIBER_CAP: 1000,
    EXTRA_PUSH_ORIGINS: ['http://a', 'http://b:1'],
  });
});

test('no extra origins are an empty text', () => {
  const environment = readEnvironment(['EXTRA_PUSH_ORIGINS'], { EXTRA_PUSH_ORIGINS: '' });
  expect(environment.EXTRA_PUSH_ORIGINS).toEqual([]);
});

test('whether to prefer IPv6 is said by true or false', () => {
  expect(readEnvironment(['PREFER_IPV6'], { PREFER_IPV6: 'true' }).PREFER_IPV6).toBe(true);
  expect(readEnvironment(['PREFER_IPV6'], { PREFER_IPV6: 'false' }).PREFER_IPV6).toBe(false);
  expect(() => readEnvironment(['PREFER_IPV6'], { PREFER_IPV6: '1' })).toThrow(
    'PREFER_IPV6 must be true or false',
  );
});

test('names every variable that is absent or wrong', () => {
  expect(() =>
    readEnvironment(['PROJECTS_TABLE', 'SUBSCRIBER_CAP'], { SUBSCRIBER_CAP: 'many' }),
  ).toThrow(
    "The function's environment is incomplete. PROJECTS_TABLE is not set; " +
      'SUBSCRIBER_CAP must be a whole number above 0',
  );
});
