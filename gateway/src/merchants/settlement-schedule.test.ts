// Goal: a payment is settled on the day its merchant was told, by exactly the run of that day.
// Method: examples of Jakarta's calendar, then properties over random schedules and instants, with the platform's own dates as witness.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Micros, SECOND } from "../ground/clock.ts";
import {
  type SettlementSchedule,
  defaultSchedule,
  nextRun,
  periodEnd,
  settlementScheduleSchema,
  payoutDate,
  settlingRun,
} from "./settlement-schedule.ts";

const DAY = 86_400 * SECOND;
const at = (text: string): Micros => Date.parse(text) * 1000;
const jakarta = (text: string): Micros => at(`${text}+07:00`);
const local = (schedule: SettlementSchedule, instant: Micros): Date =>
  new Date(instant / 1000 + schedule.utc_offset_minutes * 60_000);
const localDate = (schedule: SettlementSchedule, instant: Micros): string =>
  local(schedule, instant).toISOString().slice(0, 10);
/** The day of the run that takes a payment. */
const settlesOn = (schedule: SettlementSchedule, paidAt: Micros): string =>
  localDate(schedule, settlingRun(schedule, paidAt, nextRun(schedule, paidAt)));
const evening: SettlementSchedule = { ...defaultSchedule, cutoff: "17:00" };

/** The first run, from long before the payment on, whose period holds it. */
function runThatTakes(schedule: SettlementSchedule, paidAt: Micros): Micros {
  let run = nextRun(schedule, paidAt - 40 * DAY);
  for (let runs = 0; runs < 1000; runs++) {
    if (paidAt < periodEnd(schedule, run)) return run;
    run = nextRun(schedule, run);
  }
  throw new Error("no run takes the payment");
}

test("a payment of Thursday is settled on Friday", () => {
  expect(settlesOn(defaultSchedule, jakarta("2026-03-05T00:00:00"))).toBe("2026-03-06");
  expect(settlesOn(defaultSchedule, jakarta("2026-03-05T23:59:59.999"))).toBe("2026-03-06");
  expect(runThatTakes(defaultSchedule, jakarta("2026-03-05T23:59:59.999"))).toBe(jakarta("2026-03-06T00:00:00"));
});

test("payments of Friday, Saturday and Sunday are settled on Monday, together", () => {
  for (const day of ["2026-03-06", "2026-03-07", "2026-03-08"]) {
    expect(settlesOn(defaultSchedule, jakarta(`${day}T12:00:00`))).toBe("2026-03-09");
    expect(runThatTakes(defaultSchedule, jakarta(`${day}T12:00:00`))).toBe(jakarta("2026-03-09T00:00:00"));
  }
});

test("a holiday on Monday moves Friday's payments to Tuesday, in whatever order holidays are listed", () => {
  const schedule = { ...defaultSchedule, holidays: ["2026-08-17", "2026-03-09"] };
  expect(settlesOn(schedule, jakarta("2026-03-06T12:00:00"))).toBe("2026-03-10");
  expect(settlesOn(schedule, jakarta("2026-08-14T12:00:00"))).toBe("2026-08-18");
  expect(nextRun(schedule, jakarta("2026-03-06T00:00:00"))).toBe(jakarta("2026-03-10T00:00:00"));
});

test("the local day counts, not the day of UTC", () => {
  expect(settlesOn(defaultSchedule, at("2026-03-04T16:59:59Z"))).toBe("2026-03-05");
  expect(settlesOn(defaultSchedule, at("2026-03-04T17:00:00Z"))).toBe("2026-03-06");
  const honolulu = { ...defaultSchedule, utc_offset_minutes: -600 };
  expect(settlesOn(honolulu, at("2026-03-05T09:59:59Z"))).toBe("2026-03-05");
  expect(settlesOn(honolulu, at("2026-03-05T10:00:00Z"))).toBe("2026-03-06");
});

