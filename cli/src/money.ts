// Runs the commands `refunds …`, `balances …`, `settlements …` and `disputes …`.
import type { ReadOptions } from "../../sdk/src/calls.ts";
import type {
  Balances,
  BalanceEntry,
  BalanceEntryFilters,
  CreateRefund,
  Dispute,
  DisputeFilters,
  DisputeOutcome,
  OpenDispute,
  Refund,
  RefundFilters,
  Settlement,
  SettlementFilters,
} from "../../sdk/src/types.ts";
import type { Change, Common, ListOptions } from "./common.ts";
import { clientOf } from "./identity.ts";
import { intent } from "./intent.ts";
import { toneOf } from "./output/color.ts";
import { printList } from "./output/list.ts";
import { amountOf, digitsOf } from "./output/money.ts";
import { printObject, printTable, say, write } from "./output/print.ts";
import type { Column } from "./output/table.ts";
import { linesOf, words } from "./output/text.ts";

/** Leaves out the filters that are undefined. */
function given<Filters extends object>(filters: {
  [Name in keyof Filters]: Filters[Name] | undefined;
}): Partial<Filters> {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as Partial<Filters>;
}

interface Money {
  amount_minor: number;
  currency: string;
  exponent: number;
}
const amount = <Item extends Money>(): Column<Item>[] => [
  { head: "AMOUNT", align: "right", cell: ({ amount_minor: minor, exponent }) => digitsOf(minor, exponent) },
  { head: "", cell: ({ currency }) => currency },
];
const status = <Item extends { status: string }>(): Column<Item> => ({
  head: "STATUS",
  cell: (item) => item.status,
  tone: (item) => toneOf(item.status),
});

/** The merchant's own id of the payment. */
const ownId = <Item extends { reference_id: string }>(): Column<Item> => ({
  head: "YOUR ID",
  cell: ({ reference_id: id }) => id,
});
interface Within {
  from: string | undefined;
  to: string | undefined;
}

const refundColumns: readonly Column<Refund>[] = [
  { head: "REFUND", cell: ({ uuid }) => uuid },
  status(),
  ...amount<Refund>(),
  { head: "PAYMENT", cell: ({ payment_reference: reference }) => reference },
  ownId(),
  { head: "CREATED", cell: ({ created_at: at }) => at },
];

export function listRefunds(
  values: ListOptions & Within & { status: RefundFilters["status"]; payment: string | undefined },
): Promise<number> {
  const { refunds } = clientOf(values);
  const { status: state, payment, from, to } = values;
  const filters = given<RefundFilters>({
    status: state,
    payment_reference: payment,
    created_from: from,
    created_to: to,
  });
  const listing = {
    ask: (limit: number, options: ReadOptions) => refunds.list({ ...filters, limit }, options),
    columns: refundColumns,
    id: ({ uuid }: Refund) => uuid,
    empty: "No refunds.",
  };
  return printList(listing, values);
}

export async function getRefund(values: Common, uuid: string): Promise<number> {
  return printObject(await clientOf(values).refunds.get(uuid), values);
}

export async function createRefund(
  values: Change & { "amount-minor": string | undefined; reason: string | undefined },
  reference: string,
): Promise<number> {
  const part = values["amount-minor"];
  const body: CreateRefund = {
    payment_reference: reference,
    ...(part === undefined ? {} : { amount_minor: Number(part) }),
    ...(values.reason === undefined ? {} : { reason: values.reason }),
  };
  return printObject(await clientOf(values).refunds.create(body, intent(values)), values);
}

const balanceColumns: readonly Column<Balances["data"][number]>[] = [
  { head: "CURRENCY", cell: ({ currency }) => currency },
  { head: "AVAILABLE", align: "right", cell: (one) => amountOf(one.available_minor, one.exponent) },
  { head: "HELD", align: "right", cell: (one) => amountOf(one.held_minor, one.exponent) },
  { head: "ON ITS WAY", align: "right", cell: (one) => amountOf(one.pending_settlement_minor, one.exponent) },
];

export async function listBalances(values: Common): Promise<number> {
  const balances = await clientOf(values).balances.get();
  if (values.json) return printObject(balances, values);
  printTable(balanceColumns, balances.data);
  say(words`As of ${balances.as_of}, ${balances.environment}.`);
  return 0;
}

