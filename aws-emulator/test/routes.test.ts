import { matchRoute, readRoutes } from '../routes.ts';
import type { Resource, Template } from '../template.ts';

function templateOf(
  routeKeys: readonly string[],
  integration: object = {},
  stage: Readonly<Record<string, unknown>> = {},
): Template {
  const routes = routeKeys.map((RouteKey, index): [string, Resource] => [
    `Route${index}`,
    {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: { RouteKey, Target: { 'Fn::Join': ['', ['integrations/', { Ref: 'Calls' }]] } },
    },
  ]);
  return {
    Resources: {
      Function: {
        Type: 'AWS::Lambda::Function',
        Properties: { Handler: 'index.handler' },
        Metadata: { 'aws:asset:path': 'asset' },
      },
      Calls: {
        Type: 'AWS::ApiGatewayV2::Integration',
        Properties: {
          IntegrationType: 'AWS_PROXY',
          IntegrationUri: { 'Fn::GetAtt': ['Function', 'Arn'] },
          PayloadFormatVersion: '2.0',
          ...integration,
        },
      },
      Stage: { Type: 'AWS::ApiGatewayV2::Stage', Properties: stage },
      ...Object.fromEntries(routes),
    },
  };
}

function read(template: Template) {
  const assembly = { directory: '/assembly', stackName: 'Test', template };
  return readRoutes(assembly);
}

test('the throttle comes from the route, else from the stage, else from the account’s quota', () => {
  const stage = {
    RouteSettings: { 'GET /a': { ThrottlingRateLimit: 7, ThrottlingBurstLimit: 8 } },
    DefaultRouteSettings: { ThrottlingRateLimit: 9 },
  };
  const throttles = read(templateOf(['GET /a', 'GET /b'], {}, stage)).map(
    (route) => route.throttle,
  );
  expect(throttles).toEqual([
    { ratePerSecond: 7, burst: 8 },
    { ratePerSecond: 9, burst: 5000 },
  ]);
});

test('a request takes the route with the fewest parameters', () => {
  const routes = read(templateOf(['GET /{kind}/{id}', 'GET /things/{id}', 'GET /things/new']));
  const keyOf = (path: string) => matchRoute(routes, 'GET', path)?.route.routeKey;
  expect(keyOf('/things/new')).toBe('GET /things/new');
  expect(keyOf('/things/1')).toBe('GET /things/{id}');
  expect(keyOf('/others/1')).toBe('GET /{kind}/{id}');
});

test.each(['ANY /things', '$default', 'GET /{proxy+}'])('refuses the route %s', (routeKey) => {
  expect(() => read(templateOf([routeKey]))).toThrow(
    new Error(`The local gateway does not support the route "${routeKey}".`),
  );
});

test.each([
  ['payload format 1.0', { PayloadFormatVersion: '1.0' }, 'has no Lambda integration'],
  ['another kind of integration', { IntegrationType: 'HTTP_PROXY' }, 'has no Lambda integration'],
  [
    'a function outside the template',
    { IntegrationUri: 'arn:aws:lambda:x:1:function:y' },
    'does not invoke a function',
  ],
])('refuses %s', (_, integration, message) => {
  expect(() => read(templateOf(['GET /things'], integration))).toThrow(message);
});
