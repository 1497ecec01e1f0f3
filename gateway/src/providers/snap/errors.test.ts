// Goal: each response code means what the documentation says, and a definite no is never guessed. Method: the whole table, line by line.
import { expect, test } from "vitest";
import { type Meaning, codeOf, codeTable, meaningOf, services } from "./errors.ts";

/** Written from the pages that the README names, apart from the code. */
const documented: Record<string, Meaning> = {
  "200xx00": "done",
  "202xx00": "in progress",
  "400xx00": "refused",
  "400xx01": "refused",
  "400xx02": "refused",
  "401xx00": "unavailable",
  "401xx01": "token",
  "401xx03": "token",
  "403xx01": "refused",
  "403xx02": "refused",
  "403xx03": "refused",
  "403xx04": "unavailable",
  "403xx05": "refused",
  "403xx06": "unavailable",
  "403xx14": "refused",
  "403xx15": "refused",
  "403xx16": "unavailable",
  "403xx18": "refused",
  "403xx20": "unavailable",
  "404xx01": "not found",
  "404xx02": "refused",
  "404xx03": "refused",
  "404xx08": "refused",
  "404xx11": "refused",
  "404xx12": "not found",
  "404xx13": "refused",
  "404xx16": "refused",
  "404xx17": "refused",
  "405xx00": "refused",
  "405xx01": "refused",
  "409xx00": "repeated",
  "409xx01": "repeated",
  "429xx00": "unavailable",
};

test.for(Object.entries(documented))("%s means %s in every service", ([code, meaning]) => {
  for (const service of Object.keys(services) as (keyof typeof services)[])
    expect(meaningOf(code.replace("xx", services[service]), service)).toBe(meaning);
});

test("the table has no line beyond the documented ones", () => {
  const lines = Object.keys(codeTable).map((key) => `${key.slice(0, 3)}xx${key.slice(3)}`);
  expect(lines.sort()).toEqual(Object.keys(documented).sort());
});

test.for([
  "4042714", // paid: may be the answer to a repetition
  "4042718", // inconsistent: the same
  "4032700", // expired
  "5002700",
  "5002701",
  "5002702",
  "5042700",
  "2002701",
  "2002600", // of another service
  "200270",
  "20027000",
  "",
  " 2002700",
  2_002_700,
  null,
  undefined,
  {},
])("%j is unknown as an answer to createVa", (code) => {
  expect(meaningOf(code, "createVa")).toBe("unknown");
});

test("two digits of a provider's own are taken where its profile says so", () => {
  expect(meaningOf("2000500", "debitPay")).toBe("unknown");
  expect(meaningOf("2000500", "debitPay", ["05"])).toBe("done");
});

test("codes of ours are put together from the same parts", () => {
  expect(codeOf(200, "inquiry", "00")).toBe("2002400");
  expect(codeOf(404, "payment", "12")).toBe("4042512");
  expect(codeOf(401, "token", "00")).toBe("4017300");
});
