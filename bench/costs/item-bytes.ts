/**
 * The size of an item as DynamoDB charges for it: names and values of all attributes. Source: Amazon
 * DynamoDB Developer Guide, "DynamoDB item sizes and formats".
 */
export function itemBytes(item: object): number {
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value),
    0,
  );
}

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberBytes(value);
  if (typeof value === 'boolean' || value === null) return 1;
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value !== 'object') throw new TypeError(`DynamoDB cannot store ${typeof value}.`);
  // A list or a map: 3 bytes, and 1 for each entry.
  const entries = Object.keys(value).length;
  if (!Array.isArray(value)) return 3 + entries + itemBytes(value);
  return value.reduce<number>((sum, entry) => sum + valueBytes(entry), 3 + entries);
}

/** One byte for two significant digits and one more; zeros at both ends do not count. */
function numberBytes(value: number): number {
  const digits = String(Math.abs(value))
    .replace('.', '')
    .replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1 + (value < 0 ? 1 : 0);
}
