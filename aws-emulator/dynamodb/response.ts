import type { ServerResponse } from 'node:http';
import { refusalText } from '../host-and-origin.ts';

/** A response of DynamoDB. */
export interface DynamoDbResponse {
  readonly status: number;
  /** Is sent as JSON. */
  readonly body: object;
}

const dynamoDbNamespace = 'com.amazonaws.dynamodb.v20120810';
/** Namespaces of the errors that all AWS services share. */
const sharedNamespaces: Readonly<Record<string, string>> = {
  AccessDeniedException: 'com.amazon.coral.service',
  ThrottlingException: 'com.amazon.coral.availability',
};

/**
 * An error response in DynamoDB's format.
 * @param name such as `ProvisionedThroughputExceededException`.
 * @param detail further members of the body, such as a transaction's `CancellationReasons`.
 */
export function errorResponse(
  name: string,
  message: string,
  detail: object = {},
): DynamoDbResponse {
  const __type = `${sharedNamespaces[name] ?? dynamoDbNamespace}#${name}`;
  const status = name === 'InternalServerError' ? 500 : 400;
  return { status, body: { __type, message, Message: message, ...detail } };
}

/** The response to a request of a foreign page. */
export const refusal: DynamoDbResponse = {
  ...errorResponse('AccessDeniedException', refusalText),
  status: 403,
};

export function writeResponse(response: ServerResponse, { status, body }: DynamoDbResponse): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify(body));
}

/**
 * The response for a cancelled transaction.
 * @param codes one per item; `None` for an item that did not fail.
 */
export function cancelledTransaction(codes: readonly string[]): DynamoDbResponse {
  return errorResponse(
    'TransactionCanceledException',
    'Transaction cancelled, please refer cancellation reasons for specific reasons ' +
      `[${codes.join(', ')}]`,
    { CancellationReasons: codes.map((Code) => ({ Code })) },
  );
}
