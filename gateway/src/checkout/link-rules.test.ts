// Goal: a link's form begins what the link and the merchant's settings allow, and its page tells each payer what they can do. Method: the judgement
// of forms and the page's states, pure; link-pages.test.ts has the pages and the races.
import { describe, expect, test } from "vitest";
import { NOW, book, merchantWith } from "../../test/given.ts";
import { SECOND } from "../ground/clock.ts";
import { Fault, type FaultCode } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Link, LinkPayment } from "../links/link.ts";
import { type MerchantSettings, type PaymentMethod, defaultSettings } from "../merchants/settings.ts";
import { NO_PAYER } from "../payments/payer-data.ts";
import type { Command } from "../store/command.ts";
import { type SentForm, judgeForm, newOnce, referenceIdOf } from "./link-form.ts";
import { type LinkCheckout, type LinkCheckoutParts, beginPayment, faceOf } from "./links.ts";

function aLink(changes: Partial<Link> = {}): Link {
  return {
    book,
    uuid: newId("link", NOW),
    token: Buffer.alloc(16, 1),
    reusable: false,
    currency: "IDR",
    amountMinor: undefined,
    minimumMinor: undefined,
    maximumMinor: undefined,
    description: undefined,
    methods: undefined,
    customerRequired: false,
    paymentExpiresIn: 1_800,
    returnUrl: undefined,
    metadata: undefined,
    createdAt: NOW,
    expiresAt: undefined,
    deactivatedAt: undefined,
    ...changes,
  };
}

describe("a form", () => {
  const settings: MerchantSettings = {
    ...defaultSettings,
    max_amount_minor: 500_000,
    methods: { ...defaultSettings.methods, va: { enabled: true, max_amount_minor: 300_000 } },
  };
  const once = newOnce();
  /** The payment that a form begins, or its problems by field. */
  function judged(sent: Partial<SentForm>, changes: Partial<Link> = {}, methods: PaymentMethod[] = ["qris", "va"]) {
    const form = { once, amount: "1,000", method: "qris", name: "Sari", email: "sari@pelanggan.id", ...sent };
    const result = judgeForm(form, { link: aLink(changes), settings, methods, language: "en" });
    return "body" in result ? result.body : result.problems;
  }

  test.each<[string, Partial<SentForm>, Partial<Link>, Record<string, unknown>]>([
    ["an amount that the payer chose", {}, {}, { amount_minor: 100_000, payment_method: "qris" }],
    ["no amount", { amount: "much" }, {}, { amount: "amount" }],
    ["another amount than the link's", { amount: "9" }, { amountMinor: 200_000n }, { amount_minor: 200_000 }],
    ["nothing", { amount: "0" }, {}, { amount: "bounds" }],
    ["the smallest amount", { amount: "0.01" }, {}, { amount_minor: 1 }],
    ["the link's least", { amount: "1,000" }, { minimumMinor: 100_000n }, { amount_minor: 100_000 }],
    ["less than that", { amount: "999.99" }, { minimumMinor: 100_000n }, { amount: "bounds" }],
    ["the link's most", { amount: "1,000" }, { maximumMinor: 100_000n }, { amount_minor: 100_000 }],
    ["more than that", { amount: "1,000.01" }, { maximumMinor: 100_000n }, { amount: "bounds" }],
    ["the merchant's most", { amount: "5,000" }, {}, { amount_minor: 500_000 }],
    ["more than that", { amount: "5,000.01" }, {}, { amount: "bounds" }],
    ["a method's most", { amount: "3,000", method: "va" }, {}, { amount_minor: 300_000 }],
    ["more than that", { amount: "3,000.01", method: "va" }, {}, { method: "methodAmount" }],
    ["a method that is not offered", { method: "card" }, {}, { method: "method" }],
    ["a method that does not exist", { method: "cash" }, {}, { method: "method" }],
    ["a form that is none of ours", { once: "x" }, {}, { form: "stale" }],
  ])("with %s: %o of %o", (_what, sent, link, result) => {
    const found = judged(sent, link);
    if ("payment_method" in found) expect(found).toMatchObject(result);
    else expect(found).toEqual(result);
  });

  test.each<[Partial<SentForm>, Record<string, unknown>]>([
    [{}, { customer: { name: "Sari", email: "sari@pelanggan.id" } }],
    [{ name: "" }, { name: "name" }],
    [{ name: "a".repeat(121) }, { name: "name" }],
    [{ email: "" }, { email: "email" }],
    [{ email: "sari@pelanggan" }, { email: "email" }],
    [{ email: `sari@${"a".repeat(250)}.id` }, { email: "email" }],
    [
      { name: "", email: "x" },
      { name: "name", email: "email" },
    ],
  ])("of a link that asks who pays: %o", (sent, result) => {
    const found = judged(sent, { customerRequired: true });
    if ("payment_method" in found) expect(found).toMatchObject(result);
    else expect(found).toEqual(result);
  });

  test("keeps nobody's name where the link does not ask, and takes from the link what the link says", () => {
    const link = { description: "Coffee", returnUrl: "https://shop.test/done", metadata: { table: "7" } };
    const body = judged({ name: "", email: "" }, link);
    expect(body).toMatchObject({ currency: "IDR", reference_id: expect.stringMatching(/^link-[0-9a-z]{26}$/) });
    expect(body).toMatchObject({
      description: "Coffee",
      return_url: "https://shop.test/done",
      metadata: { table: "7" },
    });
    expect(body).toHaveProperty("customer", undefined);
  });
});

