interface Statement {
  /** The setting without which the statement is not needed, and a number: IAM wants each one once. */
  readonly Sid?: string;
  readonly Effect: 'Allow';
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  readonly Condition?: Condition;
}

type Condition = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** Resources by their names, which start with the name of the stack, in any partition. */
const on = {
  everything: ['*'],
  tables: ['arn:*:dynamodb:*:*:table/Carillon*'],
  functions: ['arn:*:lambda:*:*:function:Carillon*'],
  roles: ['arn:*:iam::*:role/Carillon*'],
  topics: ['arn:*:sns:*:*:Carillon*'],
  alarms: ['arn:*:cloudwatch:*:*:alarm:Carillon*'],
  // CloudFormation names these after their logical ids.
  dashboards: ['arn:*:cloudwatch::*:dashboard/*'],
  budgets: ['arn:*:budgets::*:budget/*'],
  logGroups: [
    'arn:*:logs:*:*:log-group:Carillon*',
    'arn:*:logs:*:*:log-group:/aws/vendedlogs/carillon/*',
  ],
  // They have no names.
  apis: ['apis', 'apis/*', 'tags/*'].map((path) => `arn:*:apigateway:*::/${path}`),
  domains: ['domainnames', 'domainnames/*'].map((path) => `arn:*:apigateway:*::/${path}`),
  zones: ['arn:*:route53:::hostedzone/*', 'arn:*:route53:::change/*'],
  /** The bundles, in the bucket of the CDK. */
  assets: ['arn:*:s3:::cdk-*-assets-*/*'],
  bootstrap: ['arn:*:ssm:*:*:parameter/cdk-bootstrap/*'],
} as const;

/** @param actions of the service, separated by blanks. */
function allow(
  service: string,
  actions: string,
  Resource: readonly string[],
  Condition?: Condition,
): Statement {
  const Action = actions.split(/\s+/).map((action) => `${service}:${action}`);
  return { Effect: 'Allow', Action, Resource, ...(Condition && { Condition }) };
}

/** Statements that only stacks with a setting need. */
function onlyWith(
  setting: 'AlarmEmail' | 'DomainName' | 'HostedZoneId' | 'MonthlyBudget' | 'Vpc',
  ...statements: readonly Statement[]
): readonly Statement[] {
  return statements.map((statement) => ({ Sid: setting, ...statement }));
}

const onApis = 'DELETE GET PATCH POST PUT TagResource UntagResource';
const api = [allow('apigateway', onApis, on.apis)];

/**
 * What CloudFormation needs, by type of resource or parameter. The actions are those that its own schemas list for
 * creating, reading, updating and deleting a resource, without those for properties that this stack does not use.
 */
