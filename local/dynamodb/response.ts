/** An answer of DynamoDB. */
export interface DynamoDbResponse {
  readonly status: number;
  /** What it says in JSON. */
  readonly body: object;
}

const ownErrors = 'com.amazonaws.dynamodb.v20120810';
/** Whose the errors are that are not DynamoDB's own. */
const namespaces: Readonly<Record<string, string>> = {
  AccessDeniedException: 'com.amazon.coral.service',
  ThrottlingException: 'com.amazon.coral.availability',
};

/**
 * An error as DynamoDB words it.
 * @param name such as `ProvisionedThroughputExceededException`.
 * @param detail further members, such as the `CancellationReasons` of a transaction.
 */
export function errorResponse(
  name: string,
  message: string,
  detail: object = {},
): DynamoDbResponse {
  const __type = `${namespaces[name] ?? ownErrors}#${name}`;
  const status = name === 'InternalServerError' ? 500 : 400;
  return { status, body: { __type, message, Message: message, ...detail } };
}

/**
 * A transaction that was cancelled.
 * @param codes one for each of its items, `None` for those that were not at fault.
 */
export function cancelledTransaction(codes: readonly string[]): DynamoDbResponse {
  return errorResponse(
    'TransactionCanceledException',
    'Transaction cancelled, please refer cancellation reasons for specific reasons ' +
      `[${codes.join(', ')}]`,
    { CancellationReasons: codes.map((Code) => ({ Code })) },
  );
}
