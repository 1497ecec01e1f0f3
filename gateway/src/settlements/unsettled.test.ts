// Goal: what waits for a settlement is read whole, each item once, in its own book and currency. Method: the one statement over every kind of row in
// every state that it may be in, in two environments and two currencies; the rows are written past the triggers.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/databases.ts";
import { NOW, book } from "../../test/given.ts";
import { openDatabase } from "../../test/kit.ts";
import { sqlTime } from "../ground/clock.ts";
import { type IdKind, newId, uuidOf } from "../ground/ids.ts";
import { type Book, bookValues, otherBook } from "../merchants/books.ts";
import { selectUnsettled, unsettledOfRow } from "./settlements.sql.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});

const books: Book[] = [book, otherBook(book)];
const currencies = ["IDR", "USD"];
const settled = { settlement_id: uuidOf(newId("settlement", NOW)) };
const at = sqlTime(NOW);

type Columns = Record<string, unknown>;
const paid: Columns = { status: "succeeded", paid_at: at };
const lost: Columns = { status: "lost", resolved_at: at };

/** Payments, receipts, refunds and disputes by what they are; each says whether it waits. Refunds name the state of their payment. */
const paymentRows: [what: string, waits: boolean, columns: Columns][] = [
  ["paid", true, paid],
  ["whose fee takes all of it", true, { ...paid, fee_minor: 1_000 }],
  ["not paid", false, { status: "pending" }],
  ["in a batch", false, { ...paid, ...settled }],
  ["of which a refund is under way", false, { ...paid, refund_pending_minor: 1 }],
  ["that is contested", false, { ...paid, dispute_status: "needs_response" }],
  ["under review", false, { ...paid, dispute_status: "under_review" }],
  ["whose dispute was won", true, { ...paid, dispute_status: "won" }],
  ["whose dispute was lost", true, { ...paid, dispute_status: "lost" }],
];
const receiptRows: typeof paymentRows = [
  ["credited", true, { status: "credited", decided_at: at }],
  ["credited and in a batch", false, { status: "credited", decided_at: at, ...settled }],
  ["returned", false, { status: "returned", decided_at: at }],
  ["unapplied", false, { status: "unapplied" }],
  ["applied", false, { status: "applied" }],
];
const done: Columns = { status: "succeeded", completed_at: at };
const refundRows: [what: string, waits: boolean, columns: Columns, payment: Columns][] = [
  ["done", true, done, settled],
  ["done and in a batch", false, { ...done, ...settled }, settled],
  ["pending", false, { status: "pending" }, settled],
  ["failed", false, { status: "failed", completed_at: at }, settled],
  ["of a payment that is contested", false, done, { ...settled, dispute_status: "needs_response" }],
  ["of a payment under review", false, done, { ...settled, dispute_status: "under_review" }],
  ["of a payment whose dispute was won", true, done, { ...settled, dispute_status: "won" }],
  ["beside another under way", false, done, { refund_pending_minor: 1 }],
  ["beside another under way, of a payment that is in a batch", true, done, { ...settled, refund_pending_minor: 1 }],
];
const disputeRows: typeof paymentRows = [
  ["lost", true, lost],
  ["lost and in a batch", false, { ...lost, ...settled }],
  ["won", false, { ...lost, status: "won" }],
  ["that runs", false, { status: "needs_response" }],
];

test("of each kind exactly what waits is read, by book and currency", async () => {
  const names = new Map<string, string>();
  const expected: string[] = [];
  await asOwner(database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    const insert = async (table: string, columns: Columns): Promise<void> => {
      const keys = Object.keys(columns);
      const places = keys.map((_, index) => `$${index + 1}`);
      await owner.query(
        `insert into ${table} (${keys.join(", ")}) values (${places.join(", ")})`,
        Object.values(columns),
      );
    };
    for (const each of books) {
      const [merchant_id, environment] = bookValues(each);
      for (const currency of currencies) {
        const mine = { merchant_id, environment, currency };
        for (const account of ["merchant:available", "merchant:held"])
          await insert("balances", { ...mine, account, debit_minor: 0, credit_minor: 0 });
        const make = async (
          kind: IdKind,
          table: string,
          what: string,
          waits: boolean,
          columns: Columns,
        ): Promise<string> => {
          const id = newId(kind, NOW);
          const name = `${each.environment} ${currency} ${kind} ${what}`;
          names.set(id, name);
          if (waits) expected.push(name);
          await insert(table, { ...mine, [`${kind}_id`]: uuidOf(id), amount_minor: 1_000, ...columns });
          return uuidOf(id);
        };
        const pay = (what: string, waits: boolean, columns: Columns): Promise<string> =>
          make("payment", "payments", what, waits, {
            fee_minor: 7,
            created_at: at,
            updated_at: at,
            expires_at: at,
            payment_method: "qris",
            risk_score: 0,
            reference_id: `${currency} ${names.size}`,
            gateway_code: "nusantara",
            risk_decision: "approve",
            risk_reasons: "[]",
            routing: "{}",
            ...columns,
          });
        for (const [what, waits, columns] of paymentRows) await pay(what, waits, columns);
        for (const [what, waits, columns] of receiptRows) {
          const from = { gateway_code: "nusantara", transaction_id: `t-${names.size}`, received_at: at };
          const payment_id = await pay(`of a receipt, ${what}`, false, { ...paid, ...settled });
          await make("receipt", "receipts", what, waits, { payment_id, ...from, ...columns });
        }
        for (const [what, waits, columns, payment] of refundRows) {
          const payment_id = await pay(`of a refund, ${what}`, false, { ...paid, ...payment });
          await make("refund", "refunds", what, waits, { payment_id, created_at: at, ...columns });
        }
        for (const [what, waits, columns] of disputeRows) {
          const payment_id = await pay(`of a dispute, ${what}`, false, { ...paid, ...settled });
          const opened = { reason: "general", evidence_due_at: at, opened_at: at };
          await make("dispute", "disputes", what, waits, { payment_id, ...opened, ...columns });
        }
      }
    }
  });
  const own = openDatabase(database);
  try {
    const read = (await own.query(selectUnsettled(books))).map(unsettledOfRow);
    const found = read.flatMap(({ book: { environment }, items }) =>
      [...items].flatMap(([currency, list]) =>
        list.map(({ id }) => {
          const name = names.get(id) ?? id;
          return name.startsWith(`${environment} ${currency} `) ? name : `${name}, in ${environment} ${currency}`;
        }),
      ),
    );
    expect(found.toSorted()).toEqual(expected.toSorted());
    expect((await own.query(selectUnsettled([book]))).map((one) => unsettledOfRow(one).book)).toEqual([book]);
  } finally {
    await own.end();
  }
});
