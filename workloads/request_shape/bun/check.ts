/** A wrapping 64-bit sum in two halves of 32 bits: a BigInt for every byte would cost more than the query itself. */
export class Check {
  #high = 0;
  #low = 0;

  /** An integer counts as itself, NULL as 0, text and blob as the FNV-1a-64 of their bytes. */
  add(value: unknown): void {
    if (typeof value === "number") {
      if (!Number.isSafeInteger(value)) throw new RangeError(`${value} does not fit into a JavaScript number`);
      this.#plus(Math.floor(value / 2 ** 32), value);
    } else if (typeof value === "string") {
      this.#addText(value);
    } else if (value instanceof Uint8Array) {
      this.#addBytes(value);
    }
  }

  addRow(row: Record<string, unknown>): void {
    for (const column in row) this.add(row[column]);
  }

  get sum(): bigint {
    return BigInt.asIntN(64, (BigInt(this.#high) << 32n) | BigInt(this.#low));
  }

  #plus(high: number, low: number): void {
    const sum = this.#low + (low >>> 0);
    this.#low = sum >>> 0;
    this.#high = (this.#high + high + (sum >= 2 ** 32 ? 1 : 0)) >>> 0;
  }

  #addText(text: string): void {
    const hash = new Fnv1a();
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return this.#addBytes(encoder.encode(text));
      hash.add(code);
    }
    this.#plus(hash.high, hash.low);
  }

  #addBytes(bytes: Uint8Array): void {
    const hash = new Fnv1a();
    for (const byte of bytes) hash.add(byte);
    this.#plus(hash.high, hash.low);
  }
}

const encoder = new TextEncoder();

class Fnv1a {
  high = 0xcbf29ce4 | 0;
  low = 0x84222325 | 0;

  add(byte: number): void {
    // Times 2^40 + 0x1b3, in pieces of 16 bits so that every product is a small integer.
    const low = this.low ^ byte;
    const first = (low & 0xffff) * 0x1b3;
    const second = (low >>> 16) * 0x1b3 + (first >>> 16);
    this.high = (Math.imul(this.high, 0x1b3) + (second >>> 16) + (low << 8)) | 0;
    this.low = (second << 16) | (first & 0xffff);
  }
}
