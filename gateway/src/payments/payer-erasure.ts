// Erasing a payer: deletes one person's data from the payments of a book. Amounts and journals stay as they are.
import { type BookOwner, bookCommand } from "../commands/command-context.ts";
import { idOf } from "../ground/ids.ts";
import type { Database } from "../store/database.ts";
import type { Command } from "../store/command.ts";
import type { Lanes } from "../store/lanes.ts";
import { need } from "../store/working-set.ts";
import { NO_PAYER, type PayerData } from "./payer-data.ts";
import { erasedPayers, selectOfContact } from "./payer-data.sql.ts";
import type { Payment } from "./payment.ts";
import { payments } from "./payments.sql.ts";

/** Payments that one command erases. */
const TOGETHER = 200;
/** One call of `erasePayer` stops after this many payments; a payer with more needs several calls. */
const ERASED_MAX = 10_000;

export interface ErasureParts {
  database: Database;
  lanes: Lanes;
  payers: PayerData;
}

export interface Erased {
  payments: number;
  isComplete: boolean;
}

/** The person to erase: an e-mail address, a telephone, or both. A payment with either of them is that person's. */
interface Contacts {
  email?: string | undefined;
  phone?: string | undefined;
}

/**
 * Erases name, e-mail address and telephone from the payments of a book that have one of these contacts. Stops once `ERASED_MAX` are erased.
 * Gives how many were erased, and whether none is left; the next call goes on.
 */
export async function erasePayer(parts: ErasureParts, owner: BookOwner, contacts: Contacts): Promise<Erased> {
  const { database, lanes, payers } = parts;
  const { book } = owner;
  const given = [contacts.email, contacts.phone].filter((contact) => contact !== undefined);
  const keys = given.map((contact) => payers.contactKey(contact));
  let erased = 0;
  for (;;) {
    const rows = await database.query(selectOfContact(book, keys, TOGETHER));
    if (rows.length === 0 || erased >= ERASED_MAX) return { payments: erased, isComplete: rows.length === 0 };
    const references = rows.map((row) => idOf("payment", row.payment_id as string));
    erased += await lanes.move(book.merchantId, eraseFrom(owner, references));
  }
}

/** Erases the payer's data of these payments of a book. Gives the number of payments that were not erased before. */
export function eraseFrom(owner: BookOwner, references: readonly string[]): Command<number> {
  const { book } = owner;
  return bookCommand(owner, {
    name: "erase payer",
    needs: references.map((reference) => need(payments, { book, reference })),
    execute({ set, realNow }) {
      const found = references
        .map((reference) => set.get(payments, { book, reference }))
        .filter((payment) => payment !== undefined && payment.payer.erasedAt === null);
      for (const payment of found as Payment[]) {
        set.insert(erasedPayers, { book, reference: payment.reference, erasedAt: realNow });
        // The next command of the batch may be about the same person.
        set.show(payments, { ...payment, payer: { ...NO_PAYER, erasedAt: realNow } });
      }
      return found.length;
    },
  });
}
