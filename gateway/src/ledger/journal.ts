// What a journal is, how it balances and how it is hashed. Pure; the database enforces the same rules by itself.
import { createHash } from "node:crypto";
import type { Micros } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Minor } from "../ground/money.ts";
import { type Book, bookKey } from "../merchants/books.ts";

/** Accounts of a book, in each currency. The platform's accounts stand in every merchant's book, so no two merchants share a row. */
export const accounts = {
  receivable: (gatewayCode: string) => `acquirer:${gatewayCode}:receivable`,
  available: "merchant:available",
  held: "merchant:held",
  settling: "merchant:settling",
  fees: "platform:fees",
  bank: "platform:bank",
  unapplied: "platform:unapplied",
} as const;

/** True for the name of an account that a book may have. */
export function isAccount(name: string): boolean {
  return Object.values<unknown>(accounts).includes(name) || /^acquirer:[a-z_]{1,30}:receivable$/.test(name);
}

/** One side of a journal. Debits are positive, credits negative. */
export interface Posting {
  account: string;
  currency: string;
  amountMinor: Minor;
}

export interface Entry extends Posting {
  balanceAfterMinor: Minor;
}

export interface Journal {
  book: Book;
  seq: bigint;
  journalId: string;
  /** The object that the journal belongs to: a payment with everything that reverses it, or a settlement batch (kinds `settlement_…`). */
  groupId: string;
  kind: string;
  /** Unique in the book, so that a retry cannot move the money twice. */
  operationKey: string;
  postedAt: Micros;
  prevHash: Buffer;
  hash: Buffer;
  entries: readonly Entry[];
}

export interface JournalDraft {
  /** Absent: a new one is made. Given: that of the journal's object, by which the database finds this journal. It must be of now: statements find a period by it. */
  journalId?: string;
  groupId: string;
  kind: string;
  operationKey: string;
  postings: readonly Posting[];
}

/** Throws UNBALANCED_ENTRY unless there are two postings or more, none is zero, and they sum to zero in each currency. */
export function assertBalanced(postings: readonly Posting[]): void {
  const sums = new Map<string, Minor>();
  for (const { currency, amountMinor } of postings) sums.set(currency, (sums.get(currency) ?? 0n) + amountMinor);
  const whole = postings.length >= 2 && postings.every((posting) => posting.amountMinor !== 0n);
  if (!whole || [...sums.values()].some((sum) => sum !== 0n))
    throw new Fault("UNBALANCED_ENTRY", { internal: "journal draft" });
}

/** SHA-256 over the previous journal's hash and every field of this journal. */
export function journalHash(journal: Omit<Journal, "hash">): Buffer {
  const text = JSON.stringify([
    bookKey(journal.book),
    String(journal.seq),
    journal.journalId,
    journal.groupId,
    journal.kind,
    journal.operationKey,
    journal.postedAt,
    journal.entries.map((entry) => [
      entry.account,
      entry.currency,
      String(entry.amountMinor),
      String(entry.balanceAfterMinor),
    ]),
  ]);
  return createHash("sha256").update(journal.prevHash).update(text).digest();
}

/** A payment is paid: the acquirer owes the amount; the merchant gets the amount less the fee. */
export function capturePostings(payment: {
  gatewayCode: string;
  currency: string;
  amountMinor: Minor;
  feeMinor: Minor;
}): Posting[] {
  const { currency, amountMinor, feeMinor } = payment;
  return [
    { account: accounts.receivable(payment.gatewayCode), currency, amountMinor },
    { account: accounts.available, currency, amountMinor: feeMinor - amountMinor },
    { account: accounts.fees, currency, amountMinor: -feeMinor },
  ].filter((posting) => posting.amountMinor !== 0n);
}

interface Money {
  currency: string;
  amountMinor: Minor;
}

/** A refund: the merchant gives the amount back, and the acquirer owes that much less. The fee is kept. */
export function refundPostings(gatewayCode: string, { currency, amountMinor }: Money): Posting[] {
  return [
    { account: accounts.available, currency, amountMinor },
    { account: accounts.receivable(gatewayCode), currency, amountMinor: -amountMinor },
  ];
}

/** A refund failed after it was posted: its postings are reversed. */
export function refundReturnPostings(gatewayCode: string, refund: Money): Posting[] {
  return reversed(refundPostings(gatewayCode, refund));
}

/** The acquirer received money that no payment awaits: the acquirer owes it, and nobody owns it yet. */
export function unappliedPostings(gatewayCode: string, { currency, amountMinor }: Money): Posting[] {
  return [
    { account: accounts.receivable(gatewayCode), currency, amountMinor },
    { account: accounts.unapplied, currency, amountMinor: -amountMinor },
  ];
}

/** Unapplied money goes back to the payer through its acquirer. */
export function unappliedReturnPostings(gatewayCode: string, received: Money): Posting[] {
  return reversed(unappliedPostings(gatewayCode, received));
}

/** Unapplied money is credited to the merchant, without a fee. */
export function unappliedCreditPostings({ currency, amountMinor }: Money): Posting[] {
  return [
    { account: accounts.unapplied, currency, amountMinor },
    { account: accounts.available, currency, amountMinor: -amountMinor },
  ];
}

/** A dispute is opened: the contested amount is held. */
export function holdPostings({ currency, amountMinor }: Money): Posting[] {
  return [
    { account: accounts.available, currency, amountMinor },
    { account: accounts.held, currency, amountMinor: -amountMinor },
  ];
}

/** A dispute is won or withdrawn: the held amount is available to the merchant again. */
export function releasePostings(held: Money): Posting[] {
  return reversed(holdPostings(held));
}

/** A dispute is lost: the held amount goes back to the payer through the acquirer. */
export function lossPostings(gatewayCode: string, { currency, amountMinor }: Money): Posting[] {
  return [
    { account: accounts.held, currency, amountMinor },
    { account: accounts.receivable(gatewayCode), currency, amountMinor: -amountMinor },
  ];
}

/** A settlement batch is formed: its net waits for the bank. */
export function settlementFormedPostings({ currency, amountMinor }: Money): Posting[] {
  return [
    { account: accounts.available, currency, amountMinor },
    { account: accounts.settling, currency, amountMinor: -amountMinor },
  ];
}

/** The bank returned a settlement batch: its net is available again. */
export function settlementReturnedPostings(batch: Money): Posting[] {
  return reversed(settlementFormedPostings(batch));
}

/** The bank paid a settlement batch out. */
export function settlementPaidPostings({ currency, amountMinor }: Money): Posting[] {
  return [
    { account: accounts.settling, currency, amountMinor },
    { account: accounts.bank, currency, amountMinor: -amountMinor },
  ];
}

function reversed(postings: Posting[]): Posting[] {
  return postings.map((posting) => ({ ...posting, amountMinor: -posting.amountMinor }));
}
