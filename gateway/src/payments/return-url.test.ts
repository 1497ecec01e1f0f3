// Goal: a payer is sent back to https alone, and a developer who tries the sandbox to their own machine as well. Method: tables of addresses.
import { expect, test } from "vitest";
import { Fault } from "../ground/fault.ts";
import { createPaymentRules } from "./payments.schema.ts";
import type { Judged } from "../http/fields.ts";
import { judgeReturnUrl, returnUrlField } from "./return-url.ts";

const own = [
  "http://localhost",
  "http://localhost:3000/orders/1?a=b#c",
  "http://127.0.0.1:8080",
  "http://127.0.0.1/",
  "http://[::1]:5173/back",
];
const everywhere = [
  `https://shop.example/${"a".repeat(2_027)}`,
  "https://shop.example",
  "https://localhost:3000/x",
  "https://shop.example:8443/a?b=c#d",
];
const nowhere = [
  "http://shop.example",
  "http://localhost.evil.example",
  "http://localhost@evil.example",
  "http://localhost:3000@evil.example/",
  "http://localhost:",
  "http://localhost:123456",
  "http://localhost:65536",
  "http://localhost\\@evil.example",
  "http://127.0.0.1.evil.example",
  "http://127.0.0.2",
  "http://127.1",
  "http://2130706433",
  "http://0.0.0.0",
  "http://10.0.0.1",
  "http://[::2]",
  "http://u:p@localhost",
  "https://@shop.example.com/",
  "https://:@shop.example.com/",
  "HTTP://localhost",
  "ftp://localhost",
  "javascript:alert(1)//localhost",
  `https://shop.example/${"a".repeat(2_028)}`,
  ...['"', "<", ">", "\\", "^", "`", "{", "|", "}", " ", "\n", "\u007f", "é"].map(
    (excluded) => `https://shop.example/${excluded}`,
  ),
];
const pattern = new RegExp(returnUrlField.meta()?.pattern as string);

test.each([...everywhere, ...own])("%s is an address to go back to, and the contract's pattern says so too", (url) => {
  expect(returnUrlField.safeParse(url).success).toBe(true);
  expect(pattern.test(url)).toBe(true);
});

test.each(nowhere)("%s is none", (url) => {
  expect(returnUrlField.safeParse(url).success).toBe(false);
});

test("production takes https alone, and the error that stands before it in the order prevails", () => {
  const value = {};
  const judged = (environment: "sandbox" | "production", url: unknown, found: Judged<object> = { value }) =>
    judgeReturnUrl<object>(environment, createPaymentRules, { return_url: url }, found);
  const fieldOf = (found: object): unknown =>
    "fault" in found && found.fault instanceof Fault && found.fault.code === "VALIDATION_ERROR"
      ? found.fault.extras.details
      : found;
  for (const url of own) {
    expect(judged("sandbox", url)).toEqual({ value });
    expect(fieldOf(judged("production", url))).toEqual({ field: "return_url", value: url });
  }
  for (const url of [...everywhere, undefined, null, 5]) expect(judged("production", url)).toEqual({ value });
  const earlier = { rank: 0, fault: new Fault("INVALID_AMOUNT") };
  expect(judged("production", own[0], earlier)).toBe(earlier);
  const later = { rank: 99, fault: new Fault("VALIDATION_ERROR") };
  expect(fieldOf(judged("production", own[0], later))).toMatchObject({ field: "return_url" });
});
