/** Bytes of a realistic item of each table and index. */
export type ItemSizes = Readonly<Record<string, number>>;

/** What DynamoDB charges for calls. */
export interface Units {
  readonly reads: number;
  readonly writes: number;
}

const writeUnitBytes = 1024;
const readUnitBytes = 4096;

/**
 * The units of one call that is described as in `databaseCalls`. A query that finds nothing costs as much
 * as one that finds an item.
 */
function unitsOf(call: string, sizes: ItemSizes): Units {
  const [operation, ...tables] = call.split(' ');
  const sum = (unitsOfItem: (bytes: number, table: string) => number) =>
    tables.reduce((total, table) => total + unitsOfItem(sizes[table]!, table), 0);
  switch (operation) {
    case 'UpdateItem':
      return { reads: 0, writes: sum(writeUnits) };
    case 'TransactWriteItems':
      // Twice the units of plain writes. AWS does not say whether that includes the write to an index;
      // the higher cost is assumed.
      return {
        reads: 0,
        writes: sum((bytes, table) => {
          const index = table === 'Subscriptions' ? writeUnits(sizes['Subscriptions/byUser']!) : 0;
          return 2 * (writeUnits(bytes) + index);
        }),
      };
    case 'TransactGetItems':
      return { reads: sum((bytes) => 2 * readUnits(bytes)), writes: 0 };
    case 'GetItem':
    case 'BatchGetItem':
      return { reads: sum(readUnits), writes: 0 };
    case 'Query':
      // An index is only eventually consistent, at half the price.
      return {
        reads: sum((bytes, table) => readUnits(bytes) * (table.includes('/') ? 0.5 : 1)),
        writes: 0,
      };
    default:
      throw new Error(`The units of ${operation} are not known.`);
  }
}

export function totalUnits(calls: readonly string[], sizes: ItemSizes): Units {
  return calls
    .map((call) => unitsOf(call, sizes))
    .reduce(
      (total, { reads, writes }) => ({
        reads: total.reads + reads,
        writes: total.writes + writes,
      }),
      { reads: 0, writes: 0 },
    );
}

/** The units of reading many items by queries. Pages of 1 MB round up to 4 KB, which is neglected. */
export function queryUnits(items: number, itemBytes: number, consistent: boolean): number {
  return Math.ceil((items * itemBytes) / readUnitBytes) * (consistent ? 1 : 0.5);
}

function writeUnits(bytes: number): number {
  return Math.ceil(bytes / writeUnitBytes);
}

function readUnits(bytes: number): number {
  return Math.ceil(bytes / readUnitBytes);
}
