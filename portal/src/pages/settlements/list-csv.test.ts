// Goal: a line of the CSV says what a batch is, to the unit, and nothing in it is a formula or another column.
import { expect, test } from "vitest";
import { allBatches, csvOf } from "./list-csv.ts";

const batch = {
  uuid: "set_1",
  environment: "sandbox" as const,
  status: "paid" as const,
  currency: "IDR",
  exponent: 2,
  period_start: "2026-11-01T17:00:00Z",
  period_end: "2026-11-02T17:00:00Z",
  gross_minor: 72_000_000,
  fee_minor: 1_578_000,
  refund_minor: 2_500_000,
  net_minor: 67_922_000,
  payment_count: 8,
  paid_at: "2026-11-02T18:00:00Z",
  bank_reference: "BCA 1042",
};

test.each([
  [
    {},
    "set_1,paid,2026-11-01T17:00:00Z,2026-11-02T17:00:00Z,2026-11-02T18:00:00Z,BCA 1042,8,IDR,72000000,1578000,2500000,67922000,679220.00",
  ],
  [
    { paid_at: null, bank_reference: null, currency: "JPY", exponent: 0, net_minor: -5 },
    "set_1,paid,2026-11-01T17:00:00Z,2026-11-02T17:00:00Z,,,8,JPY,72000000,1578000,2500000,-5,-5",
  ],
  [
    { bank_reference: '=A1,"x"', exponent: 3, net_minor: 7 },
    `set_1,paid,2026-11-01T17:00:00Z,2026-11-02T17:00:00Z,2026-11-02T18:00:00Z,"'=A1,""x""",8,IDR,72000000,1578000,2500000,7,0.007`,
  ],
])("batch %#", (changes, line) => {
  expect(csvOf([{ ...batch, ...changes }])).toBe(
    `uuid,status,period_start,period_end,paid_at,bank_reference,payment_count,currency,gross_minor,fee_minor,refund_minor,net_minor,net\r\n${line}\r\n`,
  );
});

test("all pages are taken, and of more than a file takes none, because half a file looks like the whole", async () => {
  const pages = (count: number) => {
    let read = 0;
    return () =>
      Promise.resolve({
        data: Array.from({ length: 100 }, () => batch),
        has_more: ++read < count,
        next_cursor: `set_${read}`,
      });
  };
  expect(await allBatches(pages(25))).toHaveLength(2_500);
  await expect(allBatches(pages(26))).rejects.toThrow("Choose a shorter time");
});
