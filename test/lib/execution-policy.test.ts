import { readFileSync } from 'node:fs';
import { CfnResource, TagManager } from 'aws-cdk-lib';
import { executionPolicy, permissions } from '../../lib/execution-policy.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

const alarmEmail = 'on-call@carillon.net';

/** With every resource that a setting adds. */
const { app, template } = synthesize({
  ...{ alarmEmail, monthlyBudget: 20, domainName: 'push.carillon.net' },
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1234-abcd',
  hostedZoneId: 'Z0123456789',
});
const { Resources, Parameters } = template.toJSON();
const found = [...Object.values(Resources), ...Object.values(Parameters)] as { Type: string }[];
const types = [...new Set(found.map(({ Type }) => Type))];

test.each(types)('CloudFormation may deploy %s', (type) => {
  expect(Object.keys(permissions)).toContain(type);
});

// A security group: `carillon.test.ts` has a service in a network.
test('the policy is about nothing else', () => {
  const others = Object.keys(permissions).filter((type) => !types.includes(type));
  expect(others).toEqual(['AWS::EC2::SecurityGroup']);
});

const taggedTypes = new Set(
  app.node
    .findAll()
    .filter((construct) => CfnResource.isCfnResource(construct))
    .filter((resource) => TagManager.of(resource) !== undefined)
    .map(({ cfnResourceType }) => cfnResourceType),
);

// Each resource gets the tag of the service, and the tags of the app: without these actions it is not created.
test.each([...taggedTypes])('CloudFormation may tag %s', (type) => {
  const actions = permissions[type]!.flatMap(({ Action }) => Action);
  expect(actions).toContainEqual(expect.stringMatching(/:Tag(Resource|Role)$/));
  expect(actions).toContainEqual(expect.stringMatching(/:Untag(Resource|Role)$/));
});

test('a stack without a domain, a budget and alarms that notify needs no rights for them', () => {
  const without = synthesize({ alarmEmail: 'none' }).template.toJSON();
  const present = [...Object.values(without.Resources), ...Object.values(without.Parameters)];
  const policy = executionPolicy(present.map((one) => (one as { Type: string }).Type));
  expect(JSON.stringify(policy)).not.toMatch(/route53|budgets|domainnames|:sns:|"Sid"/);
  const left = executionPolicy().Statement.filter((statement) => !('Sid' in statement));
  expect(policy.Statement).toEqual(left);
});

test('IAM takes each Sid once', () => {
  const ids = executionPolicy().Statement.flatMap((statement) =>
    'Sid' in statement ? [statement.Sid] : [],
  );
  expect(ids).toEqual([...new Set(ids)]);
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]+$/);
});

test('the document names no partition', () => {
  expect(JSON.stringify(executionPolicy())).not.toMatch(/arn:aws/);
});

test('execution-policy.json is up to date: npm run execution-policy writes it', () => {
  expect(JSON.parse(readFileSync('execution-policy.json', 'utf8'))).toEqual(executionPolicy());
});

test('IAM accepts a policy of this size', () => {
  // Without blanks, which it does not count.
  expect(JSON.stringify(executionPolicy()).length).toBeLessThanOrEqual(6144);
});

test('no service is allowed everything, and roles only to functions', () => {
  const { Statement } = executionPolicy();
  const actions = Statement.flatMap(({ Action }) => Action);
  expect(actions.filter((action) => action.includes('*'))).toEqual([]);
  const passing = Statement.filter(({ Action }) => Action.includes('iam:PassRole'));
  expect(passing).toMatchObject([
    { Condition: { StringEquals: { 'iam:PassedToService': 'lambda.amazonaws.com' } } },
  ]);
});
