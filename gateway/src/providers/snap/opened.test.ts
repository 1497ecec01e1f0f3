// Goal: a payment stays with the bank or wallet that it was opened by, whatever acquirers.json says later. Method: what was kept, and other
// configurations.
import { expect, test } from "vitest";
import { briPartner, dokuPartner, openRequest } from "../../../test/snap-rig.ts";
import type { PaymentMethod } from "../../merchants/settings.ts";
import type { ProviderMethod } from "../profile.ts";
import { accountOf, openedAt, openedBy } from "./opened.ts";
import { accountNumber } from "./partner.ts";

const partner = dokuPartner();
const twoOwn = dokuPartner({
  accounts: { ...partner.accounts, permata: { partnerServiceId: "7777", customerPrefix: "", numbers: "ours" } },
});
const taken = (method: PaymentMethod, channels: string[], on = true): ProviderMethod => ({
  method,
  on,
  channels,
  currencies: ["IDR"],
  minimum_minor: 1,
  maximum_minor: 2,
  cost: { basis_points: 0, flat_minor: 0 },
});
const methods = [taken("va", ["bni", "bca", "bri"]), taken("ewallet", ["shopeepay", "dana"])];
const off = methods.map((one) => ({ ...one, on: false }));

test.for([
  ["the bank that is kept", methods, "va", { bank: "bri" }, "bri"],
  ["the bank that is kept, switched off", off, "va", { bank: "bri" }, "bri"],
  ["the configuration's first, where nothing is kept", methods, "va", undefined, "bni"],
  ["none, where nothing is kept and all is off", off, "va", undefined, undefined],
  ["the wallet that is kept", methods, "ewallet", { wallet: "dana" }, "dana"],
  ["the wallet that is kept, switched off", off, "ewallet", { wallet: "dana" }, "dana"],
  ["the configuration's wallet, where none is kept", methods, "ewallet", undefined, "shopeepay"],
  ["nothing for QRIS, on", methods, "qris", undefined, ""],
  ["nothing for QRIS, off", off, "qris", { reference: "D1" }, ""],
] as const)("a payment is opened by %s", ([, now, method, providerIds, by]) => {
  expect(openedBy(now, openRequest({ method, providerIds }))).toBe(by);
});

test("what is kept of an account is asked about, even when another number would be made today", () => {
  const own = accountOf(partner, openRequest(), "bri");
  expect(own).toMatchObject({ wasAnnounced: false, isBilledOnDemand: false, account: { partnerServiceId: "13925" } });
  if (!own) return;
  const { providerIds } = openedAt(partner, openRequest(), "bri", own);
  expect(providerIds).toMatchObject({ bank: "bri", account: accountNumber(own.account) });
  expect(Object.keys(providerIds ?? {}).length).toBeLessThanOrEqual(8);
  const kept = openRequest({ providerIds });
  const told = { ...own, wasAnnounced: true };
  expect(accountOf(twoOwn, kept, "bri")).toEqual(told);
  const others = dokuPartner({ accounts: { bri: { partnerServiceId: "13926", customerPrefix: "", numbers: "ours" } } });
  expect(accountOf(others, kept, "bri")).toEqual(told);
});

test("an account that they ask a bill for stays one, and a registered one does not become one", () => {
  const asked = accountOf(partner, openRequest(), "bni");
  expect(asked).toMatchObject({ isBilledOnDemand: true, wasAnnounced: false });
  if (!asked) return;
  const { providerIds } = openedAt(partner, openRequest(), "bni", asked);
  expect(providerIds).toHaveProperty("bill");
  const changed = (numbers: "ours" | "asked") =>
    dokuPartner({ accounts: { bni: { partnerServiceId: "8492", customerPrefix: "3", numbers } } });
  expect(accountOf(changed("ours"), openRequest({ providerIds }), "bni")).toMatchObject({
    isBilledOnDemand: true,
    wasAnnounced: false,
  });
  const { bill: _, ...registered } = providerIds ?? {};
  expect(accountOf(changed("asked"), openRequest({ providerIds: registered }), "bni")).toMatchObject({
    isBilledOnDemand: false,
    wasAnnounced: true,
  });
});

test("a number that was never told is guessed only where one bank alone has numbers of ours", () => {
  expect(accountOf(partner, openRequest(), "bca")).toBeUndefined();
  expect(accountOf(briPartner(), openRequest(), "bri")).toMatchObject({ wasAnnounced: false });
  expect(accountOf(twoOwn, openRequest(), "bri")).toBeUndefined();
  expect(accountOf(twoOwn, openRequest(), "permata")).toBeUndefined();
});
