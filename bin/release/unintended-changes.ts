import { fullDiff, ResourceImpact } from '@aws-cdk/cloudformation-diff';
import type { ReleasedTemplate } from './released-template.ts';

/** A replacement or deletion that may happen. */
export interface IntendedChange {
  /** Logical id of a resource, or a resource type. */
  readonly resource: string;
  readonly reason: string;
}

/**
 * Finds the resources of the last release that a deployment would replace or remove.
 * @returns one line per resource that is not in the list of intended changes, and one per entry of
 * that list whose resource does not change.
 */
export function unintendedChanges(
  before: ReleasedTemplate,
  after: ReleasedTemplate,
  intended: readonly IntendedChange[],
): string[] {
  const names = new Set(intended.map(({ resource }) => resource));
  const changes = losses(before, after);
  const changed = new Set(changes.map(({ logicalId }) => logicalId));
  const unintended = changes
    .filter(({ logicalId, type }) => !names.has(logicalId) && !names.has(type))
    .map(({ logicalId, type, effect }) => `${logicalId} (${type}) ${effect}`);
  const stale = [...names]
    .filter((name) => !name.startsWith('AWS::') && !changed.has(name))
    .map((name) => `${name} is listed as an intended change, but does not change`);
  return [...unintended, ...stale];
}

interface Loss {
  readonly logicalId: string;
  readonly type: string;
  readonly effect: string;
}

function losses(before: ReleasedTemplate, after: ReleasedTemplate): Loss[] {
  const { changes } = fullDiff({ ...before }, { ...after }).resources;
  return Object.entries(changes).flatMap(([logicalId, change]) => {
    const loss = (effect: string) => [{ logicalId, type: change.oldResourceType!, effect }];
    switch (change.changeImpact) {
      case ResourceImpact.WILL_DESTROY:
      case ResourceImpact.WILL_ORPHAN:
        return loss('is no longer part of the stack');
      case ResourceImpact.WILL_REPLACE:
        return loss(`would be replaced: ${propertiesOf(change)}`);
      case ResourceImpact.MAY_REPLACE:
        return loss(`may be replaced: ${propertiesOf(change)}`);
      default:
        return [];
    }
  });
}

function propertiesOf({ propertyUpdates }: { readonly propertyUpdates: object }): string {
  return `${Object.keys(propertyUpdates).join(', ')} changed`;
}
