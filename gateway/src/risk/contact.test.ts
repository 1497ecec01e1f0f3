// Goal: who writes an address in another way is the same customer. Method: ways to write one address, and addresses that are others.
import { expect, test } from "vitest";
import { domainOf, plainContact } from "./contact.ts";

test.each([
  ["Sari@Example.COM", "sari@example.com"],
  ["sari@example.com.", "sari@example.com"],
  [" sari@example.com ", "sari@example.com"],
  ["ｓａｒｉ@example.com", "sari@example.com"],
  ["jose\u0301@example.com", "jos\u00E9@example.com"],
  ["sari@b\u00FCcher.example", "sari@xn--bcher-kva.example"],
  ["sari@B\u00FCcher.example.", "sari@xn--bcher-kva.example"],
  ["＋6281234567890", "+6281234567890"],
  ["sari@no domain", "sari@no domain"],
  ["@", "@"],
])("%s is compared as %s", (written, plain) => {
  expect(plainContact(written)).toBe(plain);
  expect(plainContact(plain)).toBe(plain);
});

test("what is before the last @ stays as it is but for its letters' case: another mailbox is another customer", () => {
  expect(plainContact("sari+1@example.com")).not.toBe(plainContact("sari+2@example.com"));
  expect(plainContact("s.ari@example.com")).not.toBe(plainContact("sari@example.com"));
});

test("an address has a domain, a telephone has none", () => {
  expect(domainOf('"a@b"@Example.com.')).toBe("example.com");
  expect(domainOf("+6281234567890")).toBeUndefined();
});
