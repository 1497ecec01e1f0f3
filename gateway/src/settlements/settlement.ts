// A settlement batch, the selection of its items, and its shapes in the API and the statement.
import { type Micros, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { csvLine } from "../ground/csv.ts";
import { type Minor, decimal, exponentOf, wireAmount, MINOR_MAX } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";

export const settlementStatuses = ["processing", "paid", "failed"] as const;
export type SettlementStatus = (typeof settlementStatuses)[number];

/** The sums of a batch; the net is the gross less fees and refunds. */
interface Sums {
  grossMinor: Minor;
  feeMinor: Minor;
  /** Refunds and lost disputes. */
  refundMinor: Minor;
  netMinor: Minor;
}

export interface Settlement extends Sums {
  book: Book;
  uuid: string;
  status: SettlementStatus;
  currency: string;
  periodStart: Micros;
  periodEnd: Micros;
  paymentCount: number;
  createdAt: Micros;
  payDueAt: Micros;
  /** The local day on which the payout is due, later on which it was made. A change of the schedule does not change it. */
  payoutDate: string;
  paidAt: Micros | undefined;
  bankReference: string | undefined;
  /** When it was recorded that the bank returned the payout. */
  returnedAt: Micros | undefined;
}

/** An unsettled item, or an item of a batch. Payments and credited receipts add to a batch; refunds and lost disputes are deductions. */
export interface SettlementItem {
  kind: "payment" | "receipt" | "refund" | "dispute";
  /** The payment's reference, or the uuid of the receipt, refund or dispute. */
  id: string;
  paymentReference: string;
  amountMinor: Minor;
  feeMinor: Minor;
  occurredAt: Micros;
}

/** Interface 2.5: a settlement in lists, and as the data of settlement events. */
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
    paid_at: wireTimeOrNull(settlement.paidAt),
    bank_reference: settlement.bankReference ?? null,
  };
}

function adds({ kind }: SettlementItem): boolean {
  return kind === "payment" || kind === "receipt";
}

interface Selection extends Sums {
  items: SettlementItem[];
}

/**
 * Selects the items of a batch: all deductions, and additions from the oldest on while the net stays within `available` and the gross within what
 * JSON carries exactly. Undefined when the net is not above 0, or below `minimum`. `more`: there are more items than `unsettled`; then it is enough
 * that `available` reaches the minimum. Where not all additions can be taken it takes only deductions that those cover, the others next time. Pure.
 */
export function select(
  unsettled: readonly SettlementItem[],
  available: Minor,
  minimum: Minor,
  more = false,
): Selection | undefined {
  const additions = unsettled.filter(adds).toSorted((a, b) => a.occurredAt - b.occurredAt);
  const carried = withinSum(additions);
  const all = unsettled.filter((item) => !adds(item));
  const deductions = more || carried.length < additions.length ? coverable(all, carried) : all;
  const refundMinor = deductions.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const taken: SettlementItem[] = [];
  let grossMinor = 0n;
  let feeMinor = 0n;
  for (const item of carried) {
    const net = grossMinor + item.amountMinor - feeMinor - item.feeMinor - refundMinor;
    if (net > available) break;
    taken.push(item);
    grossMinor += item.amountMinor;
    feeMinor += item.feeMinor;
  }
  const netMinor = grossMinor - feeMinor - refundMinor;
  if (netMinor <= 0n || (netMinor < minimum && !(more && available >= minimum))) return undefined;
  return { items: [...taken, ...deductions], grossMinor, feeMinor, refundMinor, netMinor };
}

/** True when items may wait beyond the `most` of a kind that were looked at. Payments whose fee takes all of them are looked at besides. Pure. */
export function isCut(items: readonly SettlementItem[], most: number): boolean {
  const counted = items.filter(({ amountMinor, feeMinor }) => amountMinor > feeMinor);
  return [...Map.groupBy(counted, ({ kind }) => kind).values()].some(({ length }) => length >= most);
}

/** The first additions whose sum JSON carries exactly. */
function withinSum(additions: readonly SettlementItem[]): readonly SettlementItem[] {
  let sum = 0n;
  const end = additions.findIndex(({ amountMinor }) => (sum += amountMinor) > MINOR_MAX);
  return end < 0 ? additions : additions.slice(0, end);
}

/** Deductions, tried from the oldest on, that together stay below the sum of the additions. A deduction that does not fit is skipped. */
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

/** A line of the statement: an item of a batch and its payment. */
export interface StatementLine extends SettlementItem {
  referenceId: string;
  method: string;
  gatewayCode: string | undefined;
  createdAt: Micros;
  paidAt: Micros | undefined;
}

/** The columns of a statement, and what each says; the API's page of it shows the list. */
export const statementColumns: readonly [name: string, meaning: string][] = [
  [
    "kind",
    "`payment`; `receipt`: money that was credited to you apart from a payment; `refund`; `dispute` that was lost; `total`",
  ],
  ["id", "of the payment, receipt, refund or dispute; of the batch in the last line"],
  ["reference", "`pay_…` of the payment, also of a refund or dispute; empty in the last line, as are the next five"],
  ["reference_id", "your own identity of the order"],
  ["payment_method", "of the payment"],
  ["gateway_code", "the acquirer of the payment"],
  ["created_at", "when the payment was created"],
  ["paid_at", "when it was paid"],
  ["occurred_at", "when the line counts: paid, credited, refunded or lost; in the last line `period_end`"],
  ["currency", "of the batch"],
  ["gross_minor", "of a payment or receipt"],
  ["fee_minor", "of a payment"],
  ["refund_minor", "of a refund"],
  ["dispute_minor", "of a lost dispute"],
  ["net_minor", "gross less fee, refund and dispute: negative in lines that take away"],
  ["net", "the same with its decimals, such as `148950.00`"],
];

export const asSent = (text: string): string => text;

/**
 * A batch as comma-separated values (RFC 4180) for reconciliation: a line for each item, and a last line with the batch's sums. In each line
 * `net_minor` is the gross less fee, refund and dispute; `net` is the same amount in the currency's own notation. `shown`: how the merchant's texts stand.
 */
export function statementOf(settlement: Settlement, lines: readonly StatementLine[], shown = asSent): string {
  const { currency, uuid, grossMinor, feeMinor, refundMinor } = settlement;
  const money = (gross: Minor, fee: Minor, refund: Minor, dispute: Minor): string[] => {
    const net = gross - fee - refund - dispute;
    return [gross, fee, refund, dispute, net].map(String).concat(decimal(net, currency));
  };
  const rows = lines.map((line) => [
    line.kind,
    line.id,
    line.paymentReference,
    shown(line.referenceId),
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
  const disputed = lines.reduce((sum, { kind, amountMinor }) => (kind === "dispute" ? sum + amountMinor : sum), 0n);
  const total = [
    "total",
    uuid,
    ...Array<string>(6).fill(""),
    wireTime(settlement.periodEnd),
    currency,
    ...money(grossMinor, feeMinor, refundMinor - disputed, disputed),
  ];
  return [statementColumns.map(([name]) => name), ...rows, total].map(csvLine).join("");
}
