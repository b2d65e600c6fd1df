import { limits } from '../../../contract/limits.ts';
import type { ProjectCredentials } from '../../fixtures/service.ts';
import { type ServiceOperator, startServiceOperator } from '../../fixtures/service-operator.ts';

let operator: ServiceOperator;
let project: ProjectCredentials;
const keyVariable = 'CARILLON_SECRET_KEY';

beforeAll(async () => {
  operator = await startServiceOperator();
});
afterAll(() => operator.stop());
beforeEach(async () => {
  project = await operator.service.createProject();
  process.env[keyVariable] = project.secretKey;
});
afterEach(() => {
  delete process.env[keyVariable];
});

describe('send', () => {
  it('sends to one user without asking', async () => {
    const ann = await operator.service.subscribe(project, 'ann');
    const bob = await operator.service.subscribe(project, 'bob');
    const { code, output } = await operator.run([
      'send',
      project.projectId,
      ...['--user', 'ann', '--title', 'Hello', '--body', 'Ann', '--json'],
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ attempted: 1, delivered: 1 });
    expect(ann.messages).toHaveLength(1);
    expect(bob.messages).toHaveLength(0);
  });

  it('sends to everyone after the operator types the id', async () => {
    await operator.service.subscribe(project);
    const { projectId } = project;
    const { code, output, messages } = await operator.run(['send', projectId], `${projectId}\n`);
    expect(code).toBe(0);
    expect(messages).toContain(`This sends "Test" to 1 subscriber of "${projectId}".`);
    expect(output).toMatch(/^Sent \S+: 1 attempted, 1 delivered, 0 removed\.\nFailed: 0\n$/);
  });

  it.each([
    ['types something else', 'yes\n', 'Nothing was sent.'],
    ['has no terminal', undefined, 'Use --yes to continue without asking.'],
  ])('sends nothing to everyone if the operator %s', async (_title, typed, message) => {
    const browser = await operator.service.subscribe(project);
    const { code, messages } = await operator.run(['send', project.projectId], typed);
    expect(code).toBe(1);
    expect(messages).toContain(message);
    expect(browser.messages).toHaveLength(0);
  });

  it('sends to the subscribers with any of the channels that were seen lately', async () => {
    const chosen = await operator.service.subscribe(project, undefined, ['news']);
    const other = await operator.service.subscribe(project, undefined, ['other']);
    const { projectId } = project;
    const conditions = ['--channel', 'sales', '--channel', 'news', '--seen-within-days', '7'];
    const sent = await operator.run(['send', projectId, ...conditions], `${projectId}\n`);
    expect(sent.messages).toContain(
      `This sends "Test" to 2 subscribers of "${projectId}", without those that do not match.`,
    );
    expect([chosen, other].map(({ messages }) => messages.length)).toEqual([1, 0]);
    const { output } = await operator.run(['stats', projectId]);
    expect(output).toContain('  everyone, with sales or news, seen within 7 days  ');
  });

  it.each([
    ['--title', ' ', "Option '--title <text>' argument ' ' is invalid. Use a title that is not"],
    ['--seen-within-days', 'week', "argument 'week' is invalid. Use whole days from 1 to 365."],
    ['--seen-within-days', '1.5', "argument '1.5' is invalid. Use whole days from 1 to 365."],
    ['--seen-within-days', '366', "argument '366' is invalid. Use whole days from 1 to 365."],
  ])('refuses %s "%s" before it asks', async (option, value, message) => {
    const args = ['send', project.projectId, option, value];
    const { code, messages } = await operator.run(args, `${project.projectId}\n`);
    expect(code).toBe(2);
    expect(messages).toContain(message);
    expect(messages).not.toContain('Type the project id');
  });

  it.each([
    [[], 'Nobody is subscribed'],
    [['--user', 'ann'], 'None of these users is subscribed'],
    [['--channel', 'news'], 'No subscriber has channel news'],
  ])('says in one sentence that nobody was there (options %j)', async (options, reason) => {
    const { code, output } = await operator.run(['send', project.projectId, '--yes', ...options]);
    expect({ code, output }).toEqual({ code: 0, output: `No recipients: ${reason}.\n` });
  });

  it('reads a key with blanks and line feeds around it from the variable', async () => {
    process.env[keyVariable] = ` ${project.secretKey}\r\n`;
    const { code, messages } = await operator.run(['send', project.projectId, '--yes']);
    expect({ code, messages }).toEqual({ code: 0, messages: '' });
  });

  it('prints failures by their reason', async () => {
    for (const status of [403, 400, 403]) {
      (await operator.service.subscribe(project)).behave({ status });
    }
    const { code, output } = await operator.run(['send', project.projectId, '--yes']);
    expect(code).toBe(0);
    expect(output).toMatch(/: 3 attempted, 0 delivered, 0 removed\.\nFailed: 3 {2}/);
    expect(output).toContain('  vapid_refused 2');
    expect(output).toContain('\nFailed: None of 3 was delivered.');
    const { id } = JSON.parse(
      (await operator.run(['stats', project.projectId, '--json'])).output,
    )[0];
    const one = await operator.run(['stats', project.projectId, id]);
    expect(one.output).toContain('\nFailed: None of 3 was delivered.');
    const list = await operator.run(['stats', project.projectId], '');
    expect(list.output).toContain('\x1b[31mFailed\x1b[39m');
  });

  it.each([
    ['is missing', undefined, 'missing_secret_key'],
    ['is malformed', 'carillon_sk_x', 'malformed_secret_key'],
    ['is wrong', `carillon_sk_${'A'.repeat(43)}`, 'unauthorized'],
  ])('fails with a code if the key %s', async (_title, key, code) => {
    if (key === undefined) delete process.env[keyVariable];
    else process.env[keyVariable] = key;
    const { messages } = await operator.run(['send', project.projectId, '--yes', '--json']);
    expect(JSON.parse(messages).error.code).toBe(code);
    if (key !== undefined) expect(messages).not.toContain(key);
  });
});

