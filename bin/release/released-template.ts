import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';

const schemas = loadAwsServiceSpecSync();

/** The parts of a CloudFormation template that decide what a deployment replaces or deletes. */
export interface ReleasedTemplate {
  readonly Resources: Readonly<Record<string, Resource>>;
}

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

interface TableProperties {
  readonly KeySchema: readonly { readonly AttributeName: string }[];
  readonly AttributeDefinitions: readonly {
    readonly AttributeName: string;
    readonly AttributeType: string;
  }[];
}

/**
 * Reduces a template to its resources, and those to the properties whose change replaces them. Without
 * bundles, metadata and versions, it changes only with what a release must not change by accident.
 */
export function releasedTemplate(template: ReleasedTemplate): ReleasedTemplate {
  const reduced = Object.entries(template.Resources).map(
    ([logicalId, { Type, Properties = {} }]) => {
      const { properties } = schemas
        .lookup('resource', 'cloudFormationType', 'equals', Type)
        .only();
      const replacing = Object.entries(withKeyTypes(Type, Properties)).filter(([name]) =>
        ['yes', 'maybe'].includes(properties[name]?.causesReplacement ?? 'no'),
      );
      // The comparison reads the statements of a resource policy. They may change.
      const statements =
        'PolicyDocument' in Properties ? { PolicyDocument: { Statement: [] } } : {};
      const kept = { ...Object.fromEntries(replacing), ...statements };
      return [logicalId, { Type, Properties: kept }] as const;
    },
  );
  return { Resources: Object.fromEntries(reduced.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/**
 * Adds the types of a table's key attributes to its key. CloudFormation replaces a table if one of them
 * changes, but its schema does not say so.
 */
function withKeyTypes(
  type: string,
  properties: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (type !== 'AWS::DynamoDB::Table') return properties;
  const { KeySchema, AttributeDefinitions } = properties as unknown as TableProperties;
  const typeOf = (name: string) =>
    AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType;
  return {
    ...properties,
    KeySchema: KeySchema.map((key) => ({ ...key, AttributeType: typeOf(key.AttributeName) })),
  };
}
