// Erasing a payer: what a merchant said of one person is deleted from the payments of a book, and the books stay as they are.
import { type BookOwner, bookCommand } from "../commands/command-context.ts";
import { idOf } from "../ground/ids.ts";
import type { Database } from "../store/database.ts";
import type { Command } from "../store/lane.ts";
import type { Lanes } from "../store/lanes.ts";
import { need } from "../store/working-set.ts";
import type { PayerData } from "./payer-data.ts";
import { erasedPayers, selectOfContact } from "./payer-data.sql.ts";
import { payments } from "./payments.sql.ts";

/** So many payments are erased together. */
const TOGETHER = 200;
/** So many by one call: a payer who paid more often is erased by several. */
export const ERASED_MAX = 10_000;

export interface ErasureParts {
  database: Database;
  lanes: Lanes;
  payers: PayerData;
}

export interface Erased {
  payments: number;
  isComplete: boolean;
}

/** Whom to erase: by an e-mail address, a telephone, or both. Payments that carry any of them are of that person. */
export interface Contacts {
  email?: string | undefined;
  phone?: string | undefined;
}

/**
 * Erases name, e-mail address and telephone from the payments of a book that have one of these contacts, `ERASED_MAX` at most. Gives how
 * many, and whether that was all. Repeated, it goes on, and finds nothing in the end.
 */
export async function erasePayer(parts: ErasureParts, owner: BookOwner, contacts: Contacts): Promise<Erased> {
  const { database, lanes, payers } = parts;
  const { book } = owner;
  const given = [contacts.email?.toLowerCase(), contacts.phone].filter((contact) => contact !== undefined);
  const keys = given.map((contact) => payers.contactKey(contact));
  let erased = 0;
  for (;;) {
    const rows = await database.query(selectOfContact(book, keys, TOGETHER));
    if (rows.length === 0 || erased >= ERASED_MAX) return { payments: erased, isComplete: rows.length === 0 };
    const references = rows.map((row) => idOf("payment", row.payment_id as string));
    erased += await lanes.move(book.merchantId, eraseFrom(owner, references));
  }
}

/** Erases who pays from these payments of a book. Gives how many it was still known of. */
export function eraseFrom(owner: BookOwner, references: readonly string[]): Command<number> {
  const { book } = owner;
  return bookCommand(owner, {
    name: "erase payer",
    needs: references.map((reference) => need(payments, { book, reference })),
    execute({ set, realNow }) {
      const found = references.filter((reference) => {
        const payment = set.get(payments, { book, reference });
        return payment !== undefined && payment.payer.erasedAt === null;
      });
      for (const reference of found) set.insert(erasedPayers, { book, reference, erasedAt: realNow });
      return found.length;
    },
  });
}
