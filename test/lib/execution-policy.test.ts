import { readFileSync } from 'node:fs';
import { executionPolicy, permissions } from '../../lib/execution-policy.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

const alarmEmail = 'on-call@carillon.net';

/** With every resource that a setting adds. */
const { template } = synthesize({
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

test.each(Object.keys(permissions))('the stack can have %s', (type) => {
  expect(types).toContain(type);
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
