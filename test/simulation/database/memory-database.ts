import { randomUUID } from 'node:crypto';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import {
  byUser,
  constructIdOf,
  type TableKey,
  type TableName,
  tableKeys,
  tableNames,
} from '../../../contract/infrastructure/tables.ts';
import { sendRepeatedly } from '../../../lambdas/store/dynamo.ts';
import { clientWith } from '../../fixtures/client-with.ts';
import { type Item, matches, type Names, update } from './expressions.ts';

export type { Item } from './expressions.ts';

/** The names of the tables. */
export const tables = Object.fromEntries(
  tableNames.map((table) => [table, constructIdOf(table)]),
) as Readonly<Record<TableName, string>>;

/** The attributes in their keys: the partition key first. */
const keyAttributes: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries<TableKey>(tableKeys).map(([table, { partitionKey, sortKey }]) => [
    tables[table as TableName],
    sortKey === undefined ? [partitionKey] : [partitionKey, sortKey],
  ]),
);

const indexes: Readonly<Record<string, { partitionKey: string; sortKey: string }>> = {
  [byUser.name]: byUser,
};

/** A command of the SDK's document client. */
export interface DatabaseCommand {
  readonly input: object;
}

export interface MemoryDatabaseSettings {
  readonly now: () => number;
  /** Ms by which an eventually consistent read of a table or an index may be behind: the lag of this read. */
  readonly lagMs?: (isIndex: boolean) => number;
  /** Subscriptions in a page of a query. */
  readonly pageSizeItems?: number;
  /** Whether a BatchGetItem leaves this key out. */
  readonly isUnprocessed?: () => boolean;
  /** Is told of each change of an item; undefined if it was deleted. */
  readonly onChange?: (table: string, key: Item, item: Item | undefined) => void;
}

/** One version of an item; undefined if it does not exist. */
interface Version {
  readonly at: number;
  readonly item: Item | undefined;
}

/** Longer than any lag. */
const historyMs = 15_000;

interface Write {
  readonly TableName: string;
  readonly Key?: Item;
  readonly Item?: Item;
  readonly UpdateExpression?: string;
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, unknown>;
  readonly ReturnValuesOnConditionCheckFailure?: string;
}

/**
 * DynamoDB in memory, as far as the stores use it: conditions, transactions, pages and eventually
 * consistent reads. Each command is executed at once, so all faults and delays are the caller's.
 */
export class MemoryDatabase {
  readonly #settings: MemoryDatabaseSettings;
  /** The versions of each item by table, partition and key, oldest version first. */
  readonly #tables = new Map<string, Map<string, Map<string, Version[]>>>();
  /** Tokens of the transactions that succeeded. DynamoDB knows them for ten minutes. */
  readonly #tokens = new Set<string>();

  constructor(settings: MemoryDatabaseSettings) {
    this.#settings = settings;
  }

