import { cpSync, readFileSync } from 'node:fs';
import type { Template } from '../../admin/deployed-stack.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { useFolder } from '../fixtures/folder.ts';
import { useAccount } from './fixtures/account.ts';

const account = useAccount();
const folder = useFolder();
beforeEach(async () => {
  await account.aws.bootstrap();
  account.operator.usePrepared(sharedAssembly);
});

const deploy = 'npm run -s deploy -- --set vapidSubject=push@carillon.net alarmEmail=none';

type Properties = Record<string, unknown>;

/** Lets the operator update a deployed stack: to the same version, with other properties of a resource. */
async function change(start: string, edit: (properties: Properties) => void): Promise<void> {
  await account.aws.deploy(sharedAssembly);
  writeVersion(start, edit);
  account.operator.usePrepared(folder.path);
}

/** Writes an assembly with other properties of a resource. */
function writeVersion(start: string, edit: (properties: Properties) => void): void {
  cpSync(sharedAssembly, folder.path, { recursive: true });
  const file = 'Carillon.template.json';
  const template: Template = JSON.parse(readFileSync(`${folder.path}/${file}`, 'utf8'));
  const [, resource] = Object.entries(template.Resources).find(([id]) => id.startsWith(start))!;
  edit(resource.Properties as Properties);
  folder.write(file, JSON.stringify(template));
}

/** The steps in the listing of a section of docs/deploy.md. */
function stepsOf(heading: string): readonly string[] {
  const [, listing = ''] = new RegExp(`^## ${heading}$.*?^\`\`\`sh\n(git .*?)^\`\`\`$`, 'ms').exec(
    readFileSync('docs/deploy.md', 'utf8'),
  )!;
  return listing.trimEnd().split('\n');
}

const alarm = () => {
  const { Resources } = account.aws.cloudFormation.find('Carillon')!.template;
  return Object.entries(Resources).find(([id]) => id.startsWith('AlarmsSendErrors'))![1].Properties;
};
const isExecuted = () =>
  account.aws.calls.some(({ operation }) => operation === 'ExecuteChangeSet');

test('an update without changes asks nothing and changes nothing', async () => {
  const { aws, operator } = account;
  await operator.run(`${deploy} --yes --project my-shop`);
  aws.calls.length = 0;
  const { code, output } = await operator.run('npm run -s deploy', { answers: [] });
  expect(output).toContain('Carillon (no changes)');
  expect(output).not.toContain('API key card');
  expect(code).toBe(0);
  expect(isExecuted()).toBe(false);
});

test('an update that cannot read the projects does not claim that the stack has no project', async () => {
  const { aws, operator } = account;
  await operator.run(`${deploy} --yes --project my-shop`);
  aws.refuse('Scan', 'AccessDeniedException', 'No.');
  const { code, output } = await operator.run('npm run -s deploy', { answers: [] });
  expect(output).toContain('Carillon is deployed. Looking for a project, or creating');
  expect(output).not.toContain('without a project');
  expect(code).toBe(1);
});

test('an update is deployed after the operator has seen what it changes', async () => {
  await change('AlarmsSendErrors', (properties) => {
    properties.Threshold = 7;
  });
  const refused = await account.operator.run(deploy, { answers: [['(y/n) ', 'n']] });
  expect(refused.output).toMatch(/Threshold\s.*\[-\] 5\s.*\[\+\] 7\s/s);
  expect(refused.output).toContain('Carillon is CREATE_COMPLETE. A version runs.');
  expect(refused.code).toBe(1);
  expect(alarm()).toMatchObject({ Threshold: 5 });

  const { code } = await account.operator.run(deploy, {
    answers: [
      ['(y/n) ', 'y'],
      ['Id of your first project [my-site]: ', ''],
    ],
  });
  expect(code).toBe(0);
  expect(alarm()).toMatchObject({ Threshold: 7 });
});

