// A merchant's settlement schedule, and the days and instants that follow from it. Pure; batches are formed in settlements/.
import { z } from "zod";
import { type Micros, DAY, MINUTE, SECOND, parseWireTime, wireTime } from "../ground/clock.ts";
import { DEFAULT_CURRENCY, type Minor, isCurrency } from "../ground/money.ts";

const HOLIDAYS_MAX = 400;

/** An array without repeated items; the error names the second of two equal items. */
const distinct = <Item extends z.ZodType>(item: Item) =>
  z.array(item).check(({ value, issues }) => {
    const seen = new Set<unknown>();
    for (const [index, entry] of value.entries()) {
      if (seen.has(entry)) issues.push({ code: "custom", path: [index], message: "is there twice", input: entry });
      seen.add(entry);
    }
  });

const existingDate = z
  .string()
  .refine((text) => parseWireTime(text)?.wholeDay === true, "is not a date YYYY-MM-DD of 1970 to 2199")
  .meta({ format: "date" });

/** The settlement schedule in a merchant's settings. Days and times of day are local. */
export const settlementScheduleSchema = z
  .strictObject({
    utc_offset_minutes: z.int().min(-720).max(840).meta({ description: "Local time is UTC plus this, all the year." }),
    cutoff: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "is not a time of day HH:MM")
      .meta({
        description: "When a business day ends and runs start: 00:00 ends the day before, another time its own.",
      }),
    // T+0 with cutoff "00:00" is T+1: the day ends only when the next begins.
    delay_days: z.int().min(0).max(30).meta({ description: "The n of T+n, in calendar days." }),
    closed_weekdays: distinct(z.int().min(0).max(6))
      .max(6, "leaves no day open")
      .meta({ description: "Days without a run; 0 is Sunday." }),
    holidays: distinct(existingDate).max(HOLIDAYS_MAX).meta({ description: "Dates without a run." }),
    // At most MINOR_MAX, which is the largest z.int().
    minimum_payout_minor: z.int().min(0).meta({ description: "A smaller payout in IDR waits for a later run." }),
    minimum_payout_minor_per_currency: z
      .record(z.string().refine(isCurrency, "is not a currency of ISO 4217"), z.int().min(0))
      .meta({ description: "The same in other currencies; one that is not named has none." }),
    pay_after_seconds: z.int().min(0).max(604_800).meta({ description: "From a run until its payout is due." }),
  })
  .meta({
    id: "SettlementSchedule",
    description: "When and how payments become payouts. Days and times of day are local.",
  });
export type SettlementSchedule = z.infer<typeof settlementScheduleSchema>;

/** Every working day at 00:00 in Jakarta, T+1. */
export const defaultSchedule: SettlementSchedule = {
  utc_offset_minutes: 420,
  cutoff: "00:00",
  delay_days: 1,
  closed_weekdays: [0, 6],
  holidays: [],
  minimum_payout_minor: 0,
  minimum_payout_minor_per_currency: {},
  pay_after_seconds: 3600,
};

// Below, a day is a number: local calendar days since 1970-01-01.

/** When the next run is due: the first cutoff after `after` on an open local day, in microseconds UTC. Throws for a schedule its schema rejects. */
export function nextRun(schedule: SettlementSchedule, after: Micros): Micros {
  return cutoffOf(schedule, firstOpenDay(schedule, lastCutoffDay(schedule, after) + 1));
}

/**
 * The run, `next` or later, that takes a payment paid at `paidAt`: the one on the first open day from delay_days calendar days after the
 * payment's business day on, or `next` when that is later. Takes and gives microseconds UTC. Throws only for a schedule that its schema rejects.
 */
export function settlingRun(schedule: SettlementSchedule, paidAt: Micros, next: Micros): Micros {
  if (paidAt < periodEnd(schedule, next)) return next;
  return cutoffOf(schedule, firstOpenDay(schedule, lastCutoffDay(schedule, paidAt) + 1 + daysHeld(schedule)));
}

/** The local day, YYYY-MM-DD, of the payout of a batch that the run at `runAt` forms. */
export function payoutDate(schedule: SettlementSchedule, runAt: Micros): string {
  return localDate(schedule, runAt + schedule.pay_after_seconds * SECOND);
}

/** The local day, YYYY-MM-DD, of an instant. */
export function localDate(schedule: SettlementSchedule, at: Micros): string {
  return wireTime(at + schedule.utc_offset_minutes * MINUTE).slice(0, 10);
}

/** The minimum payout of a batch of this currency, in minor units. */
export function minimumPayoutOf(schedule: SettlementSchedule, currency: string): Minor {
  const { minimum_payout_minor: minimum, minimum_payout_minor_per_currency: others } = schedule;
  return BigInt(currency === DEFAULT_CURRENCY ? minimum : (others[currency] ?? 0));
}

/**
 * The instant before which a payment must be paid for the run due at `runAt` to take it: the end of the last business day that is delay_days
 * old. It is `runAt` itself with T+1 and cutoff "00:00", or with T+0 and another cutoff. A run that starts late counts as starting at the
 * cutoff before it. Takes and gives microseconds UTC, never later than `runAt`.
 */
export function periodEnd(schedule: SettlementSchedule, runAt: Micros): Micros {
  return cutoffOf(schedule, lastCutoffDay(schedule, runAt) - daysHeld(schedule));
}

/** Days from the cutoff that ends a business day to the cutoff that settles it. A cutoff at midnight already lies in the next day. */
function daysHeld(schedule: SettlementSchedule): number {
  return schedule.cutoff === "00:00" ? Math.max(schedule.delay_days - 1, 0) : schedule.delay_days;
}

/** The cutoff of local day 0, as an instant. */
function firstCutoff(schedule: SettlementSchedule): Micros {
  const [hours, minutes] = schedule.cutoff.split(":");
  return (Number(hours) * 60 + Number(minutes) - schedule.utc_offset_minutes) * MINUTE;
}

function cutoffOf(schedule: SettlementSchedule, day: number): Micros {
  return firstCutoff(schedule) + day * DAY;
}

/** The local day of the last cutoff at or before an instant. */
function lastCutoffDay(schedule: SettlementSchedule, at: Micros): number {
  return Math.floor((at - firstCutoff(schedule)) / DAY);
}

function firstOpenDay(schedule: SettlementSchedule, from: number): number {
  // Each week has an open weekday, so a range of more weeks than there can be holidays has an open day.
  const end = from + 7 * (HOLIDAYS_MAX + 1);
  for (let day = from; day < end; day++) {
    if (!schedule.closed_weekdays.includes(weekdayOf(day)) && !schedule.holidays.includes(dateOf(day))) return day;
  }
  throw new Error("a settlement schedule without an open day");
}

/** 0 is Sunday. 1970-01-01 was a Thursday. */
function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

function dateOf(day: number): string {
  return wireTime(day * DAY).slice(0, 10);
}
