// Goal: what the service says of a field reads as a sentence below the field's label. Method: messages of the service, by table.
import { expect, test } from "vitest";
import { atField } from "./field-fault.ts";

test.each([
  [
    "rate_limit_per_minute: must be at least 1",
    "rate_limit_per_minute",
    "rate_limit_per_minute",
    "Must be at least 1.",
  ],
  ["settlement.holidays.1: is not a date", "settlement.holidays.1", "settlement.holidays", "Entry 2 is not a date."],
  ["scopes.0: is not known", "scopes.0", "scopes", "Entry 1 is not known."],
  [
    "It must end after it starts, within seven days.",
    "ends_at",
    "ends_at",
    "It must end after it starts, within seven days.",
  ],
  ["customer.email: is no address", "customer.email", "customer", "customer.email: is no address"],
])("%s, of %s at %s: %s", (message, told, field, shown) => {
  expect(atField(message, told, field)).toBe(shown);
});
