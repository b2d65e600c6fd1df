import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Aws } from 'aws-cdk-lib';
import { defaultLimits } from '../../contract/wire/limits.ts';
import { readContext, readSettings, SettingsError } from '../../lib/settings.ts';
import { temporaryFolder } from '../fixtures/folder.ts';

const vapidSubject = 'mailto:push@carillon.net';

function mistakesOf(context: Record<string, unknown>): string[] {
  try {
    readSettings({ vapidSubject, ...context });
  } catch (error) {
    if (error instanceof SettingsError) return error.message.split('\n');
    throw error;
  }
  return [];
}

test('the defaults are the stage prod and the default limits', () => {
  expect(readSettings({ vapidSubject })).toEqual({
    stage: 'prod',
    ...defaultLimits,
    notificationDays: 90,
    logDays: 30,
    recoveryDays: 35,
    pushesPerSecond: 20_000,
    vapidSubject,
    extraPushOrigins: [],
    preferIpv6: false,
    console: true,
    originSecretHashes: [],
    requireOriginSecret: false,
    accountConcurrency: 1000,
    eventsPerSecond: 5000,
  });
});

test.each([{}, { stage: 'eu' }])('%j is refused because vapidSubject is missing', (context) => {
  expect(() => readSettings(context)).toThrow(
    new SettingsError(
      'setting vapidSubject is missing: set it to an address at which push services reach you, such as "you@your-domain.example"',
    ),
  );
});

test('vapidSubject is optional in the stage dev', () => {
  expect(readSettings({ stage: 'dev' }).vapidSubject).toBe('mailto:operator@example.com');
  expect(readSettings({ stage: 'dev', vapidSubject }).vapidSubject).toBe(vapidSubject);
});

test('every setting accepts text, as -c passes it', () => {
  expect(
    readSettings({
      stage: 'eu-2',
      subscriberCap: '5',
      monthlySendCap: '7',
      rateLimitPerMinute: '9',
      notificationDays: '1',
      logDays: '3653',
      recoveryDays: '1',
      pushesPerSecond: '700',
      vapidSubject,
      extraPushOrigins: 'https://push.example.com,http://127.0.0.1:8080',
      preferIpv6: 'true',
      console: 'false',
      alarmEmail: 'on-call@carillon.net',
      originSecretHashes: `${'a1'.repeat(32)},${'b2'.repeat(32)}`,
      requireOriginSecret: 'true',
      accountConcurrency: '3000',
      eventsPerSecond: '12000',
      warmWritesPerSecond: '12000',
    }),
  ).toEqual({
    stage: 'eu-2',
    subscriberCap: 5,
    monthlySendCap: 7,
    rateLimitPerMinute: 9,
    notificationDays: 1,
    logDays: 3653,
    recoveryDays: 1,
    pushesPerSecond: 700,
    vapidSubject,
    extraPushOrigins: ['https://push.example.com', 'http://127.0.0.1:8080'],
    preferIpv6: true,
    console: false,
    alarmEmail: 'on-call@carillon.net',
    originSecretHashes: ['a1'.repeat(32), 'b2'.repeat(32)],
    requireOriginSecret: true,
    accountConcurrency: 3000,
    eventsPerSecond: 12_000,
    warmWritesPerSecond: 12_000,
  });
});

test('settings accept numbers and booleans, as in cdk.json', () => {
  const context = { preferIpv6: true, requireOriginSecret: false, subscriberCap: 5 };
  expect(readSettings({ vapidSubject, ...context })).toMatchObject(context);
});

test.each([
  '@aws-cdk/core:newStyleStackSynthesis',
  'aws:cdk:bundling-stacks',
  'aws-cdk:enableDiffNoFail',
  'availability-zones:account=1:region=eu-west-1',
  'assets-ecr-repository-name',
])('the CDK entry %s is ignored', (name) => {
  expect(mistakesOf({ [name]: true })).toEqual([]);
});

test.each([
  ['cli-telemetry', ['cli-telemetry', '--disable']],
  ['acknowledged-issue-numbers', ['acknowledge', '12345']],
])('the entry %s, which the CDK CLI writes, is ignored', (name, command) => {
  const folder = temporaryFolder();
  try {
    folder.write('cdk.json', '{}');
    const cdk = join(process.cwd(), 'node_modules', 'aws-cdk', 'bin', 'cdk');
    const { status } = spawnSync(process.execPath, [cdk, ...command], {
      cwd: folder.path,
      env: { ...process.env, CDK_DISABLE_CLI_TELEMETRY: '1' },
    });
    expect(status).toBe(0);
    const context = JSON.parse(readFileSync(join(folder.path, 'cdk.context.json'), 'utf8'));
    expect(context).toHaveProperty(name);
    expect(mistakesOf(context)).toEqual([]);
  } finally {
    folder.remove();
  }
});

