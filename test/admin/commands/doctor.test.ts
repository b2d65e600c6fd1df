import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { connect } from '../../../admin/commands/connection.ts';
import { dollarsPerMillionSends, runReport } from '../../../admin/commands/doctor.ts';
import { projectRegistry } from '../../../admin/project-registry.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import { version } from '../../../package.json' with { type: 'json' };
import { temporaryFolder } from '../../fixtures/folder.ts';
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
    // This stack has sent nothing.
    expect(output).toContain('Nothing is wrong with the latest sends.');
    expect(levels).toEqual({
      stack: 'skipped',
      version: 'ok',
      functions: 'ok',
      settings: 'ok',
      'vapid subject': 'skipped',
      address: 'ok',
      concurrency: 'ok',
      'api throttle': 'skipped',
      'alarm actions': 'skipped',
      alarms: 'skipped',
      tables: 'ok',
      keys: 'ok',
      limits: 'ok',
      counters: 'ok',
      sends: 'ok',
      'member keys': 'ok',
    });
  });

  it('delivers a notification if it is asked to, and leaves nothing behind', async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'run.json');
    const { code, output, messages } = await operator.run([
      'doctor',
      '--deliver',
      '--report',
      file,
    ]);
    expect({ code, messages }).toEqual({ code: 0, messages: '' });
    expect(output).toMatch(
      /^ok {7}message {8}The message arrived and was decrypted\. \(\d+ ms\)$/m,
    );
    const { output: projects } = await operator.run(['list', '--json']);
    expect(JSON.parse(projects)).toEqual([]);
    const report = JSON.parse(readFileSync(file, 'utf8'));
    folder.remove();
    expect(report).toEqual({
      ...{ carillon: version, node: process.versions.node, region: 'local' },
      startedAt: expect.stringMatching(/^20.*Z$/),
      seconds: expect.any(Number),
      pushService: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      checks: expect.arrayContaining([
        { check: 'limits', level: 'ok' },
        { check: 'message', level: 'ok', milliseconds: expect.any(Number) },
      ]),
      calculated: { dollarsPerSend: 0.00001615, from: expect.any(String) },
    });
    expect(readFileSync('docs/performance.md', 'utf8')).toContain(
      `each a send to one user id | 1 | 1 | 0.51 | 10 | 5.5 | 2.1 | 1.8 | **${dollarsPerMillionSends}**`,
    );
  });

  it('writes a report without names, keys or addresses', async () => {
    const run = {
      startedAt: new Date(0),
      region: 'eu-west-1',
      pushService: 'wss://a.example/b?c=d',
    };
    const findings = [{ check: 'sends', level: 'problem', message: 'shop-1: Ann' }] as const;
    const report = runReport({ ...run, findings }, new Date(1500));
    expect(report).toMatchObject({ seconds: 1.5, region: 'eu-west-1', pushService: 'a.example' });
    expect(JSON.stringify(report)).not.toMatch(/shop-1|Ann|c=d/);
  });

  it('delivers through another push service', async () => {
    const address = 'ws://127.0.0.1:9';
    const { code, output } = await operator.run(['doctor', '--via', address, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(output).at(-1)).toMatchObject({
      check: 'websocket',
      message: expect.stringMatching(`This machine must reach ${address}: .* with --via\\.$`),
    });
  });

  it('refuses an address that is not a WebSocket', async () => {
    const { code, messages } = await operator.run(['doctor', '--via', 'https://example.com']);
    expect(code).toBe(2);
    expect(messages).toContain('Use the address of a WebSocket');
  });
});

test('a stack with problems has one line for each of them, and ends with code 1', async () => {
  const operator = await startServiceOperator({ accountConcurrency: 10 });
  const project = await operator.service.createProject({ subscriberCap: 1 });
  const browser = await operator.service.subscribe(project);
  browser.behave({ status: 503 });
  const { dynamo, stack } = operator.service;
  const longAgo = () => new Date('2025-01-01T00:00:00Z');
  const registry = projectRegistry(dynamo, projectTables(stack.dynamodb.tables), longAgo);
  const member = { name: 'Ann', role: 'viewer', random: randomBytes } as const;
  await registry.invite(project.projectId, member);
  const changed: typeof connect = async (location) => {
    const connection = await connect(location);
    return { ...connection, settings: { ...connection.settings, SUBSCRIBER_CAP: 5000 } };
  };
  // Nobody gets what it sends, and a counter is wrong.
  const { projectId, ref } = await operator.service.createProject();
  await operator.service.send(project, { title: 'T' });
  const parts = { projectRef: ref, period: 'subscribers#1' };
  await dynamo.send(
    new UpdateCommand({
      TableName: stack.dynamodb.tables.USAGE_TABLE,
      Key: parts,
      UpdateExpression: 'SET used = :used',
      ExpressionAttributeValues: { ':used': 7 },
    }),
  );
  const lost = { TableName: stack.dynamodb.tables.VAPID_KEYS_TABLE, Key: { projectId } };
  await dynamo.send(new DeleteCommand(lost));
  await operator.run(['pause', projectId]);
  const { code, output, messages } = await operator.run(['doctor'], undefined, changed);
  expect({ code, messages }).toEqual({ code: 1, messages: 'Problems: 5.\n' });
  const found = output.trimEnd().split('\n');
  expect(found.filter((line) => !/^(ok|skipped) /.test(line))).toEqual([
    expect.stringMatching(
      /^problem {2}settings +Changed by hand: SUBSCRIBER_CAP of Subscribe\w+, SUBSCRIBER_CAP of GetProject\w+\./,
    ),
    expect.stringMatching(/^warning {2}concurrency +Lambda runs 10 functions .* AWS may take days/),
    expect.stringMatching(
      `^problem {2}keys +VapidKeys or IdentityKeys have nothing of ${projectId}\\. .*docs/backup\\.md`,
    ),
    expect.stringMatching(
      `^problem {2}limits +Reached: ${project.projectId} \\(1 of 1 subscribers\\)\\. New subscribers get 403: see docs/runbook\\.md#subscribersrefused\\.$`,
    ),
    expect.stringMatching(
      `^problem {2}counters +Counted otherwise than stored: the subscribers of ${projectId}\\. .* recount ${projectId} --local`,
    ),
    expect.stringMatching(
      `^problem {2}sends +.*${project.projectId}, 20.* UTC: Failed: None of 1 was delivered\\. Failures: unavailable 1\\.`,
    ),
    expect.stringMatching(/^warning {2}member keys +Older than a year: .* project-\d+ \(Ann\)\./),
  ]);
  expect(output).toMatch(
    new RegExp(
      `${projectId} is paused since 20.* \\(who did it: .* audit .*; to end it: .* resume ${projectId} --local\\)`,
    ),
  );
  await operator.stop();
});