const held = (changes: Partial<LinkPayment> = {}): LinkPayment => ({
  reference: newId("payment", NOW),
  referenceId: "link-1",
  status: "pending",
  expiresAt: NOW + SECOND,
  ...changes,
});

test.each<[string, string, LinkPayment | undefined, Partial<Link>, Record<string, boolean>]>([
  ["is free", "form", undefined, {}, {}],
  ["is somebody's", "in_use", held(), {}, {}],
  ["is this browser's", "yours", held(), {}, { isOwn: true }],
  ["is this browser's, and deactivated", "yours", held(), { deactivatedAt: NOW }, { isOwn: true }],
  ["is this browser's, and on its way", "processing", held({ status: "processing" }), {}, { isOwn: true }],
  ["is paid", "paid", held({ status: "succeeded" }), {}, {}],
  ["is paid by this browser", "paid", held({ status: "refunded" }), {}, { isOwn: true }],
  ["was begun, and not paid in time", "form", held({ expiresAt: NOW }), {}, {}],
  ["was begun here, and not paid in time", "form", held({ expiresAt: NOW }), {}, { isOwn: true }],
  ["is being paid after its time", "in_use", held({ status: "processing", expiresAt: NOW }), {}, {}],
  ["has expired", "expired", undefined, { expiresAt: NOW }, {}],
  ["expires in a moment", "form", undefined, { expiresAt: NOW + 1 }, {}],
  ["is deactivated", "deactivated", held(), { deactivatedAt: NOW }, {}],
  ["is a suspended merchant's", "unavailable", undefined, {}, { suspended: true }],
  ["is somebody's, of a suspended merchant", "unavailable", held(), {}, { suspended: true }],
  ["has no method that works", "unavailable", undefined, {}, { isPayable: false }],
  ["is of a closed production", "unavailable", undefined, {}, { isOpen: false }],
])("the page of a link that %s: %s", (_what, face, payment, changes, how) => {
  const { isOwn = false, isPayable = true, suspended = false, isOpen = true } = how;
  const parts = { isOpen: () => isOpen } as unknown as LinkCheckoutParts;
  const merchant = { ...merchantWith(), suspended };
  expect(faceOf(parts, { link: aLink(changes), payment, now: NOW }, { merchant, isOwn, isPayable })).toBe(face);
});

describe("a payment that a form begins", () => {
  const body = { amount_minor: 1, currency: "IDR", payment_method: "qris" as const, reference_id: "link-1" };

  /** Begins one, at a lane that fails with `fault`, if given. Gives its reference and the names of the commands that were run. */
  async function begun(payment: LinkPayment | undefined, fault?: Fault) {
    const commands: string[] = [];
    const move = (_merchantId: string, { name }: Command<unknown>) => {
      commands.push(name);
      if (fault && name === "use payment link") return Promise.reject(fault);
      return Promise.resolve({ payment: { reference: "pay_new" } });
    };
    const parts = { lanes: { move }, payers: { seal: () => NO_PAYER }, clock: { now: () => NOW } };
    const checkout = { link: aLink(), merchant: merchantWith(), payment, now: NOW } as unknown as LinkCheckout;
    const reference = await beginPayment(parts as unknown as LinkCheckoutParts, checkout, body);
    return { reference, commands };
  }

  test("first ends one whose time is over, which would still hold the link", async () => {
    expect(await begun(undefined)).toEqual({ reference: "pay_new", commands: ["use payment link"] });
    const over = await begun(held({ expiresAt: NOW }));
    expect(over.commands).toEqual(["expire payment", "use payment link"]);
    for (const other of [held({ expiresAt: NOW + 1 }), held({ status: "processing", expiresAt: NOW })])
      expect((await begun(other)).commands).toEqual(["use payment link"]);
  });

  test.each<[FaultCode, boolean]>([
    ["REFERENCE_ID_DUPLICATE", true],
    ["RISK_REVIEW", true],
    ["RISK_REJECTED", true],
    ["PAYMENT_NOT_PAYABLE", false],
    ["RATE_LIMITED", false],
    ["INVALID_AMOUNT", false],
  ])("is there after %s: %s", async (code, isThere) => {
    const refused = begun(undefined, new Fault(code, { details: { reference: "pay_there" } }));
    if (isThere) expect((await refused).reference).toBe("pay_there");
    else await expect(refused).rejects.toMatchObject({ code });
  });
});

test("one form begins one payment of one link", () => {
  const [link, once] = [aLink(), newOnce()];
  expect(referenceIdOf(link, once)).toBe(referenceIdOf(link, once));
  expect(
    new Set([
      referenceIdOf(link, once),
      referenceIdOf(link, newOnce()),
      referenceIdOf(aLink({ uuid: newId("link", NOW + 1) }), once),
    ]).size,
  ).toBe(3);
});
