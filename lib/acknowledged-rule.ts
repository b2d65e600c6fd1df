import { CfnResource, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Says why a rule of a template checker does not hold for a resource, in each form that a checker reads: cdk-nag 3
 * reads the acknowledgement, which older versions of the CDK do not have, and cdk-nag 2 the resource's metadata.
 * @param construct the resource, or the construct whose default child it is.
 */
export function acknowledgeRule(construct: IConstruct, id: string, reason: string): void {
  const resource = construct.node.defaultChild ?? construct;
  if (!CfnResource.isCfnResource(resource))
    throw new Error(`${resource.node.path} is no resource.`);
  (Validations as typeof Validations | undefined)?.of(resource).acknowledge({ id, reason });
  const { rules_to_suppress: others = [] } = resource.getMetadata('cdk_nag') ?? {};
  resource.addMetadata('cdk_nag', { rules_to_suppress: [...others, { id, reason }] });
}
