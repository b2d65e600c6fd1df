import { randomBytes } from 'node:crypto';
import { type Connection, connect } from '../../../admin/commands/connection.ts';
import { checks } from '../../../admin/doctor/checks.ts';
import type { DeploymentFacts } from '../../../admin/doctor/facts.ts';
import { projectRegistry } from '../../../admin/project-registry.ts';
import { projectTables } from '../../../admin/project-tables.ts';
import { type ServiceOperator, startServiceOperator } from '../../fixtures/service-operator.ts';

describe('a stack without problems', () => {
  let operator: ServiceOperator;
  beforeAll(async () => {
    operator = await startServiceOperator({
      environment: { VAPID_SUBJECT: 'mailto:push@carillon.net' },
    });
  });
  afterAll(() => operator.stop());

  it('passes every check that the local stack has something for', async () => {
    const { code, output, messages } = await operator.run(['doctor', '--json']);
    expect({ code, messages }).toEqual({ code: 0, messages: '' });
    const findings: { check: string; level: string }[] = JSON.parse(output);
    const levels = Object.fromEntries(findings.map(({ check, level }) => [check, level]));
    expect(levels).toEqual({
      stack: 'skipped',
      functions: 'ok',
      settings: 'ok',
      'vapid subject': 'skipped',
      address: 'ok',
      concurrency: 'ok',
      'api throttle': 'skipped',
      'alarm actions': 'skipped',
      alarms: 'skipped',
      backups: 'skipped',
      limits: 'ok',
      'member keys': 'ok',
    });
  });

  it('passes with the facts of a deployment', async () => {
    const { code, output } = await operator.run(
      ['doctor'],
      undefined,
      withFacts({
        stack: async () => ({ status: 'UPDATE_COMPLETE', isProtected: true }),
        quotas: { executions: 1000, requestsPerSecond: 9000 },
        requestsPerSecond: async () => 10_000,
        alarms: async () => [{ name: 'page', isFiring: false, hasAction: true }],
        tablesWithoutBackup: async () => [],
      }),
    );
    expect(code).toBe(0);
    expect(output.split('\n').filter((line) => line && !line.startsWith('ok '))).toEqual([]);
  });

  it('delivers a notification if it is asked to, and leaves nothing behind', async () => {
    const { code, output, messages } = await operator.run(['doctor', '--deliver']);
    expect({ code, messages }).toEqual({ code: 0, messages: '' });
    expect(output).toMatch(
      /^ok {7}message {8}The message arrived and was decrypted\. \(\d+ ms\)$/m,
    );
    const { output: projects } = await operator.run(['list', '--json']);
    expect(JSON.parse(projects)).toEqual([]);
  });

  it('delivers through another push service', async () => {
    const address = 'ws://127.0.0.1:9';
    const { code, output } = await operator.run(['doctor', '--via', address, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(output).at(-1)).toMatchObject({
      check: 'websocket',
      message: expect.stringContaining(`This machine must reach ${address}`),
    });
  });

  it('refuses an address that is not a WebSocket', async () => {
    const { code, messages } = await operator.run(['doctor', '--via', 'https://example.com']);
    expect(code).toBe(2);
    expect(messages).toContain('Use the address of a WebSocket');
  });
});

describe('a stack with problems', () => {
  let operator: ServiceOperator;
  beforeAll(async () => {
    operator = await startServiceOperator({
      accountConcurrency: 10,
      environment: { VAPID_SUBJECT: 'mailto:operator@example.com' },
    });
  });
  afterAll(() => operator.stop());

  it('has one line for each of them, and ends with code 1', async () => {
    const project = await operator.service.createProject({ subscriberCap: 1 });
    await operator.service.subscribe(project);
    const { dynamo, stack } = operator.service;
    const longAgo = () => new Date('2025-01-01T00:00:00Z');
    const registry = projectRegistry(dynamo, projectTables(stack.dynamodb.tables), longAgo);
    const member = { name: 'Ann', role: 'viewer', random: randomBytes } as const;
    await registry.invite(project.projectId, member);
    const staged = withFacts({
      apiUrl: 'https://abc123.execute-api.eu-west-1.amazonaws.com',
      stack: async () => ({ status: 'UPDATE_ROLLBACK_FAILED', isProtected: true }),
      quotas: { executions: 10, requestsPerSecond: 9000 },
      requestsPerSecond: async () => 2500,
      alarms: async () => [{ name: 'Send errors', isFiring: true, hasAction: false }],
      tablesWithoutBackup: async () => ['Carillon-Usage'],
    });
    const changed: typeof connect = async (location) => {
      const connection = await staged(location);
      return { ...connection, settings: { ...connection.settings, SUBSCRIBER_CAP: 5000 } };
    };
    const { code, output, messages } = await operator.run(['doctor'], undefined, changed);
    expect({ code, messages }).toEqual({ code: 1, messages: 'Problems: 5.\n' });
    const lines = output.trimEnd().split('\n');
    const expected = [
      /^problem {2}stack +The stack is UPDATE_ROLLBACK_FAILED\./,
      /^problem {2}settings +Changed by hand: SUBSCRIBER_CAP of Subscribe\w+, SUBSCRIBER_CAP of GetProject\w+\./,
      /^problem {2}vapid subject +mailto:operator@example.com is an example or private\. Set vapidSubject/,
      /^warning {2}address +https:\/\/abc123\.execute-api\.\S+ is AWS's name\./,
      /^warning {2}concurrency +Lambda runs 10 functions at once .* AWS may take days/,
      /^warning {2}api throttle +API Gateway accepts 2500 requests per second/,
      /^warning {2}alarm actions +Alarms notify nobody\./,
      /^problem {2}alarms +Firing: Send errors\./,
      /^problem {2}backups +Without point-in-time recovery: Carillon-Usage\./,
      new RegExp(
        `^warning {2}limits +Near a limit: ${project.projectId} \\(1 of 1 subscribers\\)\\.`,
      ),
      /^warning {2}member keys +Older than a year: the member keys of project-\d+ \(Ann\)\./,
    ];
    const found = lines.filter((line) => !line.startsWith('ok '));
    expect(found).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(found[index]).toMatch(pattern);
  });

  it.each([
    [
      'a function that cannot run',
      {
        functions: async () => [
          { name: 'Send', failure: 'the KMS key is disabled', environment: {} },
        ],
      },
      'problem  functions      Function Send cannot run: the KMS key is disabled.',
    ],
    [
      'a stack without protection',
      { stack: async () => ({ status: 'UPDATE_COMPLETE', isProtected: false }) },
      'warning  stack          The stack has no termination protection.',
    ],
    [
      'a call that AWS refuses',
      {
        alarms: async () => {
          throw new Error('User is not authorized to perform: cloudwatch:DescribeAlarms');
        },
      },
      'problem  alarms         The check failed: User is not authorized',
    ],
  ] as const)('has a line for %s', async (_title, facts, line) => {
    const { output } = await operator.run(['doctor'], undefined, withFacts(facts));
    expect(output).toContain(`${line}`);
  });
});

/** Connects to the local stack, with stand-ins for what only AWS has. */
function withFacts(facts: Partial<DeploymentFacts>): typeof connect {
  return async (location) => {
    const connection = await connect(location);
    return { ...connection, facts: { ...connection.facts, ...facts } };
  };
}

it.each([
  ['mailto:you@your-domain.example', 'problem'],
  ['mailto:you@localhost', 'problem'],
  ['https://example.com/contact', 'problem'],
  ['mailto:example@carillon.net', 'ok'],
  ['https://example.carillon.net', 'ok'],
])('the VAPID subject %s is: %s', async (subject, level) => {
  const facts = { stack: async () => ({ status: 'UPDATE_COMPLETE', isProtected: true }) };
  const deployment = { facts, settings: { VAPID_SUBJECT: subject } } as unknown as Connection;
  expect(await checks['vapid subject']!(deployment)).toMatchObject({ level });
});