  /** @throws errors as the SDK does. */
  execute(command: DatabaseCommand): object {
    const { input } = command;
    if (command instanceof GetCommand) return { Item: this.#get(input as Get) };
    if (command instanceof QueryCommand) return this.#query(input as Query);
    if (command instanceof PutCommand) return this.#put(input as Write);
    if (command instanceof BatchGetCommand) return this.#batchGet(input as BatchGet);
    if (command instanceof UpdateCommand) return this.#update(input as Write);
    if (command instanceof DeleteCommand) return this.#delete(input as Write);
    if (command instanceof BatchWriteCommand) return this.#batchWrite(input as BatchWrite);
    if (command instanceof TransactWriteCommand) return this.#transactWrite(input as Transaction);
    if (command instanceof TransactGetCommand) {
      const { TransactItems } = input as { TransactItems: { Get: Get }[] };
      return { Responses: TransactItems.map(({ Get }) => ({ Item: this.#get(Get) })) };
    }
    throw new Error(`Not simulated: ${command.constructor.name}`);
  }

  /** A client as the functions have it, whose calls are executed at once. */
  client(): DynamoDBDocumentClient {
    const parts = { sleep: async () => {}, random: () => 0, newToken: randomUUID };
    return clientWith((command: DatabaseCommand) =>
      sendRepeatedly(
        { input: command.input, isTransaction: command instanceof TransactWriteCommand },
        async (input) => this.execute(Object.assign(Object.create(command), { input })),
        parts,
      ),
    );
  }

  /** All items of a table, in no particular order. */
  items(table: string): Item[] {
    const found = [];
    for (const partition of this.#tables.get(table)?.values() ?? []) {
      for (const versions of partition.values()) {
        const item = versions.at(-1)?.item;
        if (item !== undefined) found.push(item);
      }
    }
    return found;
  }

  /** Stores an item outside of any send. */
  put(table: string, item: Item): void {
    this.#store(table, item, item, Number.NEGATIVE_INFINITY);
  }

  #get({ TableName, Key }: Get): Item | undefined {
    const item = this.#read(TableName, Key);
    return item && { ...item };
  }

  #batchGet({ RequestItems }: BatchGet): object {
    const Responses: Record<string, Item[]> = {};
    const UnprocessedKeys: Record<string, { Keys: Item[] }> = {};
    for (const [table, { Keys }] of Object.entries(RequestItems)) {
      const left = Keys.filter(() => this.#settings.isUnprocessed?.());
      const processed = Keys.filter((Key) => !left.includes(Key));
      const found = processed.map((Key) => this.#get({ TableName: table, Key }));
      Responses[table] = found.filter((item) => item !== undefined);
      if (left.length > 0) UnprocessedKeys[table] = { Keys: left };
    }
    return { Responses, UnprocessedKeys };
  }

  #query(query: Query): object {
    const { TableName, IndexName, KeyConditionExpression, ConsistentRead } = query;
    const lag = ConsistentRead ? 0 : (this.#settings.lagMs?.(IndexName !== undefined) ?? 0);
    const names = namesOf(query);
    const at = this.#settings.now() - lag;
    const partitionKey = keyAttributes[TableName]![0]!;
    const index = IndexName === undefined ? undefined : indexes[IndexName]!;
    const partition = index === undefined ? partitionIn(query, partitionKey) : undefined;
    const found: { readonly key: string; readonly item: Item }[] = [];
    const partitions = this.#tables.get(TableName) ?? new Map<string, Map<string, Version[]>>();
    const read =
      partition === undefined
        ? partitions.values()
        : [partitions.get(partition) ?? new Map<string, Version[]>()];
    for (const items of read) {
      for (const [key, versions] of items) {
        const item = versions.findLast((version) => version.at <= at)?.item;
        if (item === undefined) continue;
        if (index === undefined) {
          if (matches(KeyConditionExpression, item, names)) found.push({ key, item });
          continue;
        }
        // An index has only the items with its attributes.
        const [user, since] = [item[index.partitionKey], item[index.sortKey]];
        if (user === undefined || since === undefined) continue;
        if (!matches(KeyConditionExpression, item, names)) continue;
        found.push({ key: `${String(since).padStart(16, '0')} ${key}`, item });
      }
    }
    found.sort((one, other) => (one.key < other.key ? -1 : 1));
    const start = query.ExclusiveStartKey?.key as string | undefined;
    const rest = start === undefined ? found : found.filter(({ key }) => key > start);
    const size = Math.min(
      query.Limit ?? Number.POSITIVE_INFINITY,
      TableName === tables.subscriptions ? (this.#settings.pageSizeItems ?? Infinity) : Infinity,
    );
    const page = rest.slice(0, size);
    const { FilterExpression: filter } = query;
    const returned = page.filter(
      ({ item }) => filter === undefined || matches(filter, item, names),
    );
    return {
      Items: returned.map(({ item }) => ({ ...item })),
      Count: returned.length,
      LastEvaluatedKey: rest.length > size ? { key: page.at(-1)!.key } : undefined,
    };
  }

  #put(write: Write): object {
    this.#check(write);
    this.#apply(write);
    return {};
  }

  #update(write: Write): object {
    this.#check(write);
    this.#apply(write);
    return { Attributes: this.#read(write.TableName, write.Key!) };
  }

  #delete(write: Write): object {
    this.#check(write);
    this.#store(write.TableName, write.Key!, undefined);
    return {};
  }

  /** The condition of a single write. */
  #check(write: Write): void {
    if (this.#holds(write)) return;
    const error = failure('ConditionalCheckFailedException', 'The conditional request failed');
    throw Object.assign(error, { Item: this.#asked(write) });
  }

  #batchWrite({ RequestItems }: BatchWrite): object {
    const UnprocessedItems: BatchWrite['RequestItems'] = {};
    for (const [table, requests] of Object.entries(RequestItems)) {
      const left = requests.filter(() => this.#settings.isUnprocessed?.());
      for (const request of requests) {
        if (!left.includes(request)) this.#store(table, request.DeleteRequest.Key, undefined);
      }
      if (left.length > 0) UnprocessedItems[table] = left;
    }
    return { UnprocessedItems };
  }

  #transactWrite({ TransactItems, ClientRequestToken: token }: Transaction): object {
    if (token !== undefined && this.#tokens.has(token)) return {};
    const writes = TransactItems.map((entry) => Object.entries(entry)[0]!);
    const keys = writes.map(([, write]) => this.#locate(write.TableName, write.Key ?? write.Item!));
    const distinct = new Set(
      keys.map(({ table, partition, key }) => `${table} ${partition} ${key}`),
    );
    if (distinct.size < writes.length || writes.length > 100) {
      throw failure('ValidationException', 'Transaction with a repeated item, or more than 100.');
    }
    const reasons = writes.map(([, write]) => {
      if (this.#holds(write)) return { Code: 'None' };
      return { Code: 'ConditionalCheckFailed', Item: this.#asked(write) };
    });
    if (reasons.some(({ Code }) => Code !== 'None')) {
      const error = failure('TransactionCanceledException', 'Transaction cancelled');
      throw Object.assign(error, { CancellationReasons: reasons });
    }
    for (const [kind, write] of writes) {
      if (kind === 'Delete') this.#store(write.TableName, write.Key!, undefined);
      else if (kind !== 'ConditionCheck') this.#apply(write);
    }
    if (token !== undefined) this.#tokens.add(token);
    return {};
  }

  #holds(write: Write): boolean {
    const { TableName, Key, Item: item, ConditionExpression } = write;
    if (ConditionExpression === undefined) return true;
    return matches(ConditionExpression, this.#read(TableName, Key ?? item!) ?? {}, namesOf(write));
  }

  /** The item in the error of a failed condition, if the write asks for it. */
  #asked(write: Write): Item | undefined {
    if (write.ReturnValuesOnConditionCheckFailure !== 'ALL_OLD') return undefined;
    const item = this.#read(write.TableName, write.Key ?? write.Item!);
    return item && typed(item);
  }

  #apply(write: Write): void {
    const { TableName, Key, Item: item, UpdateExpression } = write;
    if (item !== undefined) {
      this.#store(TableName, item, withoutUndefined(item));
      return;
    }
    const changed = { ...Key!, ...this.#read(TableName, Key!) };
    update(UpdateExpression!, changed, namesOf(write));
    this.#store(TableName, Key!, changed);
  }

  #read(table: string, key: Item): Item | undefined {
    const at = this.#locate(table, key);
    return this.#tables.get(table)?.get(at.partition)?.get(at.key)?.at(-1)?.item;
  }

  #store(table: string, itemOrKey: Item, item: Item | undefined, at = this.#settings.now()): void {
    const { partition, key } = this.#locate(table, itemOrKey);
    const partitions = entry(this.#tables, table, () => new Map<string, Map<string, Version[]>>());
    const items = entry(partitions, partition, () => new Map<string, Version[]>());
    const versions = entry(items, key, (): Version[] => []);
    while (versions.length > 1 && versions[1]!.at < at - historyMs) versions.shift();
    versions.push({ at, item });
    this.#settings.onChange?.(table, itemOrKey, item);
  }

  #locate(table: string, item: Item) {
    const [partitionKey, sortKey] = keyAttributes[table]!;
    const partition = String(item[partitionKey!]);
    const sort = sortKey === undefined ? '' : item[sortKey];
    const key = sort instanceof Uint8Array ? Buffer.from(sort).toString('latin1') : String(sort);
    return { table, partition, key };
  }
}

interface Get {
  readonly TableName: string;
  readonly Key: Item;
}

interface BatchGet {
  readonly RequestItems: Record<string, { readonly Keys: Item[] }>;
}

interface BatchWrite {
  readonly RequestItems: Record<string, { readonly DeleteRequest: { readonly Key: Item } }[]>;
}

interface Query extends Omit<Write, 'Key' | 'Item'> {
  readonly IndexName?: string;
  readonly KeyConditionExpression: string;
  /** DynamoDB applies it after the limit. */
  readonly FilterExpression?: string;
  readonly ConsistentRead?: boolean;
  readonly ExclusiveStartKey?: Item;
  readonly Limit?: number;
}

interface Transaction {
  readonly TransactItems: Record<string, Write>[];
  readonly ClientRequestToken?: string;
}

function namesOf({ ExpressionAttributeNames, ExpressionAttributeValues }: Partial<Write>): Names {
  return { names: ExpressionAttributeNames, values: ExpressionAttributeValues };
}

/** The value that a key condition asks of the partition key: its first comparison. */
function partitionIn(query: Query, partitionKey: string): string {
  const [name, , value] = query.KeyConditionExpression.split(' ');
  const attribute = name!.startsWith('#') ? query.ExpressionAttributeNames?.[name!] : name;
  if (attribute !== partitionKey) throw new Error(`Not a key: ${query.KeyConditionExpression}`);
  return String(query.ExpressionAttributeValues![value!]);
}

/** As the document client does, at every depth. */
function withoutUndefined(item: Item): Item {
  return Object.fromEntries(
    Object.entries(item)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        name,
        value?.constructor === Object ? withoutUndefined(value as Item) : value,
      ]),
  );
}

function failure(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

function entry<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}

/** The SDK does not convert the items in errors: their attributes keep their types. */
function typed(item: Item): Item {
  return marshall(item, { removeUndefinedValues: true });
}
