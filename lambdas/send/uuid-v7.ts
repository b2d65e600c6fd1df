/**
 * A UUID of version 7 (RFC 9562 §5.7): 48 bits of time, then 74 random bits. The events route accepts
 * whoever knows the id, so all free bits are random.
 */
export function uuidV7(time: Date, randomBytes: (length: number) => Uint8Array): string {
  const bytes = Buffer.alloc(16);
  bytes.set(randomBytes(10), 6);
  bytes.writeUIntBE(time.getTime(), 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...groups, hex.slice(20)].join('-');
}
