import type { FunctionDefinition } from 'aws-emulator/functions';
import { localRegion } from 'aws-emulator/template';

export interface FunctionEnvironmentOptions {
  /** Is added to the extra push origins. */
  readonly pushServiceOrigin: string;
  readonly dynamodbEndpoint: string;
  /** Of the gateway, in place of the deployed API. */
  readonly baseUrl: string;
  /** Of the Lambda API. */
  readonly lambdaEndpoint: string;
  /** Values that replace the template's. */
  readonly overrides?: Readonly<Partial<Record<string, string>>> | undefined;
}

/**
 * The environment variables of a function in the local stack: those of the template, those that Lambda sets, and the
 * endpoints of the local DynamoDB and Lambda API.
 */
export function functionEnvironment(
  { logicalId, name, memoryMb, environment }: FunctionDefinition,
  {
    pushServiceOrigin,
    dynamodbEndpoint,
    baseUrl,
    lambdaEndpoint,
    overrides = {},
  }: FunctionEnvironmentOptions,
): Record<string, string> {
  const variables = Object.entries(environment).map(([variable, templateValue]) => {
    const fallback = variable === 'PUBLIC_BASE_URL' ? baseUrl : templateValue;
    const value = overrides[variable] ?? fallback;
    if (variable !== 'EXTRA_PUSH_ORIGINS') return [variable, value];
    return [variable, [...value.split(',').filter(Boolean), pushServiceOrigin].join(',')];
  });
  return {
    ...Object.fromEntries(variables),
    AWS_REGION: localRegion,
    // The proxy identifies the function by this id, as IAM does by the role.
    AWS_ACCESS_KEY_ID: logicalId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint,
    AWS_ENDPOINT_URL_LAMBDA: lambdaEndpoint,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    // The SDK warns about the Node version of this machine. Deployed functions run on another one.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
}