describe('stats', () => {
  it('prints the counts of a notification', async () => {
    const browser = await operator.service.subscribe(project);
    const gone = await operator.service.subscribe(project);
    gone.unsubscribe();
    const { body } = await operator.service.send(project, { title: 'Hello' });
    await browser.show();
    const args = ['stats', project.projectId, body.id];
    const { code, output } = await operator.run(args);
    expect(code).toBe(0);
    expect(output).toMatch(
      /Status +sent\n +Attempted +2\n +Delivered +1 \(50\.0%\)\n +Removed +1\n/,
    );
    expect(output).toMatch(/Shown +1 \(100\.0%\)\n +Clicked +0 \(0\.0%\)\n/);
    expect(JSON.parse((await operator.run([...args, '--json'])).output)).toMatchObject({
      ...{
        id: body.id,
        title: 'Hello',
        audience: 'everyone',
        attempted: 2,
        delivered: 1,
        shown: 1,
      },
    });
  });

  it('lists the last 20 notifications with their rates, the newest first', async () => {
    const { projectId } = project;
    const none = await operator.run(['stats', projectId]);
    expect(none.output).toBe(
      `"${projectId}" has sent no notification within the last ${limits.notificationRetentionDays} days.\n`,
    );
    const browsers = await Promise.all(
      Array.from({ length: 4 }, () => operator.service.subscribe(project)),
    );
    for (let sent = 1; sent <= 20; sent += 1) {
      await operator.service.send(project, { title: `Number ${sent}`, userIds: ['nobody'] });
    }
    browsers[0]!.behave({ status: 403 });
    const { body } = await operator.service.send(project, { title: 'To all' });
    await browsers[1]!.show();
    const { code, output } = await operator.run(['stats', projectId]);
    expect(code).toBe(0);
    const [titles, newest, ...others] = output.trimEnd().split('\n');
    expect(titles).toMatch(
      /^sent +title +to +status +attempted +delivered +removed +failed +shown +clicked/,
    );
    expect(newest).toMatch(
      /UTC {2}To all +everyone +1 of 4 failed +4 +3 \(75\.0%\) +0 \(0\.0%\) +1 \(25\.0%\) +1 \(33\.3%\) +0 \(0\.0%\) +/,
    );
    expect(newest).toContain(body.id);
    expect(others).toHaveLength(19);
    expect(others[0]).toMatch(/Number 20 +1 user id +sent +0 +0 +0 +0 +0 /);
    const json = JSON.parse((await operator.run(['stats', projectId, '--json'])).output);
    expect(json).toHaveLength(20);
    const one = await operator.run(['stats', projectId, body.id, '--json']);
    expect(json[0]).toEqual(JSON.parse(one.output));
  });

  it.each([
    ['unknown', '019aa8d2-7c1e-7d2a-9b1f-0d8c6b1f2a3e', 1, 'notification_not_found'],
    ['malformed', 'x', 2, 'usage'],
  ])('fails for an id that is %s', async (_title, id, exitCode, errorCode) => {
    const { code, messages } = await operator.run(['stats', project.projectId, id, '--json']);
    expect(code).toBe(exitCode);
    expect(JSON.parse(messages).error.code).toBe(errorCode);
  });
});

describe('stop', () => {
  it('stops a notification that is being sent, with the secret key from a file', async () => {
    const { service, folder } = operator;
    delete process.env[keyVariable];
    const file = folder.write('key.txt', `${project.secretKey}\n`);
    (await service.subscribe(project)).behave({ stall: true });
    const prefer = { prefer: 'respond-async' };
    const { body } = await service.send(project, { title: 'Hello' }, prefer);
    const args = ['stop', project.projectId, body.id, '--key-file', file];
    const { code, output } = await operator.run(args);
    expect(code).toBe(0);
    expect(output).toMatch(/^\S+\n +Title +Hello\n.*\n +Status +stop(ping|ped)\n/);
    const { status } = JSON.parse((await operator.run([...args, '--json'])).output);
    expect(['stopping', 'stopped']).toContain(status);
  });
});
