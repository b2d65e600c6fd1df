interface Statement {
  readonly Effect: 'Allow';
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  readonly Condition?: Condition;
}

type Condition = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Resources by their names, which start with the name of the stack. */
const on = {
  everything: ['*'],
  tables: ['arn:aws:dynamodb:*:*:table/Carillon*'],
  functions: ['arn:aws:lambda:*:*:function:Carillon*'],
  roles: ['arn:aws:iam::*:role/Carillon*'],
  topics: ['arn:aws:sns:*:*:Carillon*'],
  alarms: ['arn:aws:cloudwatch:*:*:alarm:Carillon*'],
  // CloudFormation names these after their logical ids.
  dashboards: ['arn:aws:cloudwatch::*:dashboard/*'],
  budgets: ['arn:aws:budgets::*:budget/*'],
  logGroups: [
    'arn:aws:logs:*:*:log-group:Carillon*',
    'arn:aws:logs:*:*:log-group:/aws/vendedlogs/carillon/*',
  ],
  // They have no names.
  apis: ['apis', 'apis/*', 'domainnames', 'domainnames/*', 'tags/*'].map(
    (path) => `arn:aws:apigateway:*::/${path}`,
  ),
  zones: ['arn:aws:route53:::hostedzone/*', 'arn:aws:route53:::change/*'],
  /** The bundles, in the bucket of the CDK. */
  assets: ['arn:aws:s3:::cdk-*-assets-*/*'],
  bootstrap: ['arn:aws:ssm:*:*:parameter/cdk-bootstrap/*'],
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

const api = [allow('apigateway', 'DELETE GET PATCH POST PUT TagResource UntagResource', on.apis)];

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
      StringLike: { 'kms:ViaService': 'dynamodb.*.amazonaws.com' },
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
  'AWS::ApiGatewayV2::DomainName': [
    ...api,
    allow('iam', 'CreateServiceLinkedRole', on.everything, {
      StringEquals: { 'iam:AWSServiceName': 'ops.apigateway.amazonaws.com' },
    }),
  ],
  'AWS::Route53::RecordSet': [
    allow(
      'route53',
      'ChangeResourceRecordSets GetChange GetHostedZone ListResourceRecordSets',
      on.zones,
    ),
  ],
  'AWS::CloudWatch::Alarm': [
    allow(
      'cloudwatch',
      'DeleteAlarms ListTagsForResource PutMetricAlarm TagResource UntagResource',
      on.alarms,
    ),
    allow('cloudwatch', 'DescribeAlarms', on.everything),
  ],
  'AWS::CloudWatch::CompositeAlarm': [allow('cloudwatch', 'PutCompositeAlarm', on.alarms)],
  'AWS::CloudWatch::Dashboard': [
    allow(
      'cloudwatch',
      `DeleteDashboards GetDashboard ListTagsForResource PutDashboard TagResource
      UntagResource`,
      on.dashboards,
    ),
  ],
  'AWS::SNS::Topic': [
    allow(
      'sns',
      `CreateTopic DeleteTopic GetDataProtectionPolicy GetTopicAttributes ListSubscriptionsByTopic
      ListTagsForResource SetTopicAttributes TagResource UntagResource`,
      on.topics,
    ),
  ],
  'AWS::SNS::TopicPolicy': [allow('sns', 'GetTopicAttributes SetTopicAttributes', on.topics)],
  'AWS::SNS::Subscription': [
    allow('sns', 'Subscribe', on.topics),
    allow('sns', 'GetSubscriptionAttributes SetSubscriptionAttributes Unsubscribe', on.everything),
  ],
  'AWS::Budgets::Budget': [allow('budgets', 'ModifyBudget ViewBudget', on.budgets)],
  // The CDK's template asks for the version of its bootstrap stack.
  'AWS::SSM::Parameter::Value<String>': [allow('ssm', 'GetParameters', on.bootstrap)],
};

/**
 * The policy of the role with which CloudFormation deploys: enough for this service, in place of administrator's rights.
 * One statement for all actions on the same resources.
 */
export function executionPolicy() {
  const merged = new Map<string, Statement>();
  for (const statement of Object.values(permissions).flat()) {
    const { Action, ...rest } = statement;
    const key = JSON.stringify(rest);
    const actions = new Set([...(merged.get(key)?.Action ?? []), ...Action]);
    merged.set(key, { ...statement, Action: [...actions].sort() });
  }
  return { Version: '2012-10-17', Statement: [...merged.values()] };
}