test('an unknown setting is refused with the nearest name', () => {
  expect(mistakesOf({ subscribercap: '5' })).toEqual([
    'unknown setting subscribercap; did you mean subscriberCap?',
  ]);
});

test('an unknown setting without a near name is refused with all names', () => {
  expect(mistakesOf({ colour: 'red' })).toEqual([
    'unknown setting colour; the settings are stage, subscriberCap, monthlySendCap, ' +
      'rateLimitPerMinute, notificationDays, logDays, recoveryDays, encryptionKeyArn, pushesPerSecond, vapidSubject, extraPushOrigins, preferIpv6, console, ' +
      'alarmEmail, alarmTopicArn, monthlyBudget, runbookUrl, domainName, certificateArn, hostedZoneId, publicBaseUrl, ' +
      'originSecretHashes, requireOriginSecret, accountConcurrency, eventsPerSecond, ' +
      'warmWritesPerSecond',
  ]);
});

const domain = {
  domainName: 'push.carillon.example',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1234-abcd',
};

test.each<Record<string, string>>([
  domain,
  { ...domain, hostedZoneId: 'Z0123456789' },
  { publicBaseUrl: 'https://push.carillon.example' },
  { publicBaseUrl: 'https://push.carillon.example:8443' },
  { runbookUrl: 'https://git.example/carillon/blob/main/docs/runbook.md?plain=0' },
  ...['dev', 'prod', 'a', 'a1-b2', 'a'.repeat(32)].map((stage) => ({ stage })),
  ...['mailto:a+b@mail.b.net', 'https://b.net/contact'].map((subject) => ({
    vapidSubject: subject,
  })),
])('%j is accepted', (context) => {
  expect(readSettings({ vapidSubject, ...context })).toMatchObject(context);
});

test.each<[Record<string, unknown>, string]>([
  [{ domainName: domain.domainName }, 'certificateArn and domainName must be set together'],
  [{ certificateArn: domain.certificateArn }, 'certificateArn and domainName must be set together'],
  [{ hostedZoneId: 'Z0123456789' }, 'hostedZoneId needs domainName and certificateArn'],
  [{ ...domain, domainName: 'https://push.carillon.example' }, 'domainName must be a domain name'],
  [{ ...domain, domainName: 'Push.carillon.example' }, 'domainName must be a domain name'],
  [{ recoveryDays: 0 }, 'recoveryDays must be a whole number from 1 to 35;'],
  [{ notificationDays: 0 }, 'notificationDays must be a whole number from 1 to 90;'],
  [{ logDays: 0 }, 'logDays must be a period of CloudWatch: 1, 3, 5,'],
  [{ ...domain, domainName: 'localhost' }, 'domainName must be a domain name'],
  [{ ...domain, certificateArn: 'arn:aws:iam::1:x' }, 'certificateArn must be the ARN'],
  [{ encryptionKeyArn: 'alias/carillon' }, 'encryptionKeyArn must be the ARN of a key'],
  [{ ...domain, hostedZoneId: '/hostedzone/Z1' }, 'hostedZoneId must be the id'],
  [{ publicBaseUrl: 'http://push.carillon.example' }, 'publicBaseUrl must be an https address'],
  [{ publicBaseUrl: 'https://push.carillon.example/' }, 'publicBaseUrl must be an https address'],
  [{ publicBaseUrl: 'https://carillon.example/push' }, 'publicBaseUrl must be an https address'],
  [{ publicBaseUrl: 'https://user@carillon.example' }, 'publicBaseUrl must be an https address'],
  [{ originSecretHashes: 'secret' }, 'originSecretHashes must be a SHA-256 in hex'],
  [{ originSecretHashes: 'A1'.repeat(32) }, 'originSecretHashes must be a SHA-256 in hex'],
  [
    { originSecretHashes: Array(3).fill('a1'.repeat(32)).join() },
    'originSecretHashes must be a SHA-256 in hex',
  ],
  [
    { originSecretHashes: `${'a1'.repeat(32)},${createHash('sha256').digest('hex')}` },
    'originSecretHashes must not contain the hash of an empty text',
  ],
  [{ requireOriginSecret: true }, 'requireOriginSecret needs originSecretHashes'],
])('the address %j is refused', (context, message) => {
  expect(mistakesOf(context)).toEqual([expect.stringContaining(`setting ${message}`)]);
});

