// A settlement batch as the house knows it, what it is made of, and as it is shown.
import { type Micros, wireTime } from "../ground/clock.ts";
import { type Minor, exponentOf, readable, wireAmount, MINOR_MAX } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";

export const settlementStatuses = ["processing", "paid", "failed"] as const;
export type SettlementStatus = (typeof settlementStatuses)[number];

export interface Settlement {
  book: Book;
  uuid: string;
  status: SettlementStatus;
  currency: string;
  periodStart: Micros;
  periodEnd: Micros;
  grossMinor: Minor;
  feeMinor: Minor;
  refundMinor: Minor;
  netMinor: Minor;
  paymentCount: number;
  createdAt: Micros;
  payDueAt: Micros;
  /** The local day of the payout: on which it is due, and then on which it was made. It never follows a later schedule. */
  payoutDate: string;
  paidAt: Micros | undefined;
  bankReference: string | undefined;
}

/** What waits for a batch. Payments and credited receipts add to it; refunds and lost disputes take away. */
export interface SettlementItem {
  kind: "payment" | "receipt" | "refund" | "dispute";
  /** The payment's reference; else the uuid. */
  id: string;
  paymentReference: string;
  amountMinor: Minor;
  feeMinor: Minor;
  occurredAt: Micros;
}

/** Interface 2.5: in lists, and the data of settlement events. */
export function settlementView(settlement: Settlement): Record<string, unknown> {
  return {
    uuid: settlement.uuid,
    environment: settlement.book.environment,
    status: settlement.status,
    currency: settlement.currency,
    exponent: exponentOf(settlement.currency),
    period_start: wireTime(settlement.periodStart),
    period_end: wireTime(settlement.periodEnd),
    gross_minor: wireAmount(settlement.grossMinor),
    fee_minor: wireAmount(settlement.feeMinor),
    refund_minor: wireAmount(settlement.refundMinor),
    net_minor: wireAmount(settlement.netMinor),
    payment_count: settlement.paymentCount,
    paid_at: settlement.paidAt === undefined ? null : wireTime(settlement.paidAt),
    bank_reference: settlement.bankReference ?? null,
  };
}

function adds({ kind }: SettlementItem): boolean {
  return kind === "payment" || kind === "receipt";
}

export interface Selection {
  items: SettlementItem[];
  grossMinor: Minor;
  feeMinor: Minor;
  refundMinor: Minor;
  netMinor: Minor;
}

/**
 * What a batch takes of what waits: every deduction, and what adds to it from the oldest on as long as the net stays within what
 * is available; the newest wait. Undefined when nothing is due, or less than `minimum`. When `more` waits than was looked at, it
 * takes only the deductions that what was looked at makes up for: the others are for the next batch. Pure.
 */
export function select(
  waiting: readonly SettlementItem[],
  available: Minor,
  minimum: Minor,
  more = false,
): Selection | undefined {
  const all = waiting.filter((item) => !adds(item));
  const deductions = more ? coverable(all, waiting.filter(adds)) : all;
  const refundMinor = deductions.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const taken: SettlementItem[] = [];
  let grossMinor = 0n;
  let feeMinor = 0n;
  for (const item of waiting.filter(adds).toSorted((a, b) => a.occurredAt - b.occurredAt)) {
    const net = grossMinor + item.amountMinor - feeMinor - item.feeMinor - refundMinor;
    // What one batch pays out must be a number that JSON carries exactly.
    if (net > available || grossMinor + item.amountMinor > MINOR_MAX) break;
    taken.push(item);
    grossMinor += item.amountMinor;
    feeMinor += item.feeMinor;
  }
  const netMinor = grossMinor - feeMinor - refundMinor;
  if (netMinor <= 0n || netMinor < minimum) return undefined;
  return { items: [...taken, ...deductions], grossMinor, feeMinor, refundMinor, netMinor };
}

/** Deductions, the oldest first, that leave something of what is added. */
function coverable(deductions: readonly SettlementItem[], added: readonly SettlementItem[]): SettlementItem[] {
  let left = added.reduce((sum, { amountMinor, feeMinor }) => sum + amountMinor - feeMinor, 0n);
  return deductions
    .toSorted((a, b) => a.occurredAt - b.occurredAt)
    .filter(({ amountMinor }) => {
      if (amountMinor >= left) return false;
      left -= amountMinor;
      return true;
    });
}

/** An item of a batch with what is known of its payment: a line of the statement. */
export interface StatementLine extends SettlementItem {
  referenceId: string;
  method: string;
  gatewayCode: string | undefined;
  createdAt: Micros;
  paidAt: Micros | undefined;
}

const statementHead = [
  "kind",
  "id",
  "reference",
  "reference_id",
  "payment_method",
  "gateway_code",
  "created_at",
  "paid_at",
  "occurred_at",
  "currency",
  "gross_minor",
  "fee_minor",
  "refund_minor",
  "dispute_minor",
  "net_minor",
  "net",
];

/**
 * A batch as comma-separated values (RFC 4180) for reconciliation: a line an item, and the sums, which are the batch's. In each line the net
 * is the gross less fee, refund and dispute; `net` is the same in the currency's own notation.
 */
export function statementOf(settlement: Settlement, lines: readonly StatementLine[]): string {
  const { currency } = settlement;
  const money = (gross: Minor, fee: Minor, refund: Minor, dispute: Minor): string[] => {
    const net = gross - fee - refund - dispute;
    return [gross, fee, refund, dispute, net].map(String).concat(readable(net, currency).replaceAll(",", ""));
  };
  const rows = lines.map((line) => [
    line.kind,
    line.id,
    line.paymentReference,
    line.referenceId,
    line.method,
    line.gatewayCode ?? "",
    wireTime(line.createdAt),
    line.paidAt === undefined ? "" : wireTime(line.paidAt),
    wireTime(line.occurredAt),
    currency,
    ...money(
      adds(line) ? line.amountMinor : 0n,
      line.feeMinor,
      line.kind === "refund" ? line.amountMinor : 0n,
      line.kind === "dispute" ? line.amountMinor : 0n,
    ),
  ]);
  const disputed = lines
    .filter(({ kind }) => kind === "dispute")
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const { uuid, grossMinor, feeMinor, refundMinor } = settlement;
  const nothing = Array.from({ length: 6 }, () => "");
  const total = [
    "total",
    uuid,
    ...nothing,
    wireTime(settlement.periodEnd),
    currency,
    ...money(grossMinor, feeMinor, refundMinor - disputed, disputed),
  ];
  return [statementHead, ...rows, total].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

/** In quotes where the text has what separates fields. */
function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
