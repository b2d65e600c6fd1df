import { CfnResource, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

interface AcknowledgedRule {
  readonly id: string;
  /** What the rule finds, if it can find several things in a resource, such as `Resource::*`. */
  readonly finding?: string;
  readonly reason: string;
}

/**
 * Says why a rule of a template checker does not hold for a resource, in each form that a checker reads: cdk-nag 3
 * reads the acknowledgement, which older versions of the CDK do not have, and cdk-nag 2 the resource's metadata.
 * @param construct the resource, or the construct whose default child it is.
 */
export function acknowledgeRule(construct: IConstruct, rule: AcknowledgedRule): void {
  const { id, finding, reason } = rule;
  const resource = construct.node.defaultChild ?? construct;
  if (!CfnResource.isCfnResource(resource))
    throw new Error(`${resource.node.path} is no resource.`);
  const found = finding === undefined ? id : `${id}[${finding}]`;
  (Validations as typeof Validations | undefined)?.of(resource).acknowledge({ id: found, reason });
  const suppressed = { id, reason, ...(finding !== undefined && { appliesTo: [finding] }) };
  resource.addMetadata('cdk_nag', { rules_to_suppress: [suppressed] });
}