test('the value of originSecretHashes is not printed, because it may be the secret', () => {
  expect(mistakesOf({ originSecretHashes: 'hunter2' }).join()).not.toContain('hunter2');
});

const alarmTopicArn = 'arn:aws:sns:eu-west-1:123456789012:on-call';

test('alarms notify an address or a topic', () => {
  expect(readSettings({ vapidSubject, alarmTopicArn }).alarmTopicArn).toBe(alarmTopicArn);
  expect(mistakesOf({ alarmTopicArn, alarmEmail: 'a@b.net' })).toEqual([
    'setting alarmEmail must be removed, because alarmTopicArn is set; it is "a@b.net"',
  ]);
  expect(readSettings({ vapidSubject, alarmEmail: 'none' }).alarmEmail).toBe('none');
  for (const alarmEmail of ['a', 'you@your-domain.example']) {
    expect(mistakesOf({ alarmEmail })).toEqual([
      `setting alarmEmail must be an e-mail address of yours, or "none"; it is "${alarmEmail}"`,
    ]);
  }
  expect(mistakesOf({ alarmTopicArn: 'on-call' })).toEqual([
    'setting alarmTopicArn must be the ARN of an SNS topic; it is "on-call"',
  ]);
});

test('a budget needs an address', () => {
  const alarmEmail = 'a@b.net';
  expect(readSettings({ vapidSubject, alarmEmail, monthlyBudget: '20' }).monthlyBudget).toBe(20);
  for (const nobody of [{}, { alarmEmail: 'none' }, { alarmTopicArn }]) {
    expect(mistakesOf({ monthlyBudget: 20, ...nobody })).toEqual([
      'setting monthlyBudget needs alarmEmail, the address that it notifies; it is 20',
    ]);
  }
});

test('a budget is refused where CloudFormation has none', () => {
  const settings = { vapidSubject, alarmEmail: 'a@b.net', monthlyBudget: 20 };
  expect(readSettings(settings, { region: 'eu-west-1' }).monthlyBudget).toBe(20);
  expect(() => readSettings(settings, { region: 'eu-north-1' })).toThrow(
    'setting monthlyBudget must be removed: CloudFormation has no budgets in eu-north-1.',
  );
});

test('a setting of a stage replaces the one of all stages, and an empty one counts as none', () => {
  const domain = {
    domainName: 'push.carillon.net',
    certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/1234-abcd',
  };
  const written = { vapidSubject, ...domain, subscriberCap: 5, 'eu.subscriberCap': '7' };
  const ofStage = (stage: string, more = {}) => readContext({ ...written, ...more, stage }, '');
  expect(ofStage('us')).toMatchObject({ stage: 'us', ...domain, subscriberCap: 5 });
  const without = { 'eu.domainName': '', 'eu.certificateArn': '' };
  const ofEu = ofStage('eu', without);
  expect(ofEu).toMatchObject({ stage: 'eu', vapidSubject, subscriberCap: 7 });
  expect(Object.keys(ofEu)).not.toContain('domainName');
  expect(() => ofStage('us', { 'eu.domianName': '' })).toThrow(
    'unknown setting eu.domianName; did you mean domainName?',
  );
});

test('every mistake has its own line', () => {
  expect(mistakesOf({ stage: '', subscriberCap: 'many', colour: 'red' })).toEqual([
    expect.stringMatching(/^setting stage must be .*; it is ""$/),
    'setting subscriberCap must be a whole number from 1 to 999999999; it is "many"',
    expect.stringMatching(/^unknown setting colour/),
  ]);
});

const whole = ['0', '-1', '1.5', '1e3', '0x10', ' 5', '', 'none', '1000000000', true, null, 0, 1.5];
const notAnOrigin = 'which is not an origin: write an origin such as https://push.example.com';

test.each<[names: string, values: readonly unknown[], message: string]>([
  ['subscriberCap monthlySendCap rateLimitPerMinute', whole, 'must be a whole number'],
  ['preferIpv6', ['', 'yes', '1', 'TRUE', 1, null], 'must be true or false'],
  ['stage', ['', 'Prod', '1st', 'a_b', 'eu-', '-eu', 'a'.repeat(33), 'a\n', 5, null], 'must be'],
  [
    'vapidSubject',
    [
      ...['http://b.example', 'https://', 'mailto:', 'mailto:a', 'mailto:a@b@c.example', 5, ''],
      'mailto:a@b.example,c@d.example',
      // Apple refuses these.
      ...['mailto: <a@b.example>', 'mailto:a@localhost', 'https://localhost/contact'],
      ...['mailto:a@b.localhost', 'https://b.LOCALHOST'],
    ],
    '',
  ],
  [
    'runbookUrl',
    [
      ...['http://git.example/runbook.md', 'docs/runbook.md', 'https://git.example/runbook.md#'],
      ...['https://git.example/run book.md', 'https://'],
    ],
    'must be an https address',
  ],
  [
    'extraPushOrigins',
    ['a.example', 'ftp://a.example', 'https://*.a.example', 'null', 'file:///etc'],
    notAnOrigin,
  ],
])('%s: %j are refused', (names, values, message) => {
  for (const name of names.split(' ')) {
    for (const value of values) {
      const mistakes = mistakesOf({ [name]: value });
      expect([value, mistakes]).toEqual([value, [expect.stringContaining(message)]]);
      expect(mistakes[0]).toMatch(new RegExp(`^setting ${name} `));
    }
  }
});

