import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { useFolder } from '../fixtures/folder.ts';
import { useAccount } from './fixtures/account.ts';

const account = useAccount();
const folder = useFolder();

const command = 'npm run -s deploy --';
const settings = '--set vapidSubject=push@carillon.net alarmEmail=ops@carillon.net';
const deploy = `${command} ${settings} --project my-shop --yes`;
const statusOf = (name: string) => account.aws.cloudFormation.find(name)?.status;

test('an empty account gets the service after a few answers', async () => {
  const { aws, operator } = account;
  const { code, output } = await operator.run('npm run -s deploy', {
    answers: [
      ['push services can reach you: ', 'push@carillon.net'],
      ['alarms notify, or "none" [none]: ', 'ops@carillon.net'],
      ['Create this in 111122223333, eu-west-1? [y/N] ', 'y'],
      ['Id of your first project [my-site]: ', 'my-shop'],
    ],
  });
  expect(output).toContain('API key card of project "my-shop"');
  expect(code).toBe(0);
  expect(output).toContain('Creating them takes 3 to 10 minutes (estimated).');
  expect(output).toContain('AWS has sent a mail to ops@carillon.net. Confirm it within 48 hours');
  expect(operator.settings()).toEqual({
    vapidSubject: 'push@carillon.net',
    alarmEmail: 'ops@carillon.net',
  });
  expect(output).toContain(
    'CloudFormation may do everything in this account (AdministratorAccess;',
  );
  // The CDK's template then names AdministratorAccess itself.
  expect(aws.cloudFormation.find('CDKToolkit')!.parameters).toMatchObject({
    CloudFormationExecutionPolicies: '',
  });
  const { status, isProtected, template } = aws.cloudFormation.find('Carillon')!;
  expect({ status, isProtected }).toEqual({ status: 'CREATE_COMPLETE', isProtected: true });
  expect(JSON.stringify(template)).toContain('mailto:push@carillon.net');
});

test('CloudFormation gets the policy that is named, once', async () => {
  const { aws, operator } = account;
  operator.usePrepared(sharedAssembly);
  const policy = 'arn:aws:iam::111122223333:policy/Deployment';
  const { code, output } = await operator.run(`${deploy} --execution-policy ${policy}`);
  expect(code).toBe(0);
  expect(output).toContain(`CloudFormation gets the rights of ${policy},`);
  const rights = { CloudFormationExecutionPolicies: policy };
  expect(aws.cloudFormation.find('CDKToolkit')!.parameters).toMatchObject(rights);

  const other = `${deploy} --execution-policy arn:aws:iam::aws:policy/PowerUserAccess`;
  expect((await operator.run(other)).output).toContain(
    '--execution-policy changes nothing: the CDK is set up here already.',
  );
  expect(aws.cloudFormation.find('CDKToolkit')!.parameters).toMatchObject(rights);
});

