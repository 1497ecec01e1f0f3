// Searches one book: payments by what people know of them, and any object by its identity. Reads only what the caller's role allows.
import { disputeOfRow, selectDispute } from "../disputes/disputes.sql.ts";
import { isShown } from "../events/event-rights.ts";
import { eventOfRow, selectEvent } from "../events/events.sql.ts";
import { wireTime, type Micros } from "../ground/clock.ts";
import { type IdKind, isId } from "../ground/ids.ts";
import { currencyCodes, exponentOf, wireAmount, type Minor, MINOR_MAX } from "../ground/money.ts";
import { rangeBefore, rangeFrom } from "../http/lists.ts";
import { type JournalRow, journalOfRow } from "../ledger/ledger.sql.ts";
import type { Book } from "../merchants/books.ts";
import type { Payment } from "../payments/payment.ts";
import type { PayerData } from "../payments/payer-data.ts";
import { type PaymentSearch, selectFound } from "../payments/payment-search.sql.ts";
import { paymentOfRow, selectPayment } from "../payments/payments.sql.ts";
import { refundOfRow, selectRefund } from "../refunds/refunds.sql.ts";
import { selectSettlement, settlementOfRow } from "../settlements/settlements.sql.ts";
import type { Database, Row, Statement } from "../store/database.ts";
import type { Hit, PaymentSearchQuery } from "./search.schema.ts";
import { HITS_MAX, selectJournal, selectPaidAs, selectStartingLike } from "./search.sql.ts";

interface SearchParts {
  database: Database;
  payers: PayerData;
}

/** What a person's search asks of a book's payments. Throws VALIDATION_ERROR for an invalid time. */
export function paymentSearchOf(payers: PayerData, book: Book, query: PaymentSearchQuery): PaymentSearch {
  return {
    book,
    reference: query.reference,
    referenceId: query.reference_id,
    contactKey: query.payer === undefined ? undefined : payers.contactKey(query.payer),
    status: query.status,
    method: query.payment_method,
    amounts: query.amount === undefined ? undefined : amountsOf(query.amount),
    metadata: query.metadata === undefined ? undefined : pairOf(query.metadata),
    createdFrom: rangeFrom("created_from", query.created_from),
    createdBefore: rangeBefore("created_to", query.created_to),
    after: query.starting_after,
  };
}

/** A written amount in minor units, for each currency with enough decimals for it: one that a merchant left out has payments still. */
function amountsOf(written: string): { currency: string; amountMinor: Minor }[] {
  const [whole = "", decimals = ""] = written.split(".");
  return currencyCodes.flatMap((currency) => {
    const exponent = exponentOf(currency);
    if (/[1-9]/.test(decimals.slice(exponent))) return [];
    const amountMinor = BigInt(whole + decimals.slice(0, exponent).padEnd(exponent, "0"));
    return amountMinor > MINOR_MAX ? [] : [{ currency, amountMinor }];
  });
}

function pairOf(written: string): { name: string; value: string } {
  const colon = written.indexOf(":");
  return { name: written.slice(0, colon).trim(), value: written.slice(colon + 1).trim() };
}

interface Finder {
  kind: Hit["kind"];
  /** The right that the caller needs. */
  action: string;
  statement: (book: Book, id: string) => Statement;
  hit: (row: Row, book: Book) => Omit<Hit, "kind">;
}

