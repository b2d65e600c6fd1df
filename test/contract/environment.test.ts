import { readEnvironment } from '../../contract/infrastructure/environment.ts';

test('readEnvironment returns the named variables, parsed', () => {
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

test('an empty EXTRA_PUSH_ORIGINS means no extra origins', () => {
  const environment = readEnvironment(['EXTRA_PUSH_ORIGINS'], { EXTRA_PUSH_ORIGINS: '' });
  expect(environment.EXTRA_PUSH_ORIGINS).toEqual([]);
});

test('PREFER_IPV6 is true or false', () => {
  expect(readEnvironment(['PREFER_IPV6'], { PREFER_IPV6: 'true' }).PREFER_IPV6).toBe(true);
  expect(readEnvironment(['PREFER_IPV6'], { PREFER_IPV6: 'false' }).PREFER_IPV6).toBe(false);
  expect(() => readEnvironment(['PREFER_IPV6'], { PREFER_IPV6: '1' })).toThrow(
    'PREFER_IPV6 must be true or false',
  );
});

test('the error names every missing or invalid variable', () => {
  expect(() =>
    readEnvironment(['PROJECTS_TABLE', 'SUBSCRIBER_CAP'], { SUBSCRIBER_CAP: 'many' }),
  ).toThrow(
    "The function's environment is incomplete. PROJECTS_TABLE is not set; " +
      'SUBSCRIBER_CAP must be a whole number above 0',
  );
});