export async function listEntries(
  values: ListOptions & { figure: BalanceEntryFilters["figure"]; from: string | undefined; to: string | undefined },
  currency: string,
): Promise<number> {
  const { balances } = clientOf(values);
  // Entries have no exponent: it is that of the currency's balance.
  const { data } = await balances.get();
  const exponent = data.find((one) => one.currency === currency)?.exponent ?? 0;
  const columns: readonly Column<BalanceEntry>[] = [
    { head: "AT", cell: ({ posted_at: at }) => at },
    { head: "KIND", cell: ({ kind }) => kind },
    { head: "AMOUNT", align: "right", cell: ({ amount_minor: minor }) => digitsOf(minor, exponent) },
    { head: "AFTER IT", align: "right", cell: ({ figure_after_minor: minor }) => amountOf(minor, exponent) },
    { head: "JOURNAL", cell: ({ journal }) => journal },
    { head: "OF", cell: ({ object }) => object },
  ];
  const { figure, from, to } = values;
  const filters = given<BalanceEntryFilters>({ figure, posted_from: from, posted_to: to });
  const listing = {
    ask: (limit: number, options: ReadOptions) => balances.entries(currency, { ...filters, limit }, options),
    columns,
    id: ({ id }: BalanceEntry) => id,
    empty: "No movements.",
  };
  return printList(listing, values);
}

const settlementColumns: readonly Column<Settlement>[] = [
  { head: "PAYOUT", cell: ({ uuid }) => uuid },
  status(),
  { head: "NET", align: "right", cell: ({ net_minor: minor, exponent }) => digitsOf(minor, exponent) },
  { head: "", cell: ({ currency }) => currency },
  { head: "PAYMENTS", align: "right", cell: ({ payment_count: payments }) => String(payments) },
  { head: "PERIOD ENDS", cell: ({ period_end: end }) => end },
  { head: "PAID", cell: ({ paid_at: at }) => at ?? "–" },
  { head: "BANK REFERENCE", cell: ({ bank_reference: reference }) => reference ?? "–" },
];

export function listSettlements(
  values: ListOptions & Within & { status: SettlementFilters["status"]; currency: string | undefined },
): Promise<number> {
  const { settlements } = clientOf(values);
  const { status, currency, from, to } = values;
  const filters = given<SettlementFilters>({ status, currency, date_from: from, date_to: to });
  const listing = {
    ask: (limit: number, options: ReadOptions) => settlements.list({ ...filters, limit }, options),
    columns: settlementColumns,
    id: ({ uuid }: Settlement) => uuid,
    empty:
      Object.keys(filters).length === 0
        ? "No payouts. In the sandbox gerbang settlements run forms those that are due."
        : "No payouts match.",
  };
  return printList(listing, values);
}

export async function getSettlement(values: Common, uuid: string): Promise<number> {
  return printObject(await clientOf(values).settlements.get(uuid), values);
}

export async function printStatement(values: { profile: string | undefined }, uuid: string): Promise<number> {
  write(linesOf(await clientOf(values).settlements.statement(uuid)));
  return 0;
}

export async function runSettlements(values: Change): Promise<number> {
  const formed = await clientOf(values).sandbox.settlements.run(intent(values));
  if (values.json) return printObject(formed, values);
  if (formed.data.length === 0) say(words`Nothing is due.`);
  else printTable(settlementColumns, formed.data);
  return 0;
}

export async function paySettlement(values: Change, uuid: string): Promise<number> {
  return printObject(await clientOf(values).sandbox.settlements.pay(uuid, intent(values)), values);
}

const disputeColumns: readonly Column<Dispute>[] = [
  { head: "DISPUTE", cell: ({ uuid }) => uuid },
  status(),
  ...amount<Dispute>(),
  { head: "REASON", cell: ({ reason }) => reason },
  { head: "PAYMENT", cell: ({ payment_reference: reference }) => reference },
  ownId(),
  { head: "EVIDENCE UNTIL", cell: ({ evidence_due_at: at }) => at },
];

export function listDisputes(
  values: ListOptions & Within & { status: DisputeFilters["status"]; payment: string | undefined },
): Promise<number> {
  const { disputes } = clientOf(values);
  const { status: state, payment, from, to } = values;
  const filters = given<DisputeFilters>({
    status: state,
    payment_reference: payment,
    opened_from: from,
    opened_to: to,
  });
  const listing = {
    ask: (limit: number, options: ReadOptions) => disputes.list({ ...filters, limit }, options),
    columns: disputeColumns,
    id: ({ uuid }: Dispute) => uuid,
    empty: "No disputes.",
  };
  return printList(listing, values);
}

export async function getDispute(values: Common, uuid: string): Promise<number> {
  return printObject(await clientOf(values).disputes.get(uuid), values);
}

export async function openDispute(
  values: Change & { reason: OpenDispute["reason"]; "amount-minor": string | undefined },
  reference: string,
): Promise<number> {
  const part = values["amount-minor"];
  const body: OpenDispute = { reason: values.reason, ...(part === undefined ? {} : { amount_minor: Number(part) }) };
  return printObject(await clientOf(values).sandbox.payments.dispute(reference, body, intent(values)), values);
}

export async function resolveDispute(values: Change & { outcome: DisputeOutcome }, uuid: string): Promise<number> {
  return printObject(await clientOf(values).sandbox.disputes.resolve(uuid, values.outcome, intent(values)), values);
}
