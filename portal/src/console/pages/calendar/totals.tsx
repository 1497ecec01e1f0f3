// The calendar added up by currency: what the bank has to pay today and soon, what it is late with, and what it paid.
import { Digits } from "../../../pages/balances/digits.tsx";
import type { Schema } from "../../api/client.ts";
import { Plain } from "../merchants/plain.tsx";
import { withinNext, withinPast } from "./days.ts";

type Day = Schema<"CalendarDay">;
type Currency = Schema<"CalendarCurrency">;

interface Sum {
  exponent: number;
  /** Null where a part of it is beyond what JSON carries. */
  late: Minor;
  today: Minor;
  soon: Minor;
  coming: Minor;
  paid: Minor;
}
type Minor = number | null;

const none = (exponent: number): Sum => ({ exponent, late: 0, today: 0, soon: 0, coming: 0, paid: 0 });
const plus = (sum: Minor, more: Minor): Minor => (sum === null || more === null ? null : sum + more);

function sumsOf(days: readonly Day[], today: string): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const { day, currencies } of days) {
    for (const one of currencies) {
      const sum = sums.get(one.currency) ?? none(one.exponent);
      sums.set(one.currency, sum);
      addDay(sum, one, day, today);
    }
  }
  return sums;
}

function addDay(sum: Sum, { processing, paid, to_come: coming }: Currency, day: string, today: string): void {
  if (day < today) sum.late = plus(sum.late, processing.net_minor);
  if (day === today) sum.today = plus(sum.today, processing.net_minor);
  if (withinNext(day, today)) sum.soon = plus(sum.soon, processing.net_minor);
  if (day <= today || withinNext(day, today)) sum.coming = plus(sum.coming, coming.available_minor);
  if (day === today || withinPast(day, today)) sum.paid = plus(sum.paid, paid.net_minor);
}

export function Totals({ days, today }: { days: readonly Day[]; today: string }) {
  const sums = [...sumsOf(days, today)];
  if (sums.length === 0) return null;
  return (
    <Plain
      label="What is to be paid, and what was"
      heads={[
        { head: "Currency" },
        { head: "Overdue", align: "right" },
        { head: "Due today", align: "right" },
        { head: "Next two weeks", align: "right" },
        { head: "Not in a batch yet, at most", align: "right", from: "wide" },
        { head: "Paid in 30 days", align: "right", from: "wide" },
      ]}
      rows={sums.map(([currency, { exponent, late, today: due, soon, coming, paid }]) => ({
        key: currency,
        cells: [
          currency,
          <span key="late" className={late === 0 ? undefined : "font-medium text-bad"}>
            <Digits minor={late} exponent={exponent} />
          </span>,
          <span key="due" className="font-medium">
            <Digits minor={due} exponent={exponent} />
          </span>,
          <Digits key="soon" minor={soon} exponent={exponent} />,
          <span key="coming" className="text-muted">
            <Digits minor={coming} exponent={exponent} />
          </span>,
          <Digits key="paid" minor={paid} exponent={exponent} />,
        ],
      }))}
    />
  );
}