test("with a cutoff at 17:00, a payment at 17:00 or later belongs to the next day", () => {
  expect(settlesOn(evening, jakarta("2026-03-04T16:59:59.999"))).toBe("2026-03-05");
  expect(settlesOn(evening, jakarta("2026-03-04T17:00:00"))).toBe("2026-03-06");
  expect(settlesOn(evening, jakarta("2026-03-05T17:00:00"))).toBe("2026-03-09");
  expect(runThatTakes(evening, jakarta("2026-03-04T16:59:59.999"))).toBe(jakarta("2026-03-05T17:00:00"));
  expect(periodEnd(evening, jakarta("2026-03-05T17:00:00"))).toBe(jakarta("2026-03-04T17:00:00"));
});

test("T+0 is settled by the cutoff that ends the day, and at midnight that is T+1", () => {
  const sameDay = { ...evening, delay_days: 0 };
  expect(settlesOn(sameDay, jakarta("2026-03-04T16:59:59"))).toBe("2026-03-04");
  expect(settlesOn(sameDay, jakarta("2026-03-04T17:00:00"))).toBe("2026-03-05");
  expect(periodEnd(sameDay, jakarta("2026-03-04T17:00:00"))).toBe(jakarta("2026-03-04T17:00:00"));
  const midnight = { ...defaultSchedule, delay_days: 0 };
  expect(settlesOn(midnight, jakarta("2026-03-04T12:00:00"))).toBe("2026-03-05");
  expect(periodEnd(midnight, jakarta("2026-03-05T00:00:00"))).toBe(jakarta("2026-03-05T00:00:00"));
});

test("the delay counts calendar days, closed ones included", () => {
  const slow = { ...defaultSchedule, delay_days: 3 };
  expect(settlesOn(slow, jakarta("2026-03-06T12:00:00"))).toBe("2026-03-09");
  expect(settlesOn(slow, jakarta("2026-03-04T12:00:00"))).toBe("2026-03-09");
  expect(periodEnd(slow, jakarta("2026-03-09T00:00:00"))).toBe(jakarta("2026-03-07T00:00:00"));
});

test("29 February is a day where there is one", () => {
  expect(settlesOn(defaultSchedule, jakarta("2028-02-28T12:00:00"))).toBe("2028-02-29");
  expect(settlesOn(defaultSchedule, jakarta("2028-02-29T12:00:00"))).toBe("2028-03-01");
  expect(settlesOn(defaultSchedule, jakarta("2029-02-28T12:00:00"))).toBe("2029-03-01");
});

test("the year ends like any other month", () => {
  expect(settlesOn(defaultSchedule, jakarta("2025-12-31T12:00:00"))).toBe("2026-01-01");
  const newYear = { ...defaultSchedule, holidays: ["2026-01-01"] };
  expect(settlesOn(newYear, jakarta("2025-12-31T12:00:00"))).toBe("2026-01-02");
  expect(nextRun(newYear, jakarta("2025-12-31T00:00:00"))).toBe(jakarta("2026-01-02T00:00:00"));
});

test("a run that starts late takes what it would have taken on time", () => {
  const due = jakarta("2026-03-05T00:00:00");
  expect(periodEnd(defaultSchedule, due + 1)).toBe(periodEnd(defaultSchedule, due));
  expect(periodEnd(defaultSchedule, due + DAY - 1)).toBe(periodEnd(defaultSchedule, due));
});

test("one open weekday and every holiday that may be listed still leave a next run", () => {
  const mondays = Array.from({ length: 400 }, (_, week) =>
    new Date(Date.UTC(2026, 2, 9 + 7 * week)).toISOString().slice(0, 10),
  );
  const schedule = settlementScheduleSchema.parse({
    ...defaultSchedule,
    closed_weekdays: [0, 2, 3, 4, 5, 6],
    holidays: mondays,
  });
  const paidAt = jakarta("2026-03-02T12:00:00");
  expect(settlesOn(schedule, paidAt)).toBe("2033-11-07");
  expect(nextRun(schedule, paidAt)).toBe(jakarta("2033-11-07T00:00:00"));
});

