import { readFileSync } from 'node:fs';
import { Match } from 'aws-cdk-lib/assertions';
import { type Route, routes } from '../../contract/wire/routes.ts';
import { routeKey, synthesize } from '../fixtures/synthesized-stack.ts';

const service = synthesize();
const { template, resources, functionOf } = service;
const stage = Object.values(resources('AWS::ApiGatewayV2::Stage'))[0]!.Properties;
const all = Object.values<Route>(routes);

const consoleKeys = ['GET /console', 'GET /console/{file}'];
const apiKeys = all.flatMap((route) => [
  routeKey(route),
  ...(route.answersPreflight ? [`OPTIONS ${route.path}`] : []),
]);
const expectedKeys = [...apiKeys, ...consoleKeys];

test('the API has the routes of the contract, their preflights and the console', () => {
  const keys = Object.values(resources('AWS::ApiGatewayV2::Route')).map(
    ({ Properties }) => Properties.RouteKey,
  );
  expect(keys.sort()).toEqual([...expectedKeys].sort());
});

test('without the console, the stack has neither its function nor its routes', () => {
  const without = synthesize({ console: 'false' });
  const keys = Object.values(without.resources('AWS::ApiGatewayV2::Route')).map(
    ({ Properties }) => Properties.RouteKey,
  );
  expect(keys.sort()).toEqual([...apiKeys].sort());
  expect(without.functionNamed('console')).toBeUndefined();
  expect(JSON.stringify(without.template.toJSON())).not.toMatch(/console/i);
});

test('every path that browsers use has one preflight, and send has none', () => {
  const paths = new Set(all.filter(({ caller }) => caller === 'browser').map(({ path }) => path));
  const preflights = expectedKeys.filter((key) => key.startsWith('OPTIONS '));
  expect(preflights.sort()).toEqual([...paths].map((path) => `OPTIONS ${path}`).sort());
  expect(preflights).not.toContain(`OPTIONS ${routes.send.path}`);
});

test('API Gateway responds to no preflight, or it would drop the functions’ headers', () => {
  template.allResourcesProperties('AWS::ApiGatewayV2::Api', {
    ProtocolType: 'HTTP',
    CorsConfiguration: Match.absent(),
  });
});

test('API Gateway may invoke a function only for its path', () => {
  const permissions = Object.values(resources('AWS::Lambda::Permission'));
  expect(permissions).toHaveLength(expectedKeys.length);
  for (const { Properties } of permissions) {
    const paths = expectedKeys
      .filter((key) => functionOf(key) === Properties.FunctionName['Fn::GetAtt'][0])
      .map((key) => `/*/*${key.split(' ')[1]!}`);
    expect(Properties.Principal).toBe('apigateway.amazonaws.com');
    expect(paths).toContain(Properties.SourceArn['Fn::Join'][1].at(-1));
  }
});

test('the only stage is $default', () => {
  template.resourceCountIs('AWS::ApiGatewayV2::Stage', 1);
  expect(stage).toMatchObject({ StageName: '$default', AutoDeploy: true });
});

test('every route has a throttle, and send has metrics too', () => {
  expect(Object.keys(stage.RouteSettings).sort()).toEqual([...expectedKeys].sort());
  for (const [key, settings] of Object.entries(stage.RouteSettings)) {
    expect(settings).toEqual({
      DetailedMetricsEnabled: key === routeKey(routes.send),
      ThrottlingRateLimit: expect.any(Number),
      ThrottlingBurstLimit: expect.any(Number),
    });
  }
});

/** Over all routes. */
const sumOf = (name: string) =>
  Object.values<Record<string, number>>(stage.RouteSettings).reduce(
    (sum, one) => sum + one[name]!,
    0,
  );

