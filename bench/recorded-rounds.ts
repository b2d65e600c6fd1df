import type { DynamoDbCall } from '../local/dynamodb/proxy.ts';

/**
 * The calls of a request to DynamoDB, by the rounds in which they are made: a call is one round later than
 * the latest one that had ended when it began. Their number is the longest chain of calls, each of which
 * began after the one before had ended.
 */
export class RecordedRounds {
  readonly rounds: string[][] = [];
  #endedRounds = 0;

  /** @returns the index of the call's round. */
  record(call: DynamoDbCall): number {
    const round = this.#endedRounds;
    this.rounds[round] ??= [];
    this.rounds[round].push(describeCall(call));
    void call.ended.then(() => {
      this.#endedRounds = Math.max(this.#endedRounds, round + 1);
    });
    return round;
  }
}

/** A call's operation, and the tables of its items. */
function describeCall({ operation, parameters }: DynamoDbCall): string {
  const {
    TableName,
    IndexName,
    TransactItems = [],
    RequestItems = {},
  } = parameters as {
    readonly TableName?: string;
    readonly IndexName?: string;
    readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName: string }>>[];
    readonly RequestItems?: object;
  };
  const tables = [
    ...(TableName === undefined ? [] : [TableName]),
    ...TransactItems.flatMap((item) => Object.values(item).map((write) => write.TableName)),
    ...Object.keys(RequestItems),
  ];
  // The template's name of a table ends with CDK's hash.
  const names = tables.map((table) => table.replace(/Table[0-9A-F]{8}$/, ''));
  return [operation, ...names].join(' ') + (IndexName === undefined ? '' : `/${IndexName}`);
}