test('the steps of the documents lead over a failure to a later version, and back', async () => {
  const { aws, operator } = account;
  const { failures } = aws.cloudFormation;
  const env = {
    ...{ GIT_AUTHOR_NAME: 'Ann', GIT_AUTHOR_EMAIL: 'ann@example.com' },
    ...{ GIT_COMMITTER_NAME: 'Ann', GIT_COMMITTER_EMAIL: 'ann@example.com' },
  };
  const run = async (line: string, succeeds = true) => {
    const isQuestion = line.startsWith('npm run -s deploy');
    const ran = await operator.run(
      line,
      isQuestion ? { env, answers: [['(y/n) ', 'y']] } : { env },
    );
    if (succeeds && ran.code !== 0) throw new Error(`${line}:\n${ran.output}`);
    return ran;
  };
  /** Types the steps up to the deployment. The gate and npm's registry are not here. */
  async function follow(
    heading: string,
    values: Readonly<Record<string, string>>,
  ): Promise<string> {
    const steps = stepsOf(heading).filter((line) => !line.startsWith('npm ci'));
    for (const step of steps.slice(0, -1)) {
      await run(step.replace(/<(.+?)>/g, (_, name: string) => values[name]!));
    }
    return steps.at(-1)!;
  }

  // The original repository has a version, which the operator deploys with settings of their own.
  const original = folder.write('original/.keep', '').replace('/.keep', '');
  await run("git init -q -b main . && git add cdk.json && git commit -qm 'Version 1'");
  await run(`rm -r ${original} && git clone -q . ${original}`);
  await run(`${deploy} --yes --project my-shop`);
  await run("git commit -qam 'Our settings'");
  const before = (await run('git rev-parse HEAD')).output.trim();

  // A later version appears.
  writeVersion('AlarmsSendErrors', (properties) => {
    properties.Threshold = 7;
  });
  const later = `sed -i 's|${sharedAssembly}/|${folder.path}/|' cdk.json && git commit -qam 'Version 2'`;
  await run(`cd ${original} && ${later} && git tag v2`);
  const update = await follow('Updating', {
    'address of the original repository': original,
    'tag of the version': 'v2',
  });
  failures.AlarmsSendErrors = 'Too low.';
  const failed = await run(update, false);
  expect(failed).toMatchObject({
    code: 1,
    output: expect.stringContaining('Carillon is UPDATE_ROLLBACK_COMPLETE. A version runs.'),
  });
  expect(alarm()).toMatchObject({ Threshold: 5 });
  delete failures.AlarmsSendErrors;
  await run(update);
  expect(alarm()).toMatchObject({ Threshold: 7 });
  expect(operator.settings()).toMatchObject({ vapidSubject: 'push@carillon.net' });

  await run(await follow('Rolling back', { 'commit before': before }));
  expect(alarm()).toMatchObject({ Threshold: 5 });
  expect(operator.settings()).toMatchObject({ vapidSubject: 'push@carillon.net' });
});

test('an update that would replace a table is refused, and says how to go on', async () => {
  await change('SubscriptionsTable', (properties) => {
    properties.KeySchema = [{ AttributeName: 'project', KeyType: 'HASH' }];
  });
  const { code, output } = await account.operator.run(`${deploy} --yes`);
  expect(output).toMatch(/would replace or remove SubscriptionsTable\w+, .* as another stage/);
  expect(code).toBe(1);
  expect(isExecuted()).toBe(false);
});

test('an update that asks for fewer writes than a table takes by now is refused', async () => {
  account.aws.facts.writesPerSecond = 6000;
  await change('DeliveriesTable', (properties) => {
    properties.WarmThroughput = { WriteUnitsPerSecond: 5000 };
  });
  const { code, output } = await account.operator.run(`${deploy} --yes`);
  expect(output).toMatch(/DeliveriesTable\w+ takes 6000 writes .* --set warmWritesPerSecond=6000/);
  expect(code).toBe(1);
  expect(isExecuted()).toBe(false);

  account.aws.facts.writesPerSecond = 5000;
  expect((await account.operator.run(`${deploy} --yes`)).code).toBe(0);
});

test('a stage is another stack, with settings of its own and without the domain of the first', async () => {
  const { aws, operator } = account;
  await aws.deploy(sharedAssembly);
  const certificateArn = 'arn:aws:acm:eu-west-1:111122223333:certificate/1234-abcd';
  const domainName = 'push.carillon.net';
  const Domain = { Type: 'AWS::ApiGatewayV2::DomainName', Properties: { DomainName: domainName } };
  Object.assign(aws.cloudFormation.find('Carillon')!.template.Resources, { Domain });
  const ofFirst = `domainName=${domainName} certificateArn=${certificateArn}`;
  // The domain is its own.
  const first = await operator.run(`${deploy} ${ofFirst} --yes --project my-shop`);
  expect(first.output).toContain('API key card of project "my-shop"');
  expect(first.code).toBe(0);
  const before = operator.settings();
  await aws.deploy(sharedAssembly);
  Object.assign(aws.cloudFormation.find('Carillon')!.template.Resources, { Domain });

  operator.useAppWithoutCode();
  aws.facts.executions = 10;
  const stage = 'npm run -s deploy -- --stage eu --yes --project my-shop';
  const refused = await operator.run(stage);
  expect(refused.output).toContain(`API Gateway has the domain ${domainName} already`);
  expect(refused.code).toBe(1);
  expect(operator.settings()).toEqual(before);

  const { code, output } = await operator.run(
    `${stage} --set domainName= certificateArn= vapidSubject=eu@carillon.net`,
  );
  expect(output).toContain('API key card of project "my-shop"');
  expect(output).toContain('doctor --deliver --stack Carillon-eu --region eu-west-1');
  expect(code).toBe(0);
  expect(operator.settings()).toEqual({
    ...before,
    ...{ 'eu.domainName': '', 'eu.certificateArn': '', 'eu.vapidSubject': 'eu@carillon.net' },
  });
  const { template } = aws.cloudFormation.find('Carillon-eu')!;
  expect(template.Outputs!.Quotas!.Value).toContain('"executions":10,');
  expect(JSON.stringify(template)).toContain('mailto:eu@carillon.net');
  expect(JSON.stringify(template)).not.toContain(domainName);
});
