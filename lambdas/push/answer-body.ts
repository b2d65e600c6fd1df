/** Bytes of an answer that are read. */
const limit = 4096;

/** The beginning of an answer's body. */
export class AnswerBody {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** @returns false once no more is wanted. */
  add(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    return this.#length < limit;
  }

  toString(): string {
    return this.#length === 0 ? '' : Buffer.concat(this.#chunks).toString('utf8', 0, limit);
  }
}