// An organisation has a bootstrap stack of its own. To update another one would change the rights of its apps.
describe('the bootstrap stack is found as the CDK finds it', () => {
  const created = () => account.aws.cloudFormation.stacks.map(({ name }) => name);
  const toolkits = [
    ['AcmeToolkit', 'hnb659fds'],
    ['CDKToolkit', 'acme'],
  ] as const;

  /** Lets the operator deploy with this qualifier. */
  function use(qualifier: string): void {
    cpSync(sharedAssembly, folder.path, { recursive: true });
    for (const file of readdirSync(folder.path).filter((name) => name.endsWith('.json'))) {
      const text = readFileSync(`${folder.path}/${file}`, 'utf8');
      folder.write(file, text.replaceAll('hnb659fds', qualifier));
    }
    account.operator.usePrepared(folder.path);
  }

  test.each(toolkits)('%s with the qualifier %s is used as it is', async (name, qualifier) => {
    const { aws, operator } = account;
    await aws.bootstrap(name, qualifier);
    use(qualifier);
    const { code } = await operator.run(deploy);
    expect(code).toBe(0);
    expect(created()).toEqual([name, 'Carillon']);
    expect(aws.calls.filter(({ role }) => role?.includes(qualifier))).not.toEqual([]);
  });

  test.each(toolkits)('without one, %s is created for %s', async (name, qualifier) => {
    const { aws, operator } = account;
    await aws.bootstrap('OtherToolkit', 'other');
    operator.configure('toolkitStackName', name);
    use(qualifier);
    const { code } = await operator.run(deploy);
    expect(code).toBe(0);
    expect(aws.cloudFormation.find(name)!.parameters).toMatchObject({
      Qualifier: qualifier,
    });
    expect(aws.cloudFormation.find('OtherToolkit')!.parameters).toEqual({ Qualifier: 'other' });
  });

  test.each(toolkits)(
    '%s is not changed if it has another qualifier than %s',
    async (name, qualifier) => {
      const { aws, operator } = account;
      await aws.bootstrap(name, 'other');
      operator.configure('toolkitStackName', name);
      use(qualifier);
      const { code, output } = await operator.run(deploy);
      expect(output).toContain(`The stack ${name} has another qualifier than ${qualifier}`);
      expect(code).toBe(1);
      expect(aws.cloudFormation.find(name)!.parameters).toEqual({ Qualifier: 'other' });
      expect(created()).toEqual([name]);
    },
  );

  test('one that is too old is found before anything is asked', async () => {
    const { aws, operator } = account;
    await aws.bootstrap();
    aws.facts.bootstrapVersion = 5;
    use('hnb659fds');
    const set = `${command} ${settings}`;
    const { code, output } = await operator.run(set, { answers: [] });
    expect(output).toContain('has version 5 in this account and region, and at least 6 is needed');
    expect(output).not.toContain('[y/N]');
    expect(code).toBe(1);
    aws.facts.bootstrapVersion = 6;
    expect((await operator.run(deploy)).code).toBe(0);
  });

  test('who may not read its version leaves that to the roles of the CDK', async () => {
    const { aws, operator } = account;
    await aws.bootstrap();
    use('hnb659fds');
    aws.refuse('GetParameter', 'AccessDeniedException', 'No.', (role) => role === undefined);
    expect((await operator.run(deploy)).code).toBe(0);
    expect(created()).toEqual(['CDKToolkit', 'Carillon']);
  });
});

describe('in an account that is bootstrapped', () => {
  let context: () => Readonly<Record<string, unknown>>;
  beforeEach(async () => {
    await account.aws.bootstrap();
    context = account.operator.usePrepared(sharedAssembly);
  });

  test('nobody is notified if the operator presses Enter', async () => {
    const { operator } = account;
    const { code, output } = await operator.run(`${command} --set vapidSubject=push@carillon.net`, {
      answers: [
        ['alarms notify, or "none" [none]: ', ''],
        ['[y/N] ', 'y'],
        ['Id of your first project [my-site]: ', ''],
      ],
    });
    expect(output).toContain('API key card of project "my-site"');
    expect(code).toBe(0);
    expect(output).not.toContain('AWS has sent a mail');
    expect(operator.settings().alarmEmail).toBe('none');
  });

  test('a deployment that is interrupted before its change set is executed can be repeated', async () => {
    const { aws, operator } = account;
    await operator.run(deploy, { interrupt: aws.hold('ExecuteChangeSet') });
    expect(statusOf('Carillon')).toBe('REVIEW_IN_PROGRESS');
    aws.allow('ExecuteChangeSet');
    const { code, output } = await operator.run(deploy);
    expect(output).toContain('API key card of project "my-shop"');
    expect(code).toBe(0);
  });

  test('a deployment that fails says what is there, and can be repeated', async () => {
    const { aws, operator } = account;
    aws.cloudFormation.failures.Send = 'The role may not be assumed.';
    const failed = await operator.run(deploy);
    expect(failed.code).toBe(1);
    expect(failed.output).toContain('The role may not be assumed.');
    expect(failed.output).toContain('Carillon is ROLLBACK_COMPLETE. The first deployment failed');
    delete aws.cloudFormation.failures.Send;
    const { code, output } = await operator.run(deploy);
    expect(output).toContain('Carillon could not be created. A new stack replaces the failed one.');
    expect(output).toContain('API key card of project "my-shop"');
    expect(code).toBe(0);
    expect(aws.cloudFormation.find('Carillon')!.isProtected).toBe(true);
  });

  test('while CloudFormation is working, the command does not start', async () => {
    const { aws, operator } = account;
    await aws.cloudFormation.add('Carillon', 'CREATE_IN_PROGRESS');
    const { code, output } = await operator.run(deploy);
    expect(output).toContain('Carillon is CREATE_IN_PROGRESS. CloudFormation is still working');
    expect(code).toBe(1);
  });

  test('limits of the account are used for this deployment, and not written', async () => {
    const { aws, operator } = account;
    Object.assign(aws.facts, { executions: 10, requestsPerSecond: 2500 });
    const { code, output } = await operator.run(deploy);
    expect(code).toBe(0);
    expect(output).toContain('Lambda runs 10 functions at once');
    expect(output).toContain('eventsPerSecond is 2500 instead of 5000');
    expect(context()).toMatchObject({
      ...{ 'prod.accountConcurrency': '10', 'prod.eventsPerSecond': '2500' },
    });
    expect(Object.keys(operator.settings())).toEqual(['alarmEmail', 'vapidSubject']);
  });

  test('limits that may not be read change nothing', async () => {
    const { aws, operator } = account;
    aws.refuse('GetAccountSettings', 'AccessDeniedException', 'No.');
    aws.refuse('GetAccount', 'AccessDeniedException', 'No.');
    const { code } = await operator.run(deploy);
    expect(code).toBe(0);
    expect(JSON.stringify(context())).not.toMatch(/accountConcurrency|eventsPerSecond/);
  });

  test('without permission to deploy, the command says who may not do what', async () => {
    const { aws, operator } = account;
    const message = 'User: ann is not authorized to perform: cloudformation:CreateChangeSet';
    aws.refuse('CreateChangeSet', 'AccessDenied', message);
    const { code, output } = await operator.run(deploy);
    expect(code).toBe(1);
    expect(output).toContain(message);
    expect(output).toContain('Carillon is not there. Nothing was created');
  });
});

