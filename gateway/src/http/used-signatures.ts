// Signatures that were used, as one process remembers them: 20 bytes each, in tables of numbers with some room, by the second they are
// good until.

/** One use of a signature: what must not come a second time. */
export interface Use {
  merchantId: string;
  /** Unix seconds until which it must be remembered. */
  validUntil: number;
  /** 128 bits in hex that identify it. They are as good as random: they come from SHA-256. */
  digest: string;
}

/** A text that is equal exactly for equal uses. */
export function keyOf({ merchantId, validUntil, digest }: Use): string {
  return `${merchantId} ${validUntil} ${digest}`;
}

/** Four words of the digest, and the number of the merchant from 1; 0 marks a free slot. */
const WORDS = 5;
const SLOTS_FIRST = 16;
const FULL = 0.75;
const GROWTH = 1.5;

export class UsedSignatures {
  private readonly bySecond = new Map<number, Second>();
  private readonly merchants: string[] = [];
  private readonly numbers = new Map<string, number>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Remembers a use. Gives false when it was there already. */
  add({ merchantId, validUntil, digest }: Use): boolean {
    let second = this.bySecond.get(validUntil);
    if (!second) this.bySecond.set(validUntil, (second = new Second()));
    const added = second.add(wordsOf(digest), this.numberOf(merchantId));
    if (added) this.count++;
    return added;
  }

  has({ validUntil, digest }: Use): boolean {
    return this.bySecond.get(validUntil)?.has(wordsOf(digest)) === true;
  }

  /** Forgets what was good until before this second. */
  forgetBefore(unixSeconds: number): void {
    for (const validUntil of this.bySecond.keys()) if (validUntil < unixSeconds) this.drop(validUntil);
  }

  /** The seconds that uses are good until. */
  seconds(): number[] {
    return [...this.bySecond.keys()];
  }

  *usesOf(validUntil: number): Generator<Use> {
    for (const { digest, number } of this.bySecond.get(validUntil)?.entries() ?? []) {
      yield { merchantId: this.merchants[number - 1] as string, validUntil, digest };
    }
  }

  /** Forgets what is good until this second. */
  drop(validUntil: number): void {
    this.count -= this.bySecond.get(validUntil)?.size ?? 0;
    this.bySecond.delete(validUntil);
  }

  private numberOf(merchantId: string): number {
    let number = this.numbers.get(merchantId);
    if (number === undefined) this.numbers.set(merchantId, (number = this.merchants.push(merchantId)));
    return number;
  }
}

type Words = readonly [number, number, number, number];

function wordsOf(digest: string): Words {
  return [wordAt(digest, 0), wordAt(digest, 8), wordAt(digest, 16), wordAt(digest, 24)];
}

/** Eight lower-case hex digits as a number: a substring for `parseInt` would cost more than the rest of the table. */
function wordAt(digest: string, from: number): number {
  let word = 0;
  for (let at = from; at < from + 8; at++) {
    const code = digest.charCodeAt(at);
    word = (word << 4) | (code - (code < 97 ? 48 : 87));
  }
  return word >>> 0;
}

/** An open-addressed table: who shares a slot stands in the next free one. */
class Second {
  private slots = SLOTS_FIRST;
  private words = new Uint32Array(SLOTS_FIRST * WORDS);
  size = 0;

  has(words: Words): boolean {
    return this.words[this.find(words) + 4] !== 0;
  }

  add(words: Words, merchant: number): boolean {
    const at = this.find(words);
    if (this.words[at + 4] !== 0) return false;
    this.words.set(words, at);
    this.words[at + 4] = merchant;
    if (++this.size > this.slots * FULL) this.grow();
    return true;
  }

  *entries(): Generator<{ digest: string; number: number }> {
    for (let at = 0; at < this.words.length; at += WORDS) {
      const number = this.words[at + 4] as number;
      if (number === 0) continue;
      const digest = [...this.words.subarray(at, at + 4)].map((word) => word.toString(16).padStart(8, "0")).join("");
      yield { digest, number };
    }
  }

  /** Where it stands, or the free place where it belongs. */
  private find([a, b, c, d]: Words): number {
    const { words } = this;
    for (let at = (a % this.slots) * WORDS; ; at = (at + WORDS) % words.length) {
      if (words[at + 4] === 0) return at;
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return at;
    }
  }

  private grow(): void {
    const before = this.words;
    this.slots = Math.ceil(this.slots * GROWTH);
    this.words = new Uint32Array(this.slots * WORDS);
    for (let at = 0; at < before.length; at += WORDS) {
      if (before[at + 4] === 0) continue;
      const entry = before.subarray(at, at + WORDS);
      this.words.set(entry, this.find([entry[0], entry[1], entry[2], entry[3]] as unknown as Words));
    }
  }
}
