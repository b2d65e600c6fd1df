import { Match } from 'aws-cdk-lib/assertions';
import { synthesize } from '../fixtures/synthesized-stack.ts';

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
  const stack = synthesize();
  const [api] = Object.keys(stack.resources('AWS::ApiGatewayV2::Api'));
  const apiUrl = { 'Fn::GetAtt': [api, 'ApiEndpoint'] };
  expect(baseUrlOf(stack)).toEqual(apiUrl);
  expect(outputsOf(stack).ApiUrl).toEqual(apiUrl);
  stack.template.resourceCountIs('AWS::ApiGatewayV2::DomainName', 0);
  stack.template.hasResourceProperties('AWS::ApiGatewayV2::Api', {
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

test.each(['A', 'AAAA'])('with a hosted zone, the domain has a record of type %s', (Type) => {
  const stack = synthesize({ domainName, certificateArn, hostedZoneId: 'Z0123456789' });
  stack.template.hasResourceProperties('AWS::Route53::RecordSet', {
    HostedZoneId: 'Z0123456789',
    Name: `${domainName}.`,
    Type,
    AliasTarget: {
      DNSName: { 'Fn::GetAtt': [Match.anyValue(), 'RegionalDomainName'] },
      HostedZoneId: { 'Fn::GetAtt': [Match.anyValue(), 'RegionalHostedZoneId'] },
    },
  });
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
