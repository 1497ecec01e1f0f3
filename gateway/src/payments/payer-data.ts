// Payers' data: sealed at rest, and found again by keyed digests. The keys are read at every start, and made at the first start.
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import type { Clock } from "../ground/clock.ts";
import type { Vault } from "../ground/crypto.ts";
import { assert } from "../ground/fault.ts";
import { KeyRing } from "../ground/key-ring.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import { plainContact } from "../risk/contact.ts";
import type { Customer } from "../risk/risk.ts";
import type { Database } from "../store/database.ts";
import type { StoredPayer } from "./payment.ts";
import {
  type PayerKey,
  type PayerKeyPurpose,
  insertPayerKey,
  payerKeyOfRow,
  payerKeyPurposes,
  selectPayerKeys,
} from "./payer-keys.sql.ts";

const CONTACT_KEY_BYTES = 16;

export const NO_PAYER: StoredPayer = { customerKey: null, phoneKey: null, sealed: null, erasedAt: null };

interface PayerDataParts {
  database: Database;
  vault: Vault;
  clock: Clock;
}

/** The fields of a payment that its payer's data are bound to. They never change. */
type Sealed = { book: Book; referenceId: string };

const ownerOf = ({ book, referenceId }: Sealed): string => `payer/${bookKey(book)}/${referenceId}`;

export class PayerData {
  private readonly parts: PayerDataParts;
  private keys: { ring: KeyRing; contacts: Buffer } | undefined;

  constructor(parts: PayerDataParts) {
    this.parts = parts;
  }

  /** Reads the keys, and makes missing ones. Must precede `seal` and `open`. Throws when another master key sealed the keys. */
  async load(): Promise<void> {
    const kept = await this.read();
    const missing = payerKeyPurposes.filter((purpose) => !kept.some((key) => key.purpose === purpose));
    for (const purpose of missing) await this.addKey(purpose, true);
    this.take(missing.length === 0 ? kept : await this.read());
  }

  /** Adds a key that seals new data from the next start on. Data that are sealed already keep their key. */
  async addSealingKey(): Promise<void> {
    await this.addKey("seal", false);
  }

  /** Seals a customer for a payment's row. */
  seal(of: Sealed, customer: Customer | undefined): StoredPayer {
    if (customer === undefined) return NO_PAYER;
    const { email, phone } = customer;
    const first = email ?? phone;
    return {
      customerKey: first === undefined ? null : this.contactKey(first),
      phoneKey: email === undefined || phone === undefined ? null : this.contactKey(phone),
      sealed: this.taken.ring.seal(JSON.stringify(customer), ownerOf(of)),
      erasedAt: null,
    };
  }

  /**
   * Keyed digest of an e-mail address or a telephone, in hex: the same for all ways to write it. Each contact is counted by itself: one telephone with many
   * addresses is one customer, and so is one address with many telephones.
   */
  contactKey(contact: string): string {
    const mac = createHmac("sha256", this.taken.contacts).update(plainContact(contact)).digest();
    return mac.subarray(0, CONTACT_KEY_BYTES).toString("hex");
  }

  /** The customer as the merchant gave it; undefined when none was given or it was erased. */
  async open(payment: Sealed & { payer: StoredPayer }): Promise<Customer | undefined> {
    const { sealed } = payment.payer;
    if (sealed === null) return undefined;
    // Another process may have made a key since this process read the keys.
    if (!this.taken.ring.knows(sealed)) await this.load();
    return JSON.parse(this.taken.ring.open(sealed, ownerOf(payment))) as Customer;
  }

  private get taken(): { ring: KeyRing; contacts: Buffer } {
    assert(this.keys !== undefined, "keys of payers' data are read before they are used");
    return this.keys;
  }

  private async read(): Promise<PayerKey[]> {
    return (await this.parts.database.query(selectPayerKeys)).map(payerKeyOfRow);
  }

  private async addKey(purpose: PayerKeyPurpose, first: boolean): Promise<void> {
    const { database, vault, clock } = this.parts;
    const keyId = randomUUID();
    const sealed = vault.seal(randomBytes(32).toString("base64"), payerKeyOwner(keyId));
    await database.query(insertPayerKey({ keyId, purpose, sealed }, clock.now(), first));
  }

  private take(kept: readonly PayerKey[]): void {
    const opened = (purpose: PayerKeyPurpose): Buffer[] =>
      kept
        .filter((key) => key.purpose === purpose)
        .map((key) => Buffer.from(this.parts.vault.open(key.sealed, payerKeyOwner(key.keyId)), "base64"));
    const [newest, ...older] = opened("seal");
    const [contacts] = opened("contacts");
    assert(newest !== undefined && contacts !== undefined, "there are keys of both purposes");
    this.keys = { ring: new KeyRing([newest, ...older]), contacts };
  }
}

/** The owner that a key of payers' data is sealed for. */
export const payerKeyOwner = (keyId: string): string => `payer key/${keyId}`;
