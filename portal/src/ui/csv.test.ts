// Goal: a line of a CSV says what a row is, to the unit, nothing in it is a formula or another column, and no file ends in the middle.
import { expect, test } from "vitest";
import { ApiError, noAnswer } from "../api/error.ts";
import { allRows, amounts, csvOf, daysOf, decimalOf, fields } from "./csv.ts";

interface Row {
  id: string | null;
  count?: number;
  exponent: number;
  net_minor: number;
}

const columns = [...fields<Row>("id", "count"), ...amounts<Row>("net_minor")];
const row: Row = { id: "pay_1", count: 8, exponent: 2, net_minor: 67_922_000 };

test.each<[Partial<Row>, string]>([
  [{}, "pay_1,8,67922000,679220.00"],
  [{ exponent: 0, net_minor: -5 }, "pay_1,8,-5,-5"],
  [{ exponent: 3, net_minor: 7 }, "pay_1,8,7,0.007"],
  [{ id: null, net_minor: 0 }, ",8,0,0.00"],
  [{ id: '=A1,"x"' }, `"'=A1,""x""",8,67922000,679220.00`],
  [{ id: "+62811" }, "'+62811,8,67922000,679220.00"],
  [{ id: "-1+cmd" }, "'-1+cmd,8,67922000,679220.00"],
  [{ id: "@x" }, "'@x,8,67922000,679220.00"],
  [{ id: "Teh;=A1;b" }, "Teh;'=A1;b,8,67922000,679220.00"],
  [{ id: "\n=1" }, `"'\n=1",8,67922000,679220.00`],
  [{ id: "two\r\nlines" }, `"two\r\nlines",8,67922000,679220.00`],
])("row %#", (changes, line) => {
  expect(csvOf(columns, [{ ...row, ...changes }])).toBe(`id,count,net_minor,net\r\n${line}\r\n`);
});

test("what an answer leaves out is an empty field, and a list without rows has its columns", () => {
  expect(csvOf(columns, [{ id: "a", exponent: 2, net_minor: 1 }])).toBe("id,count,net_minor,net\r\na,,1,0.01\r\n");
  expect(csvOf(columns, [])).toBe("id,count,net_minor,net\r\n");
});

test.each([
  ["2026-12-31T16:59:59Z", "Asia/Jakarta", "2026-12-31"],
  ["2026-12-31T17:00:00Z", "Asia/Jakarta", "2027-01-01"],
  ["2026-12-31T17:00:00Z", "UTC", "2026-12-31"],
  [null, "Asia/Jakarta", ""],
])("%s has a day in %s, which the line names", (at, timeZone, day) => {
  interface Timed {
    paid_at: string | null;
    created_at?: string;
  }
  const columns = [...fields<Timed>("paid_at"), ...daysOf<Timed>(["created_at", "paid_at"], timeZone)];
  expect(csvOf(columns, [{ paid_at: at }])).toBe(
    `paid_at,created_day,paid_day,time_zone\r\n${at ?? ""},,${day},${timeZone}\r\n`,
  );
});

test.each([
  [-150_000, 2, "-1500.00"],
  [9_007_199_254_740_993n, 2, "90071992547409.93"],
  [1_234_567, 0, "1234567"],
])("%s with %i decimals is %s", (minor, exponent, text) => {
  expect(decimalOf(minor, exponent)).toBe(text);
});

const pages = (count: number) => {
  let read = 0;
  return (after: string | undefined) => {
    expect(after).toBe(read === 0 ? undefined : `row_${read}`);
    return Promise.resolve({
      data: Array.from({ length: 100 }, () => row),
      has_more: ++read < count,
      next_cursor: `row_${read}`,
    });
  };
};
const at = { what: "payouts", linesMax: 2_500, wait: () => Promise.resolve() };

test("all pages are taken, and of more than a file takes none, because half a file looks like the whole", async () => {
  const told: number[] = [];
  expect(await allRows(pages(25), { ...at, onRows: (rows) => told.push(rows) })).toHaveLength(2_500);
  expect(told.slice(-2)).toEqual([2_400, 2_500]);
  await expect(allRows(pages(26), at)).rejects.toThrow("There are more than 2,500 payouts. Choose a shorter period");
});

test("an empty page is not the end where the search goes on", async () => {
  const found = [
    { data: [], has_more: true, next_cursor: "a" },
    { data: [row], has_more: false, next_cursor: null },
  ];
  expect(await allRows(() => Promise.resolve(found.shift() as never), at)).toEqual([row]);
});

test("used up requests and a service that restarts are waited for, and any other error ends it", async () => {
  const fails = (...errors: ApiError[]) => {
    const whole = pages(2);
    return async (after: string | undefined) => {
      const error = errors.shift();
      if (error) throw error;
      return whole(after);
    };
  };
  const rateLimited = new ApiError({ code: "RATE_LIMITED", message: "x", status: 429, retryAfterSeconds: 17 });
  const refused = new ApiError({ code: "FORBIDDEN", message: "x", status: 403 });
  const waits: number[] = [];
  const wait = async (seconds: number): Promise<void> => void waits.push(seconds);
  expect(await allRows(fails(rateLimited, noAnswer()), { ...at, wait })).toHaveLength(200);
  expect(waits).toEqual([17, 2]);
  await expect(allRows(fails(refused), at)).rejects.toBe(refused);
  const lost = noAnswer();
  await expect(allRows(fails(lost, lost, lost, lost), at)).rejects.toBe(lost);
});
