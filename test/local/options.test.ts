import { readStartOptions } from '../../local/options.ts';

test('absent and empty settings have defaults', () => {
  const defaults = {
    browser: false,
    reset: false,
    port: 4000,
    dataDir: '.carillon/data/4000',
    extraPushOrigins: undefined,
    publicBaseUrl: undefined,
    engine: undefined,
  };
  expect(readStartOptions([], {})).toEqual(defaults);
  expect(
    readStartOptions([], { PORT: '', DATA_DIR: '', EXTRA_PUSH_ORIGINS: '', DDB_ENGINE: '' }),
  ).toEqual(defaults);
});

test('every argument and setting is read', () => {
  const env = {
    PORT: '8080',
    DATA_DIR: 'data',
    EXTRA_PUSH_ORIGINS: 'https://push.example.com',
    PUBLIC_BASE_URL: 'https://push.your-tunnel.example',
    DDB_ENGINE: 'dynamodb-local',
  };
  expect(readStartOptions(['--reset', '--browser'], env)).toEqual({
    browser: true,
    reset: true,
    port: 8080,
    // Each port has its own: the stored endpoints have the port.
    dataDir: 'data/8080',
    extraPushOrigins: 'https://push.example.com',
    publicBaseUrl: 'https://push.your-tunnel.example',
    engine: 'dynamodb-local',
  });
});