const instant = fc.integer({ min: at("2020-01-01T00:00:00Z"), max: at("2090-12-31T23:59:59Z") });
const twoDigits = (most: number) => fc.integer({ min: 0, max: most }).map((number) => String(number).padStart(2, "0"));
/** A moment, and a schedule with holidays around it, where they matter; half of the cutoffs are at midnight. */
const moments = instant.chain((moment) =>
  fc.tuple(
    fc.record<SettlementSchedule>({
      utc_offset_minutes: fc.integer({ min: -720, max: 840 }),
      cutoff: fc.oneof(
        fc.constant("00:00"),
        fc.tuple(twoDigits(23), twoDigits(59)).map((parts) => parts.join(":")),
      ),
      delay_days: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 30 })),
      closed_weekdays: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 6 }),
      holidays: fc.uniqueArray(
        fc
          .integer({ min: -5, max: 45 })
          .map((days) => new Date((moment + days * DAY) / 1000).toISOString().slice(0, 10)),
        { maxLength: 20 },
      ),
      minimum_payout_minor: fc.maxSafeNat(),
      minimum_payout_minor_per_currency: fc.constant({}),
      pay_after_seconds: fc.integer({ min: 0, max: 604_800 }),
    }),
    // A cutoff itself, and the microsecond before it, are where mistakes live.
    fc.constantFrom("as drawn", "a cutoff", "just before a cutoff"),
    fc.constant(moment),
  ),
);
const cases = moments.map(([schedule, where, moment]): [SettlementSchedule, Micros] => {
  if (where === "as drawn") return [schedule, moment];
  const cutoff = nextRun(schedule, moment);
  return [schedule, where === "a cutoff" ? cutoff : cutoff - 1];
});
/** Whether runs start on the local day of a moment, by the platform's own calendar. */
const isOpen = (schedule: SettlementSchedule, moment: Micros): boolean =>
  !schedule.closed_weekdays.includes(local(schedule, moment).getUTCDay()) &&
  !schedule.holidays.includes(localDate(schedule, moment));

test("whatever the schedule, the first run whose period holds a payment is that of the day it was promised", () => {
  fc.assert(
    fc.property(cases, ([schedule, paidAt]) => {
      const run = runThatTakes(schedule, paidAt);
      expect(run).toBeGreaterThan(paidAt);
      expect(localDate(schedule, run)).toBe(settlesOn(schedule, paidAt));
    }),
    { numRuns: 2000 },
  );
});

test("whatever the schedule, a payment waits delay_days from its business day, and longer only while days are closed", () => {
  fc.assert(
    fc.property(cases, ([schedule, paidAt]) => {
      const time = local(schedule, paidAt).toISOString().slice(11, 16);
      const isNextDay = schedule.cutoff !== "00:00" && time >= schedule.cutoff;
      const delay = schedule.cutoff === "00:00" ? Math.max(schedule.delay_days, 1) : schedule.delay_days;
      let day = paidAt + ((isNextDay ? 1 : 0) + delay) * DAY;
      while (!isOpen(schedule, day)) day += DAY;
      expect(settlesOn(schedule, paidAt)).toBe(localDate(schedule, day));
    }),
    { numRuns: 2000 },
  );
});

