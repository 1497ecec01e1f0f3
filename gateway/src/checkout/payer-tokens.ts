// Tokens of payers' pages: the payment's identity and a MAC of 128 bits that only this installation can make, so that nobody can guess a token.
import { sameText } from "../ground/crypto.ts";
import { encode, isId } from "../ground/ids.ts";
import { SigningKey } from "../ground/signing-key.ts";
import type { Book } from "../merchants/books.ts";

export class PayerTokens {
  private readonly keys: readonly [SigningKey, ...SigningKey[]];

  /** The first key makes tokens. Tokens of the other keys are valid too, for the time when the master key is being replaced. */
  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    const [first, ...others] = keys;
    this.keys = [new SigningKey(first), ...others.map((key) => new SigningKey(key))];
  }

  make(book: Book, reference: string): string {
    return book.merchantId.slice(4) + reference.slice(4) + mark(this.keys[0], book.merchantId, reference);
  }

  /** The payment that a token names; undefined when this installation did not make the token. */
  read(token: string): { merchantId: string; reference: string } | undefined {
    const merchantId = `mer_${token.slice(0, 26)}`;
    const reference = `pay_${token.slice(26, 52)}`;
    if (!isId("merchant", merchantId) || !isId("payment", reference)) return undefined;
    const isOurs = this.keys.some((key) => sameText(token.slice(52), mark(key, merchantId, reference)));
    return isOurs ? { merchantId, reference } : undefined;
  }
}

function mark(key: SigningKey, merchantId: string, reference: string): string {
  return encode(Buffer.from(key.sign("hex", merchantId, "/", reference).slice(0, 32), "hex"));
}