test.each([
  ['', 'push services can reach you:" Use --set vapidSubject=…'],
  ['--set vapidSubject=push@carillon.net --yes', 'or "none" [none]:" Use --set alarmEmail=…'],
  ['--set vapidSubject=x alarmEmail=none --yes', 'setting vapidSubject must be an e-mail address'],
  ['--set vapidSubject', 'Use name=value'],
  ['--execution-policy AdministratorAccess', 'Use the ARN of a policy of IAM.'],
  ['--project "My Shop"', 'Use 1 to 64 lowercase letters'],
])('%j without a terminal changes nothing, and says what to do', async (flags, message) => {
  const { aws, operator } = account;
  const { code, output } = await operator.run(`${command} ${flags}`);
  expect(output).toContain(message);
  expect(code).toBeGreaterThan(0);
  expect(operator.settings()).toEqual({});
  expect(aws.cloudFormation.find('CDKToolkit')).toBeUndefined();
});

test.each([
  ['--set alarmEmial=none', 'unknown setting alarmEmial; did you mean alarmEmail?'],
  ['--set vapidSubject=x', 'setting vapidSubject must be an e-mail address'],
])('a mistake in %j is found before anything is asked or signed in to', async (flags, message) => {
  const { aws, operator } = account;
  const { code, output } = await operator.run(`${command} ${flags}`);
  expect(output).toContain(message);
  expect(code).toBe(1);
  expect(aws.calls).toEqual([]);
});

test.each([
  ['ExpiredToken', 'The token is expired.', 'Sign in again.'],
  ['InvalidClientTokenId', 'The token is invalid.', 'Sign in again, or enable the region '],
])('credentials that AWS refuses with %s are refused first', async (error, said, advice) => {
  const { aws, operator } = account;
  aws.refuse('GetCallerIdentity', error, said);
  const { code, output } = await operator.run(deploy);
  expect(output).toContain(`AWS refuses the credentials: ${said} ${advice}`);
  expect(code).toBe(1);
});

test('a profile with MFA asks for one code', async () => {
  const { aws, operator } = account;
  await aws.bootstrap();
  operator.usePrepared(sharedAssembly);
  operator.write(
    '.aws/config',
    '[profile work]\nregion = eu-west-1\nrole_arn = arn:aws:iam::111122223333:role/deployer\nmfa_serial = arn:aws:iam::111122223333:mfa/ann\nsource_profile = ann\n[profile ann]\naws_access_key_id = ANN\naws_secret_access_key = ann\n',
  );
  const { code, output } = await operator.run(`${command} ${settings} --yes --project my-shop`, {
    env: { AWS_PROFILE: 'work', AWS_ACCESS_KEY_ID: undefined, AWS_REGION: undefined },
    answers: [['Code of the MFA device arn:aws:iam::111122223333:mfa/ann: ', '123456']],
  });
  expect(output).toContain('API key card of project "my-shop"');
  expect(code).toBe(0);
  expect(aws.calls.filter(({ input }) => input.TokenCode === '123456')).toHaveLength(1);
});