test('the throttles of all routes add up to less than the account’s quotas', () => {
  expect(sumOf('ThrottlingRateLimit')).toBeLessThanOrEqual(10_000);
  expect(JSON.parse(template.findOutputs('Quotas').Quotas!.Value)).toMatchObject({
    requestsPerSecond: sumOf('ThrottlingRateLimit'),
  });
  expect(sumOf('ThrottlingBurstLimit')).toBeLessThanOrEqual(5000);
});

test('the throttle of events is a setting', () => {
  const raised = synthesize({ eventsPerSecond: '12001' });
  const { RouteSettings } = Object.values(raised.resources('AWS::ApiGatewayV2::Stage'))[0]!
    .Properties;
  expect(RouteSettings[routeKey(routes.track)]).toMatchObject({
    ThrottlingRateLimit: 12_001,
    ThrottlingBurstLimit: 6001,
  });
  expect(RouteSettings[routeKey(routes.send)]).toEqual(stage.RouteSettings[routeKey(routes.send)]);
  expect(JSON.parse(raised.template.findOutputs('Quotas').Quotas!.Value)).toMatchObject({
    requestsPerSecond: sumOf('ThrottlingRateLimit') - 5000 + 12_001,
  });
});

test.each(all)('the throttle of $name is documented', ({ name, ...route }) => {
  const { ThrottlingRateLimit, ThrottlingBurstLimit } = stage.RouteSettings[routeKey(route)];
  const [, section] = readFileSync('docs/operating.md', 'utf8').split('\n## Throttles\n');
  const rows = section!.split('\n');
  const row =
    rows.find((line) => line.startsWith('| ') && line.split(/[ ,|]+/).includes(name)) ??
    rows.find((line) => line.startsWith('| the others with the secret key |'));
  const figures = row!.replaceAll(' each', '').split(' | ').slice(1).join(' ');
  const deployed = [ThrottlingRateLimit, ThrottlingBurstLimit].map((limit) =>
    limit.toLocaleString('en-US'),
  );
  expect(figures).toBe(`${deployed.join(' ')} |`);
});

test('the stage is created after the routes in its settings', () => {
  const [id] = Object.keys(resources('AWS::ApiGatewayV2::Stage'));
  expect(template.toJSON().Resources[id!].DependsOn).toEqual(
    expect.arrayContaining(Object.keys(resources('AWS::ApiGatewayV2::Route'))),
  );
});

// API Gateway would add a group of any other name to the account's resource policy, which has a maximum length.
// The stack's id has a UUID: a second stage, and a stack that is created again, get other names.
// A service that is removed and added again has another API, so that a log which an app has kept is not in its way.
test('the access log has a name that AWS’s own policy covers and that no other API has', () => {
  const logicalId = stage.AccessLogSettings.DestinationArn['Fn::GetAtt'][0];
  const [api] = Object.keys(resources('AWS::ApiGatewayV2::Api'));
  expect(resources('AWS::Logs::LogGroup')[logicalId]!.Properties.LogGroupName).toEqual({
    'Fn::Join': ['', ['/aws/vendedlogs/carillon/Carillon/', { Ref: api }]],
  });
});

test('the access log has no ids in paths, queries, headers or addresses', () => {
  const format = stage.AccessLogSettings.Format as string;
  // API Gateway requires it.
  expect(format).toContain('$context.requestId');
  for (const variable of format.match(/\$[\w.]+/g)!) {
    expect(variable).toMatch(/^\$context\./);
    expect(variable).not.toMatch(/path|authori|header|query|identity/i);
  }
});

const domainName = 'push.carillon.example';
const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/1234-abcd';

const baseUrlOf = (stack: ReturnType<typeof synthesize>) =>
  stack.resources('AWS::Lambda::Function')[stack.functionNamed('send')]!.Properties.Environment
    .Variables.PUBLIC_BASE_URL;
const outputsOf = (stack: ReturnType<typeof synthesize>) =>
  Object.fromEntries(
    Object.entries(stack.template.findOutputs('*')).map(([name, { Value }]) => [name, Value]),
  );

