// Endpoints of payouts over all merchants: a calendar by day, and the settlement batches of a day.
import type { z } from "zod";
import { type Clock, type Micros, DAY, parseWireTime, wireTime } from "../ground/clock.ts";
import { validationFault } from "../ground/fault.ts";
import { exponentOf, wireMinor } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import { limitOf, page, unknownCursor } from "../http/lists.ts";
import { type Settlement, settlementView } from "../settlements/settlement.ts";
import { settlementOfRow } from "../settlements/settlements.sql.ts";
import type { Database } from "../store/database.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import {
  CALENDAR_DAYS_MAX,
  calendarQuery,
  calendarSchema,
  dayQuery,
  payoutListSchema,
} from "./settlement-calendar.schema.ts";
import {
  type CalendarRange,
  type ComingRow,
  type PayoutRow,
  selectComing,
  selectIsPayoutOf,
  selectPayouts,
  selectPayoutsOf,
} from "./settlement-calendar.sql.ts";

const DAYS_BEFORE = 30;
const DAYS_AFTER = 14;

type CalendarCurrency = z.infer<typeof calendarSchema>["days"][number]["currencies"][number];

export function settlementCalendarEndpoints(database: Database, clock: Clock): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "getSettlementCalendar",
      path: "/ops/v1/settlements/calendar",
      summary: "What is and was paid out on each day, over all merchants",
      description:
        "Batches by the day on which they are due or were paid, and what is available in the books whose next batch is still to come. Days are those of each merchant's own calendar.",
      tag: "Settlements",
      role: "viewer",
      query: calendarQuery,
      success: { description: "The days.", schema: calendarSchema },
      async handle({ query }) {
        const now = clock.now();
        const range = rangeOf(query, now);
        const [payouts, coming] = await database.pipeline([selectPayouts(range), selectComing(range, now)]);
        return reply(200, {
          ...range,
          as_of: wireTime(now),
          days: daysOf(payouts as PayoutRow[], coming as ComingRow[]),
        });
      },
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "listPayouts",
      path: "/ops/v1/settlements",
      summary: "List the batches of all merchants that are or were paid out on a day, newest first",
      tag: "Settlements",
      role: "viewer",
      query: dayQuery,
      success: { description: "A page of batches.", schema: payoutListSchema },
      async handle({ query }) {
        const { environment, payout_date: day, status, currency, starting_after: after } = query;
        const filter = { environment, day, status, currency, after };
        if (after !== undefined && (await database.query(selectIsPayoutOf(filter, after))).length === 0)
          throw unknownCursor(after);
        const rows = await database.query(selectPayoutsOf(filter, limitOf(query)));
        const payouts = rows.map((row) => ({ ...settlementOfRow(row), merchantName: row.merchant_name as string }));
        return page(payouts, query, payoutView, ({ uuid }) => uuid);
      },
    }),
  ];
}

const dayOf = (at: Micros): string => wireTime(at).slice(0, 10);

/** The requested range, with its defaults. Throws VALIDATION_ERROR for a range that is reversed or too long. */
function rangeOf({ environment, from, to }: z.infer<typeof calendarQuery>, now: Micros): CalendarRange {
  const range = { environment, from: from ?? dayOf(now - DAYS_BEFORE * DAY), to: to ?? dayOf(now + DAYS_AFTER * DAY) };
  const [first, last] = [range.from, range.to].map((day) => parseWireTime(day)?.at ?? 0);
  const days = ((last ?? 0) - (first ?? 0)) / DAY;
  if (days < 0) throw validationFault("to", range.to, "is before `from`");
  if (days > CALENDAR_DAYS_MAX)
    throw validationFault("to", range.to, `is more than ${CALENDAR_DAYS_MAX} days after \`from\``);
  return range;
}

export function payoutView(payout: Settlement & { merchantName: string }) {
  return {
    ...settlementView(payout),
    merchant_id: payout.book.merchantId,
    merchant_name: payout.merchantName,
    payout_date: payout.payoutDate,
  };
}

function daysOf(payouts: readonly PayoutRow[], coming: readonly ComingRow[]): z.infer<typeof calendarSchema>["days"] {
  const days = new Map<string, Map<string, CalendarCurrency>>();
  const of = (day: string, currency: string): CalendarCurrency => {
    const currencies = days.get(day) ?? new Map<string, CalendarCurrency>();
    days.set(day, currencies);
    const none = () => ({ batches: 0, net_minor: 0 });
    const known = currencies.get(currency) ?? {
      currency,
      exponent: exponentOf(currency),
      paid: none(),
      processing: none(),
      failed: none(),
      to_come: { books: 0, available_minor: 0 },
    };
    currencies.set(currency, known);
    return known;
  };
  for (const { day, currency, status, batches, net_minor: net } of payouts)
    of(day, currency)[status] = { batches: Number(batches), net_minor: wireMinor(BigInt(net)) };
  for (const { day, currency, books, available_minor: available } of coming)
    of(day, currency).to_come = { books: Number(books), available_minor: wireMinor(BigInt(available)) };
  return [...days]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([day, currencies]) => ({
      day,
      currencies: [...currencies.values()].toSorted((one, other) => (one.currency < other.currency ? -1 : 1)),
    }));
}