const finders: readonly Finder[] = [
  {
    kind: "payment",
    action: "payments:read",
    statement: ({ merchantId }, id) => selectPayment(merchantId, id),
    hit: (row) => paymentHit(paymentOfRow(row)),
  },
  {
    kind: "refund",
    action: "refunds:read",
    statement: ({ merchantId }, id) => selectRefund(merchantId, id),
    hit(row) {
      const { uuid, paymentReference, status, createdAt, amountMinor, currency } = refundOfRow(row);
      return moneyHit({ id: uuid, title: `of ${paymentReference}`, status, at: createdAt, amountMinor, currency });
    },
  },
  {
    kind: "dispute",
    action: "disputes:read",
    statement: ({ merchantId }, id) => selectDispute(merchantId, id),
    hit(row) {
      const { uuid, paymentReference, status, openedAt, amountMinor, currency } = disputeOfRow(row);
      return moneyHit({ id: uuid, title: `of ${paymentReference}`, status, at: openedAt, amountMinor, currency });
    },
  },
  {
    kind: "settlement",
    action: "settlements:read",
    statement: ({ merchantId }, id) => selectSettlement(merchantId, id),
    hit: settlementHit,
  },
  {
    kind: "event",
    action: "events:read",
    statement: ({ merchantId }, id) => selectEvent(merchantId, id),
    hit(row) {
      const { eventId, body, delivery } = eventOfRow(row);
      const { type, created_at: at } = JSON.parse(body) as { type: string; created_at: string };
      return { id: eventId, title: type, status: delivery?.state ?? null, at, ...noMoney };
    },
  },
  {
    kind: "journal",
    action: "balances:read",
    statement: selectJournal,
    hit(row, book) {
      const { journalId: id, seq, kind, postedAt } = journalOfRow(book, row as JournalRow);
      return { id, title: `${seq}: ${kind.replaceAll("_", " ")}`, status: null, at: wireTime(postedAt), ...noMoney };
    },
  },
];

const noMoney = { amount_minor: null, currency: null, exponent: null };

type WithMoney = Pick<Hit, "id" | "title" | "status"> & { at: Micros; amountMinor: Minor; currency: string };

function moneyHit({ at, amountMinor, currency, ...named }: WithMoney): Omit<Hit, "kind"> {
  const money = { amount_minor: wireAmount(amountMinor), currency, exponent: exponentOf(currency) };
  return { ...named, at: wireTime(at), ...money };
}

function paymentHit({ reference, referenceId, status, createdAt, amountMinor, currency }: Payment): Omit<Hit, "kind"> {
  return moneyHit({ id: reference, title: referenceId, status, at: createdAt, amountMinor, currency });
}

function settlementHit(row: Row): Omit<Hit, "kind"> {
  const { uuid: id, status, createdAt: at, netMinor: amountMinor, currency, payoutDate } = settlementOfRow(row);
  return moneyHit({ id, title: `paid out ${payoutDate}`, status, at, amountMinor, currency });
}

/** Finds what a text names in a book, within the caller's rights (`scopes`). */
export async function searchAnything(
  { database, payers }: SearchParts,
  book: Book,
  q: string,
  scopes: ReadonlySet<string>,
): Promise<Hit[]> {
  const text = q.trim();
  const finder = finders.find(({ kind }) => isId(kind satisfies IdKind, text));
  if (finder) {
    if (!scopes.has(finder.action)) return [];
    const [row] = await database.query(finder.statement(book, text));
    if (finder.kind === "event" && row && !isShown(scopes, eventOfRow(row).body)) return [];
    return row?.environment === book.environment ? [{ kind: finder.kind, ...finder.hit(row, book) }] : [];
  }
  if (text === "" || !scopes.has("payments:read")) return [];
  const ofBatches = scopes.has("settlements:read") ? [selectPaidAs(book, text)] : [];
  const found = await database.pipeline([
    ...ofBatches,
    ...(text.length <= 64 ? [selectFound({ book, referenceId: text }, 1), selectStartingLike(book, text)] : []),
    ...(/@|^\+\d/.test(text) ? [selectFound({ book, contactKey: payers.contactKey(text) }, HITS_MAX)] : []),
  ]);
  const batches = found.splice(0, ofBatches.length).flat();
  const payments = new Map(found.flat().map((row) => [row.payment_id, paymentOfRow(row)]));
  return [
    ...batches.map((row) => ({ kind: "settlement" as const, ...settlementHit(row) })),
    ...[...payments.values()].map((payment) => ({ kind: "payment" as const, ...paymentHit(payment) })),
  ];
}
