import { App, CfnOutput, Duration, Fn, Stack } from 'aws-cdk-lib';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import { Carillon } from 'carillon-aws';

// Write yours. CloudFront takes certificates of us-east-1 only.
const domainName = 'push.carillon.net';
const certificateArn = 'arn:aws:acm:us-east-1:111122223333:certificate/1234-abcd';
// A wildcard certificate of the stack's region: the API's own name is random, so that nobody passes the distribution.
const originDomain = 'push-origin.carillon.net';
const originCertificateArn = 'arn:aws:acm:eu-west-1:111122223333:certificate/5678-efab';
const vapidSubject = 'push@carillon.net';

const stack = new Stack(new App(), 'Site');

const push = new Carillon(stack, 'Push', {
  vapidSubject,
  alarmEmail: 'none',
  publicBaseUrl: `https://${domainName}`,
  domainName: `${stack.node.getContext('originLabel')}.${originDomain}`,
  certificateArn: originCertificateArn,
  // SHA-256 of the secret below: see the README.
  originSecretHashes: [stack.node.getContext('originSecretHash')],
  // Who calls the API itself is refused.
  requireOriginSecret: true,
  exportOutputs: true,
});

const originSecret = secretsmanager.Secret.fromSecretNameV2(stack, 'OriginSecret', 'push/origin');

const headers = new cloudfront.ResponseHeadersPolicy(stack, 'Headers', {
  securityHeadersBehavior: {
    strictTransportSecurity: {
      accessControlMaxAge: Duration.days(365),
      includeSubdomains: false,
      override: true,
    },
    contentTypeOptions: { override: true },
  },
});

// Without access logs: they would record queries, which contain endpoints and user ids.
const distribution = new cloudfront.Distribution(stack, 'Distribution', {
  domainNames: [domainName],
  certificate: acm.Certificate.fromCertificateArn(stack, 'Certificate', certificateArn),
  defaultBehavior: {
    origin: new HttpOrigin(Fn.parseDomainName(push.originUrl), {
      protocolPolicy: cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
      // A send may take as long as API Gateway waits.
      readTimeout: Duration.seconds(30),
      // CloudFormation reads it when it deploys: the template does not contain it.
      customHeaders: { 'X-Origin-Secret': originSecret.secretValue.unsafeUnwrap() },
    }),
    viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
    allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
    cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
    // API Gateway needs its own host.
    originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
    responseHeadersPolicy: headers,
  },
});

// Where the record of the domain points to.
new CfnOutput(stack, 'DistributionDomain', { value: distribution.distributionDomainName });
