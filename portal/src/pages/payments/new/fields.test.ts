// Goal: no form asks a payer for an amount that nobody has typed. Method: the first values of both forms, in both environments.
import { expect, test } from "vitest";
import * as links from "../../links/fields.ts";
import { firstValues } from "./fields.ts";

test("where real money is paid the amount is to be typed; the sandbox begins with an example", () => {
  expect(firstValues("USD", "production").amount_minor).toBe("");
  expect(firstValues("IDR", "sandbox").amount_minor).toBe("75000");
  expect(links.firstValues("USD", ["card"], "production").amount_minor).toBe("");
  expect(links.firstValues("IDR", ["qris"], "sandbox").amount_minor).toBe("75000");
});
