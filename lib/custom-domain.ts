import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as route53 from 'aws-cdk-lib/aws-route53';
import { Construct } from 'constructs';

export interface CustomDomainProps {
  readonly domainName: string;
  readonly certificateArn: string;
  /** Where the record is created; undefined if the operator creates it. */
  readonly hostedZoneId: string | undefined;
}

/** A domain of the operator for the API, and its record in Route 53. */
export class CustomDomain extends Construct {
  /** Address of the API, without a trailing slash. */
  readonly url: string;
  readonly domain: apigateway.DomainName;

  constructor(scope: Construct, id: string, props: CustomDomainProps) {
    super(scope, id);
    const { domainName, certificateArn, hostedZoneId } = props;
    this.url = `https://${domainName}`;
    this.domain = new apigateway.DomainName(this, 'Domain', {
      domainName,
      certificate: acm.Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
    });
    if (hostedZoneId === undefined) return;
    const { regionalDomainName, regionalHostedZoneId } = this.domain;
    new route53.CfnRecordSet(this, 'Record', {
      hostedZoneId,
      name: domainName,
      type: 'A',
      aliasTarget: { dnsName: regionalDomainName, hostedZoneId: regionalHostedZoneId },
    });
  }
}
