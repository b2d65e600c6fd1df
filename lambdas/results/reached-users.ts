/** Which users of a share a push was delivered to: one bit for each, by its index. */
export class ReachedUsers {
  readonly #bits: Uint8Array;

  constructor(users: number) {
    this.#bits = new Uint8Array(Math.ceil(users / 8));
  }

  add(user: number): void {
    this.#bits[user >> 3]! |= 1 << (user & 7);
  }

  addAll(bits: Uint8Array): void {
    for (const [index, byte] of bits.entries()) this.#bits[index]! |= byte;
  }

  /** A copy: users who are reached later are not in it. */
  bits(): Uint8Array {
    return this.#bits.slice();
  }
}

export function isReached(bits: Uint8Array | undefined, user: number): boolean {
  return ((bits?.[user >> 3] ?? 0) & (1 << (user & 7))) !== 0;
}

export function countReached(bits: Uint8Array = new Uint8Array()): number {
  let reached = 0;
  for (let user = 0; user < 8 * bits.length; user += 1) if (isReached(bits, user)) reached += 1;
  return reached;
}
