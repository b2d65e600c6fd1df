import { readFileSync } from 'node:fs';
import { linesOf, subscriptionJson } from '../fixtures/subscription-lines.ts';
import { useAccount } from './fixtures/account.ts';

const account = useAccount();

/** The commands of a way in docs/migrate.md, in their order. */
function stepsOf(way: string): readonly string[] {
  const [, text = ''] = readFileSync('docs/migrate.md', 'utf8').split(`**${way}`);
  const [steps = ''] = text.split(/^(?:\*\*|## )/m);
  return [...steps.matchAll(/npm run -s [^`\n]+/g)].map(([step]) => step);
}

const certificateArn = 'arn:aws:acm:eu-west-1:111122223333:certificate/1234-abcd';

async function type(step: string, ...answers: readonly string[]): Promise<string> {
  const line = step
    .replaceAll('push.your-domain.example', 'push.carillon.net')
    .replaceAll('arn:aws:acm:…', certificateArn);
  const agreed = answers.map((answer) => ['(y/n) ', answer] as const);
  const { code, output } = await account.operator.run(line, { answers: agreed });
  if (code !== 0) throw new Error(`${line}:\n${output}`);
  return output;
}

/** The domain of a stack, if it has one. */
function domainOf(stack: string): unknown {
  const resources = Object.values(account.aws.cloudFormation.find(stack)!.template.Resources);
  const domain = resources.find(({ Type }) => Type === 'AWS::ApiGatewayV2::DomainName');
  return domain?.Properties?.DomainName;
}

const shown = async (stack: string) =>
  JSON.parse(await type(`npm run -s carillon -- show my-site --json --stack ${stack}`));

// Each deployment synthesizes.
test('a project and the domain move to another stack as the documents say', async () => {
  const { aws, operator } = account;
  await aws.bootstrap();
  operator.useAppWithoutCode();
  const domain = `domainName=push.your-domain.example certificateArn=arn:aws:acm:… hostedZoneId=Z0123456789`;
  const settings = `vapidSubject=push@carillon.net alarmEmail=none ${domain}`;
  await type(`npm run -s deploy -- --set ${settings} --yes --project my-site`);
  const list = operator.write('list.ndjson', linesOf([subscriptionJson(), subscriptionJson()]));
  await type(`npm run -s carillon -- subscriptions import my-site ${list}`);
  const before = await shown('Carillon');

  const steps = stepsOf("The service's domain moves along");
  expect(steps).toHaveLength(7);
  const [deployNext, pause, freeDomain, exportIt, importIt, deployWithDomain, resume] = steps;
  await type(deployNext!);
  expect([domainOf('Carillon'), domainOf('Carillon-next')]).toEqual([
    'push.carillon.net',
    undefined,
  ]);
  await type(pause!);
  await type(freeDomain!, 'y');
  expect(domainOf('Carillon')).toBeUndefined();
  await type(exportIt!);
  await type(importIt!);
  expect((await shown('Carillon-next')).pausedAt).toEqual(expect.any(String));
  await type(deployWithDomain!, 'y');
  await type(resume!);
  expect(domainOf('Carillon-next')).toBe('push.carillon.net');
  expect(await shown('Carillon-next')).toEqual(before);

  // The other way: who has subscribed at the old stack since.
  const late = operator.write('late.ndjson', linesOf([subscriptionJson()]));
  await type(`npm run -s carillon -- subscriptions import my-site ${late}`);
  for (const step of stepsOf('It gets another domain, or has none')) await type(step);
  expect((await shown('Carillon-next')).usage.subscribers).toBe(3);
}, 900_000);