test('without settings, the address is that of the API', () => {
  const [api] = Object.keys(service.resources('AWS::ApiGatewayV2::Api'));
  const apiUrl = { 'Fn::GetAtt': [api, 'ApiEndpoint'] };
  expect(baseUrlOf(service)).toEqual(apiUrl);
  expect(outputsOf(service).ApiUrl).toEqual(apiUrl);
  service.template.resourceCountIs('AWS::ApiGatewayV2::DomainName', 0);
  service.template.hasResourceProperties('AWS::ApiGatewayV2::Api', {
    DisableExecuteApiEndpoint: false,
  });
});

test('with a domain, it is the address, and that of the API is disabled', () => {
  const stack = synthesize({ domainName, certificateArn });
  stack.template.hasResourceProperties('AWS::ApiGatewayV2::Api', {
    DisableExecuteApiEndpoint: true,
  });
  stack.template.hasResourceProperties('AWS::ApiGatewayV2::DomainName', {
    DomainName: domainName,
    DomainNameConfigurations: [
      Match.objectLike({ CertificateArn: certificateArn, EndpointType: 'REGIONAL' }),
    ],
  });
  stack.template.resourceCountIs('AWS::ApiGatewayV2::ApiMapping', 1);
  stack.template.resourceCountIs('AWS::Route53::RecordSet', 0);
  expect(baseUrlOf(stack)).toBe(`https://${domainName}`);
  expect(outputsOf(stack)).toMatchObject({
    ApiUrl: `https://${domainName}`,
    DomainTarget: { 'Fn::GetAtt': [expect.any(String), 'RegionalDomainName'] },
  });
});

test('a domain that moves to another stack takes only its own resources along', () => {
  const stack = synthesize({ domainName, certificateArn, hostedZoneId: 'Z0123456789' });
  const typesOf = ({ template: its }: typeof stack) =>
    Object.entries(its.toJSON().Resources as Record<string, { Type: string }>);
  const without = new Map(typesOf(service).map(([id, { Type }]) => [id, Type]));
  const own = typesOf(stack).filter(([id, { Type }]) => without.get(id) !== Type);
  expect(typesOf(stack)).toHaveLength(without.size + own.length);
  expect(new Set(own.map(([, { Type }]) => Type))).toEqual(
    new Set([
      'AWS::ApiGatewayV2::DomainName',
      'AWS::ApiGatewayV2::ApiMapping',
      'AWS::Route53::RecordSet',
    ]),
  );
});

test('with a hosted zone, the domain has records of both types', () => {
  const stack = synthesize({ domainName, certificateArn, hostedZoneId: 'Z0123456789' });
  for (const Type of ['A', 'AAAA']) {
    stack.template.hasResourceProperties('AWS::Route53::RecordSet', {
      HostedZoneId: 'Z0123456789',
      Name: `${domainName}.`,
      Type,
      AliasTarget: {
        DNSName: { 'Fn::GetAtt': [Match.anyValue(), 'RegionalDomainName'] },
        HostedZoneId: { 'Fn::GetAtt': [Match.anyValue(), 'RegionalHostedZoneId'] },
      },
    });
  }
  stack.template.hasResourceProperties('AWS::ApiGatewayV2::DomainName', {
    DomainNameConfigurations: [Match.objectLike({ IpAddressType: 'dualstack' })],
  });
});

test('a public base URL is the address, and an output has the address behind it', () => {
  const publicBaseUrl = 'https://push.carillon.example';
  const stack = synthesize({ publicBaseUrl });
  const [api] = Object.keys(stack.resources('AWS::ApiGatewayV2::Api'));
  expect(baseUrlOf(stack)).toBe(publicBaseUrl);
  expect(outputsOf(stack)).toMatchObject({
    ApiUrl: publicBaseUrl,
    OriginUrl: { 'Fn::GetAtt': [api, 'ApiEndpoint'] },
  });
});