export const permissions: Readonly<Record<string, readonly Statement[]>> = {
  'AWS::DynamoDB::Table': [
    allow(
      'dynamodb',
      `CreateTable DeleteTable DescribeContinuousBackups DescribeContributorInsights
      DescribeKinesisStreamingDestination DescribeTable DescribeTimeToLive GetResourcePolicy
      ListTagsOfResource TagResource UntagResource UpdateContinuousBackups
      UpdateContributorInsights UpdateTable UpdateTimeToLive`,
      on.tables,
    ),
    // The account's key `aws/dynamodb` encrypts VapidKeys.
    allow('kms', 'CreateGrant DescribeKey', on.everything, {
      StringLike: { 'kms:ViaService': 'dynamodb.*.amazonaws.com*' },
    }),
  ],
  'AWS::Logs::LogGroup': [
    allow(
      'logs',
      `CreateLogGroup DeleteLogGroup DeleteRetentionPolicy GetDataProtectionPolicy
      ListTagsForResource PutRetentionPolicy TagResource UntagResource`,
      on.logGroups,
    ),
    allow('logs', 'DescribeLogGroups', on.everything),
  ],
  'AWS::Logs::MetricFilter': [
    allow('logs', 'DeleteMetricFilter DescribeMetricFilters PutMetricFilter', on.logGroups),
  ],
  'AWS::Logs::QueryDefinition': [
    allow(
      'logs',
      'DeleteQueryDefinition DescribeQueryDefinitions PutQueryDefinition',
      on.everything,
    ),
  ],
  'AWS::IAM::Role': [
    allow(
      'iam',
      `CreateRole DeleteRole GetRole ListAttachedRolePolicies ListRolePolicies TagRole UntagRole
      UpdateAssumeRolePolicy UpdateRole UpdateRoleDescription`,
      on.roles,
    ),
  ],
  'AWS::IAM::Policy': [allow('iam', 'DeleteRolePolicy GetRolePolicy PutRolePolicy', on.roles)],
  'AWS::Lambda::Function': [
    allow(
      'lambda',
      `CreateFunction DeleteFunction GetFunction GetFunctionCodeSigningConfig
      GetFunctionRecursionConfig GetFunctionScalingConfig GetRuntimeManagementConfig ListTags
      TagResource UntagResource UpdateFunctionCode UpdateFunctionConfiguration`,
      on.functions,
    ),
    allow('iam', 'PassRole', on.roles, {
      StringEquals: { 'iam:PassedToService': 'lambda.amazonaws.com' },
    }),
    allow('s3', 'GetObject', on.assets),
  ],
  'AWS::Lambda::Permission': [
    allow('lambda', 'AddPermission GetPolicy RemovePermission', on.functions),
  ],
  'AWS::Lambda::EventInvokeConfig': [
    allow(
      'lambda',
      `DeleteFunctionEventInvokeConfig GetFunctionEventInvokeConfig PutFunctionEventInvokeConfig
      UpdateFunctionEventInvokeConfig`,
      on.functions,
    ),
  ],
  'AWS::ApiGatewayV2::Api': api,
  'AWS::ApiGatewayV2::Integration': api,
  'AWS::ApiGatewayV2::Route': api,
  'AWS::ApiGatewayV2::ApiMapping': api,
  'AWS::ApiGatewayV2::Stage': [
    ...api,
    // The access log.
    allow(
      'logs',
      `CreateLogDelivery DeleteLogDelivery DescribeResourcePolicies GetLogDelivery
      ListLogDeliveries PutResourcePolicy UpdateLogDelivery`,
      on.everything,
    ),
  ],
  'AWS::ApiGatewayV2::DomainName': onlyWith(
    'DomainName',
    allow('apigateway', onApis, on.domains),
    allow('iam', 'CreateServiceLinkedRole', on.everything, {
      StringEquals: { 'iam:AWSServiceName': 'ops.apigateway.amazonaws.com' },
    }),
  ),
  'AWS::Route53::RecordSet': onlyWith(
    'HostedZoneId',
    allow('route53', 'ChangeResourceRecordSets', on.zones, {
      'ForAllValues:StringEquals': {
        'route53:ChangeResourceRecordSetsRecordTypes': ['A', 'AAAA'],
      },
    }),
    allow('route53', 'GetChange GetHostedZone ListResourceRecordSets', on.zones),
  ),
  'AWS::CloudWatch::Alarm': [
    allow(
      'cloudwatch',
      'DeleteAlarms ListTagsForResource PutMetricAlarm TagResource UntagResource',
      on.alarms,
    ),
    allow('cloudwatch', 'DescribeAlarms', on.everything),
  ],
  'AWS::CloudWatch::CompositeAlarm': [
    allow(
      'cloudwatch',
      'DeleteAlarms ListTagsForResource PutCompositeAlarm TagResource UntagResource',
      on.alarms,
    ),
    allow('cloudwatch', 'DescribeAlarms', on.everything),
  ],
  'AWS::CloudWatch::Dashboard': [
    allow(
      'cloudwatch',
      `DeleteDashboards GetDashboard ListTagsForResource PutDashboard TagResource
      UntagResource`,
      on.dashboards,
    ),
  ],
  'AWS::SNS::Topic': onlyWith(
    'AlarmEmail',
    allow(
      'sns',
      `CreateTopic DeleteTopic GetDataProtectionPolicy GetTopicAttributes ListSubscriptionsByTopic
      ListTagsForResource SetTopicAttributes TagResource UntagResource`,
      on.topics,
    ),
  ),
  'AWS::SNS::TopicPolicy': onlyWith(
    'AlarmEmail',
    allow('sns', 'GetTopicAttributes SetTopicAttributes', on.topics),
  ),
  'AWS::SNS::Subscription': onlyWith(
    'AlarmEmail',
    allow('sns', 'Subscribe', on.topics),
    allow('sns', 'GetSubscriptionAttributes SetSubscriptionAttributes Unsubscribe', on.everything),
  ),
  'AWS::Budgets::Budget': onlyWith(
    'MonthlyBudget',
    allow(
      'budgets',
      'ListTagsForResource ModifyBudget TagResource UntagResource ViewBudget',
      on.budgets,
    ),
  ),
  // A group in the network of the operator, and the functions in it.
  'AWS::EC2::SecurityGroup': onlyWith(
    'Vpc',
    allow(
      'ec2',
      `AuthorizeSecurityGroupEgress CreateSecurityGroup CreateTags DeleteSecurityGroup DeleteTags
      DescribeInstances DescribeNetworkInterfaces DescribeSecurityGroups DescribeSubnets
      DescribeVpcs RevokeSecurityGroupEgress`,
      on.everything,
    ),
  ),
  // The CDK's template asks for the version of its bootstrap stack.
  'AWS::SSM::Parameter::Value<String>': [allow('ssm', 'GetParameters', on.bootstrap)],
};

/**
 * The policy of the role with which CloudFormation deploys: enough for this service, in place of administrator's rights.
 * One statement for all actions on the same resources.
 * @param types of the resources and parameters of a template. Default: of a stack with all settings.
 */
export function executionPolicy(types: readonly string[] = Object.keys(permissions)) {
  const merged = new Map<string, Statement>();
  for (const statement of types.flatMap((type) => permissions[type] ?? [])) {
    const { Action, ...rest } = statement;
    const key = JSON.stringify(rest);
    const actions = new Set([...(merged.get(key)?.Action ?? []), ...Action]);
    merged.set(key, { ...statement, Action: [...actions].sort() });
  }
  const Statement = [...merged.values()].map(({ Sid, ...rest }, index, all) => {
    if (Sid === undefined) return rest;
    const number = all.slice(0, index + 1).filter((one) => one.Sid === Sid).length;
    return { Sid: `${Sid}${number}`, ...rest };
  });
  return { Version: '2012-10-17', Statement };
}