test('tables are warmed for no fewer writes than a new one takes', () => {
  expect(mistakesOf({ warmWritesPerSecond: '4000' })).toEqual([]);
  expect(mistakesOf({ warmWritesPerSecond: '3999' })).toEqual([
    'setting warmWritesPerSecond must be at least 4000, which every new table takes; it is "3999"',
  ]);
});

test('an e-mail address is a VAPID subject', () => {
  expect(readSettings({ vapidSubject: 'a@b.net' }).vapidSubject).toBe('mailto:a@b.net');
});

test('an example is no VAPID subject, except in the stage dev', () => {
  for (const example of ['mailto:you@your-domain.example', 'https://example.com/contact']) {
    expect(mistakesOf({ vapidSubject: example })).toEqual([
      expect.stringMatching(/^setting vapidSubject is an example or private: write an address/),
    ]);
    expect(readSettings({ stage: 'dev', vapidSubject: example }).vapidSubject).toBe(example);
  }
});

test.each([
  ['', []],
  [',', []],
  ['https://a.example, https://b.example:8443', ['https://a.example', 'https://b.example:8443']],
])('%p is parsed to the origins %p', (extraPushOrigins, origins) => {
  expect(readSettings({ vapidSubject, extraPushOrigins }).extraPushOrigins).toEqual(origins);
});

test.each([
  ['https://a.example/', 'https://a.example'],
  ['https://a.example/push', 'https://a.example'],
  ['https://A.example', 'https://a.example'],
  ['https://a.example:443', 'https://a.example'],
  ['https://user@a.example', 'https://a.example'],
  ['http://127.1:80', 'http://127.0.0.1'],
])('%p is refused with the suggestion %s', (text, origin) => {
  expect(mistakesOf({ extraPushOrigins: text })).toEqual([
    `setting extraPushOrigins contains "${text}", which is not an origin: write ${origin}`,
  ]);
});

test('origins that Lambda has no room for are refused', () => {
  const longest = 'https://push.a.example,'
    .repeat(100)
    .slice(0, 2000)
    .replace(/,[^,]*$/, ',');
  expect(mistakesOf({ extraPushOrigins: longest.padEnd(2000) })).toEqual([]);
  expect(mistakesOf({ extraPushOrigins: longest.padEnd(2001) })).toEqual([
    expect.stringMatching(/^setting extraPushOrigins must have at most 2000 characters/),
  ]);
});

test('each invalid origin has its own line', () => {
  expect(
    mistakesOf({ extraPushOrigins: 'https://a.example/,https://b.example,nonsense' }),
  ).toHaveLength(2);
});

test.each([
  [{}, 'region eu-west-1, the stack in us-east-1'],
  [{ region: 'eu-west-1' }, 'account 123456789012, the stack in 210987654321'],
  [
    { region: 'eu-west-1', accountId: '123456789012', partition: 'aws-cn' },
    'partition aws, the stack in aws-cn',
  ],
])('an ARN of elsewhere than %j is refused', (there, message) => {
  const location = { region: 'us-east-1', accountId: '210987654321', partition: 'aws', ...there };
  const arns = {
    alarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms',
    domainName: 'push.carillon.net',
    certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1a',
    encryptionKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/1a',
  };
  for (const name of ['alarmTopicArn', 'certificateArn', 'encryptionKeyArn']) {
    expect(() => readSettings({ vapidSubject, ...arns }, location)).toThrow(
      `setting ${name} is in the ${message}`,
    );
  }
  const own = { region: 'eu-west-1', accountId: '123456789012', partition: 'aws' };
  const unknown = { region: Aws.REGION, accountId: Aws.ACCOUNT_ID };
  for (const known of [own, unknown, {}]) {
    expect(readSettings({ vapidSubject, ...arns }, known)).toMatchObject(arns);
  }
});