test("whatever the schedule, the next run is the first cutoff of an open day that is strictly later", () => {
  fc.assert(
    fc.property(cases, ([schedule, after]) => {
      const run = nextRun(schedule, after);
      expect(run).toBeGreaterThan(after);
      expect(local(schedule, run).toISOString().slice(11)).toBe(`${schedule.cutoff}:00.000Z`);
      expect(isOpen(schedule, run)).toBe(true);
      for (let earlier = run - DAY; earlier > after; earlier -= DAY) expect(isOpen(schedule, earlier)).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

test("whatever the schedule, asking again before a run is due gives the same run, and no run is stepped over", () => {
  fc.assert(
    fc.property(cases, fc.double({ min: 0, max: 1, noNaN: true }), ([schedule, after], share) => {
      const run = nextRun(schedule, after);
      expect(nextRun(schedule, run - 1)).toBe(run);
      expect(nextRun(schedule, Math.min(after + Math.floor((run - after) * share), run - 1))).toBe(run);
      expect(nextRun(schedule, run)).toBeGreaterThan(run);
    }),
  );
});

test("whatever the schedule, periods follow each other and none ends after its run", () => {
  fc.assert(
    fc.property(cases, ([schedule, after]) => {
      const run = nextRun(schedule, after);
      const following = nextRun(schedule, run);
      expect(periodEnd(schedule, run)).toBeLessThanOrEqual(run);
      expect(periodEnd(schedule, following) - periodEnd(schedule, run)).toBe(following - run);
    }),
  );
});

test("every schedule the calendar was tried with, and the default, may be set", () => {
  expect(settlementScheduleSchema.parse(defaultSchedule)).toEqual(defaultSchedule);
  fc.assert(
    fc.property(cases, ([schedule]) => {
      expect(settlementScheduleSchema.parse(schedule)).toEqual(schedule);
    }),
  );
});

const tooManyDays = Array.from({ length: 401 }, (_, day) =>
  new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
);
test.for<[string, unknown, string]>([
  ["utc_offset_minutes", -721, "utc_offset_minutes"],
  ["utc_offset_minutes", 841, "utc_offset_minutes"],
  ["utc_offset_minutes", 7.5, "utc_offset_minutes"],
  ["cutoff", "24:00", "cutoff"],
  ["cutoff", "17:60", "cutoff"],
  ["cutoff", "7:00", "cutoff"],
  ["cutoff", "17:00\n", "cutoff"],
  ["cutoff", 17, "cutoff"],
  ["delay_days", -1, "delay_days"],
  ["delay_days", 31, "delay_days"],
  ["delay_days", "1", "delay_days"],
  ["closed_weekdays", [0, 7], "closed_weekdays.1"],
  ["closed_weekdays", [-1], "closed_weekdays.0"],
  ["closed_weekdays", [6, 0, 6], "closed_weekdays.2"],
  ["closed_weekdays", [0, 1, 2, 3, 4, 5, 6], "closed_weekdays"],
  ["holidays", ["2026-01-01", "2026-02-29"], "holidays.1"],
  ["holidays", ["2026-1-1"], "holidays.0"],
  ["holidays", ["2026-01-01T00:00:00Z"], "holidays.0"],
  ["holidays", ["2026-01-01", "2026-03-09", "2026-01-01"], "holidays.2"],
  ["holidays", tooManyDays, "holidays"],
  ["minimum_payout_minor", -1, "minimum_payout_minor"],
  ["minimum_payout_minor", 0.5, "minimum_payout_minor"],
  ["minimum_payout_minor", 2 ** 53, "minimum_payout_minor"],
  ["pay_after_seconds", -1, "pay_after_seconds"],
  ["pay_after_seconds", 604_801, "pay_after_seconds"],
  ["delay_days", undefined, "delay_days"],
])("%s of %j is refused at %s", ([field, value, path]) => {
  const { error } = settlementScheduleSchema.safeParse({ ...defaultSchedule, [field]: value });
  expect(error?.issues.map((issue) => issue.path.join("."))).toEqual([path]);
});

test("a setting the schedule does not know is refused by name", () => {
  const { error } = settlementScheduleSchema.safeParse({ ...defaultSchedule, time_zone: "Asia/Jakarta" });
  expect(error?.issues).toMatchObject([{ code: "unrecognized_keys", keys: ["time_zone"] }]);
});

test("a payment that waited longer than its schedule is taken by the next run", () => {
  const [thursday, tuesday] = [jakarta("2026-03-05T12:00:00"), jakarta("2026-03-10T00:00:00")];
  expect(settlingRun(defaultSchedule, thursday, tuesday)).toBe(tuesday);
  // A run that an earlier schedule has set, and that comes too soon for it, does not.
  const sameDay = jakarta("2026-03-05T18:00:00");
  expect(settlingRun(defaultSchedule, thursday, sameDay)).toBe(jakarta("2026-03-06T00:00:00"));
});

test("a batch is paid out on the local day on which its payout is due", () => {
  const run = jakarta("2026-03-06T00:00:00");
  expect(payoutDate(defaultSchedule, run)).toBe("2026-03-06");
  expect(payoutDate({ ...defaultSchedule, pay_after_seconds: 86_400 }, run)).toBe("2026-03-07");
  expect(payoutDate({ ...defaultSchedule, utc_offset_minutes: 0 }, run)).toBe("2026-03-05");
});
