// Goal: a creation keeps what was asked, prices it, and finds who takes it. Method: the pure command by table and by property.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aCreation, creating } from "../../test/creations.ts";
import { NOW, given, ownerWith, row } from "../../test/given.ts";
import { payers } from "../../test/payers.ts";
import { PAY_URL, aRouter } from "../../test/routing.ts";
import { operations } from "../acquiring/operations.sql.ts";
import { deliveries } from "../events/outbox.sql.ts";
import { SECOND, wireTime } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import type { FeeRule } from "../ground/money.ts";
import { otherBook } from "../merchants/books.ts";
import { type MerchantSettings, defaultSettings, paymentMethods } from "../merchants/settings.ts";
import { payments, takenReferenceIds } from "./payments.sql.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";

const owner = ownerWith();

test("what was asked for is kept, nothing moves, and the merchant is notified", () => {
  const asked = {
    description: "Kopi ☕",
    metadata: { table: "4", empty: "" },
    customer: { name: "Sari", email: "sari@pelanggan.id", phone: "+628123456789" },
    expires_in: 600,
    return_url: "https://shop.example/back",
  };
  given()
    .when(creating(asked))
    .then((changes, { payment, call }) => {
      expect(call).toBeUndefined();
      expect(payment).toMatchObject({
        book: owner.book,
        status: "pending",
        amountMinor: 1_000_000n,
        feeMinor: 7_000n,
        refundedMinor: 0n,
        refundPendingMinor: 0n,
        lostMinor: 0n,
        currency: "IDR",
        method: "qris",
        referenceId: "order-1",
        description: asked.description,
        metadata: asked.metadata,
        returnUrl: asked.return_url,
        payer: { customerKey: payers.contactKey("sari@pelanggan.id"), phoneKey: payers.contactKey("+628123456789") },
        gatewayCode: "nusantara",
        risk: { decision: "approve", score: 0, reasons: [] },
        createdAt: NOW,
        updatedAt: NOW,
        expiresAt: NOW + 600 * SECOND,
        expiresIn: undefined,
        paidAt: undefined,
        canceledAt: undefined,
      });
      expect(payment.reference).toMatch(/^pay_[0-9a-hjkmnp-tv-z]{26}$/);
      expect(changes.inserted(payments)).toEqual([payment]);
      expect([changes.events, changes.journals]).toEqual([["payment.created"], []]);
      expect(changes.inserted(operations)).toEqual([]);
    });
});

test.each([
  ["nowhere without an address", undefined, undefined, []],
  ["to the registered address", "https://shop.example/a", undefined, ["https://shop.example/a"]],
  ["to the payment's own before it", "https://shop.example/a", "https://shop.example/b", ["https://shop.example/b"]],
  ["to the payment's own alone", undefined, "https://shop.example/b", ["https://shop.example/b"]],
])("its event goes %s", (_where, registered, own, sent) => {
  given()
    .when(creating({ callback_url: own }, { owner: ownerWith({}, registered) }))
    .then((changes) => expect(changes.inserted(deliveries).map(({ url }) => url)).toEqual(sent));
});

test("the link that it came by is kept", () => {
  const link = { uuid: newId("link", NOW), reusable: true };
  expect(given().when(creating({}, { link })).answer.payment.link).toEqual(link);
});

describe("time", () => {
  test.each([
    [undefined, 1800],
    [60, 60],
    [86_400, 86_400],
  ])("expires_in %s gives %s seconds from now", (expires_in, seconds) => {
    const { payment } = given().when(creating({ expires_in })).answer;
    expect(payment.expiresAt).toBe(NOW + seconds * SECOND);
    expect(payment.instructions?.expires_at).toBe(wireTime(payment.expiresAt));
  });

  test("now is the book's, and so is the order of references", () => {
    const [early, late] = [0, 7_200].map((offsetSeconds) => given({ offsetSeconds }).when(creating()).answer.payment);
    expect(late?.createdAt).toBe(NOW + 7_200 * SECOND);
    expect(late?.expiresAt).toBe(NOW + 9_000 * SECOND);
    expect((late?.reference ?? "") > (early?.reference ?? "")).toBe(true);
  });
});

describe("fees", () => {
  const priced = (rule: FeeRule, amount: number): bigint => {
    const fee: MerchantSettings["fees"]["qris"] = {
      basis_points: rule.basisPoints,
      flat_minor: Number(rule.flatMinor),
      ...(rule.minimumMinor === undefined ? {} : { minimum_minor: Number(rule.minimumMinor) }),
      ...(rule.maximumMinor === undefined ? {} : { maximum_minor: Number(rule.maximumMinor) }),
    };
    const priceList = ownerWith({ fees: { ...defaultSettings.fees, qris: fee } });
    return given().when(creating({ amount_minor: amount }, { owner: priceList })).answer.payment.feeMinor;
  };

  test.each<[string, FeeRule, number, bigint]>([
    ["basis points", { basisPoints: 70, flatMinor: 0n }, 1_000_000, 7_000n],
    ["half a unit goes up", { basisPoints: 100, flatMinor: 0n }, 150, 2n],
    ["less than half goes down", { basisPoints: 100, flatMinor: 0n }, 149, 1n],
    ["a ten-thousandth less than half goes down", { basisPoints: 4_999, flatMinor: 0n }, 1, 0n],
    ["a flat part on top", { basisPoints: 250, flatMinor: 1_000n }, 100_000, 3_500n],
    ["not below the minimum", { basisPoints: 70, flatMinor: 0n, minimumMinor: 500n }, 1_000, 500n],
    ["not above the maximum", { basisPoints: 250, flatMinor: 1_000n, maximumMinor: 5_000n }, 1_000_000, 5_000n],
    ["never more than the amount", { basisPoints: 0, flatMinor: 400_000n }, 7, 7n],
    ["the amount comes before the minimum", { basisPoints: 0, flatMinor: 0n, minimumMinor: 500n }, 7, 7n],
    ["nothing", { basisPoints: 0, flatMinor: 0n }, 1_000_000, 0n],
  ])("%s", (_name, rule, amount, fee) => expect(priced(rule, amount)).toBe(fee));

  test("another currency has its own price", () => {
    const card = { basis_points: 250, flat_minor: 1_000, per_currency: { USD: { basis_points: 300, flat_minor: 30 } } };
    const worldwide = ownerWith({ currencies: ["IDR", "USD"], fees: { ...defaultSettings.fees, card } });
    const fees = ["USD", "IDR"].map(
      (currency) =>
        given().when(creating({ payment_method: "card", currency, amount_minor: 10_000 }, { owner: worldwide })).answer
          .payment.feeMinor,
    );
    expect(fees).toEqual([330n, 1_250n]);
  });

  test("whatever the price, a fee is the rounded share within its bounds, and leaves the merchant no less than nothing", () => {
    const rules = fc.record({
      basisPoints: fc.nat(10_000),
      flatMinor: fc.bigInt({ min: 0n, max: 1_000_000n }),
      minimumMinor: fc.option(fc.bigInt({ min: 0n, max: 1_000n }), { nil: undefined }),
      maximumMinor: fc.option(fc.bigInt({ min: 1_000n, max: 1_000_000n }), { nil: undefined }),
    });
    fc.assert(
      fc.property(rules, fc.integer({ min: 1, max: 10_000_000_000 }), (rule, amount) => {
        const fee = Number(priced(rule, amount));
        const share = (amount * rule.basisPoints) / 10_000 + Number(rule.flatMinor);
        const bounded = Math.min(Math.max(share, Number(rule.minimumMinor ?? 0n)), Number(rule.maximumMinor ?? 1e18));
        expect(Math.abs(fee - Math.min(bounded, amount))).toBeLessThanOrEqual(0.5);
        expect(fee).toBeGreaterThanOrEqual(0);
        expect(fee).toBeLessThanOrEqual(amount);
      }),
    );
  });
});

describe("reference_id", () => {
  const reference = newId("payment", 0);
  const taken = row(takenReferenceIds, { book: owner.book, referenceId: "order-1", reference });

  test("one that is taken is refused, before anything else is looked at", () => {
    given({ rows: [taken] })
      .when(creating())
      .refuses("REFERENCE_ID_DUPLICATE", { reference });
    given({ rows: [taken] })
      .when(creating({ customer: { email: "x@reject.test" } }, { router: aRouter({}, false) }))
      .refuses("REFERENCE_ID_DUPLICATE");
  });

  test("it belongs to one environment, and to one spelling", () => {
    const elsewhere = row(takenReferenceIds, { book: otherBook(owner.book), referenceId: "order-1", reference });
    expect(given({ rows: [elsewhere] }).when(creating()).answer.payment.status).toBe("pending");
    expect(given({ rows: [taken] }).when(creating({ reference_id: "Order-1" })).answer.payment.status).toBe("pending");
  });

  test("of two in one batch the first has it", () => {
    const first = given().when(creating());
    const details = { reference: first.answer.payment.reference };
    first.when(creating()).refuses("REFERENCE_ID_DUPLICATE", details, true);
    expect(first.changes.inserted(payments)).toEqual([first.answer.payment]);
    expect(first.when(creating({ reference_id: "order-2" })).answer.payment.status).toBe("pending");
    expect(first.changes.inserted(payments)).toHaveLength(2);
  });

  test.each(["review", "reject"])("a payment under %s has taken it too", (asked) => {
    const code = asked === "review" ? "RISK_REVIEW" : "RISK_REJECTED";
    const customer = { email: `x@${asked}.test` };
    given()
      .when(creating({ customer }))
      .refuses(code, undefined, true)
      .when(creating())
      .refuses("REFERENCE_ID_DUPLICATE", undefined, true);
  });

  test("one that found no route has not", () => {
    const nobody = aRouter({ acquirers: [] });
    const refused = given()
      .when(creating({}, { router: nobody }))
      .refuses("NO_ROUTE_AVAILABLE");
    expect(refused.when(creating()).answer.payment.status).toBe("pending");
  });
});

test("a closed environment has no route, and keeps nothing, whatever the risk", () => {
  for (const email of ["sari@pelanggan.id", "x@review.test", "x@reject.test"])
    given()
      .when(creating({ customer: { email } }, { router: aRouter({}, false) }))
      .refuses("NO_ROUTE_AVAILABLE");
});

describe("risk", () => {
  test("a rejected payment is kept as failed, with its reasons, and asks nobody", () => {
    const rejected = given().when(creating({ customer: { email: "x@reject.test" } }));
    const [kept] = rejected.changes.inserted(payments);
    rejected.refuses("RISK_REJECTED", { reference: kept?.reference }, true);
    expect(kept).toMatchObject({
      status: "failed",
      gatewayCode: undefined,
      instructions: undefined,
      risk: { decision: "reject", score: 100, reasons: [{ sign: "sandbox_asked_for_reject", points: 100 }] },
      routing: { rules_version: 7, candidates: [] },
    });
    expect(rejected.changes.events).toEqual(["payment.failed"]);
    expect(rejected.changes.inserted(operations)).toEqual([]);
  });

  test.each([undefined, 60])("a payment under review waits for a day without instructions or event (%s)", (asked) => {
    const reviewed = given().when(creating({ customer: { email: "x@review.test" }, expires_in: asked }));
    const [kept] = reviewed.changes.inserted(payments);
    reviewed.refuses("RISK_REVIEW", { reference: kept?.reference, status: "pending" }, true);
    expect(kept).toMatchObject({
      status: "pending",
      gatewayCode: undefined,
      instructions: undefined,
      risk: { decision: "review", score: 70 },
      expiresAt: NOW + 86_400 * SECOND,
      expiresIn: asked ?? 1800,
    });
    expect(reviewed.changes.events).toEqual([]);
    expect(reviewed.changes.inserted(operations)).toEqual([]);
  });

  test("neither needs a route", () => {
    const nobody = aRouter({ acquirers: [] });
    for (const [word, code] of [
      ["review", "RISK_REVIEW"],
      ["reject", "RISK_REJECTED"],
    ] as const)
      given()
        .when(creating({ customer: { email: `x@${word}.test` } }, { router: nobody }))
        .refuses(code, undefined, true);
  });
});

describe("instructions", () => {
  const shapes = {
    qris: ["qr_string", "nusantara", ["qr_string"]],
    va: ["va_number", undefined, ["bank_name", "bank_code", "account_number", "account_name"]],
    card: ["redirect", "samudra", ["redirect_url"]],
    ewallet: ["redirect", "samudra", ["redirect_url"]],
    bank_transfer: [
      "bank_account",
      "merapi",
      ["bank_name", "bank_code", "account_number", "account_name", "transfer_code"],
    ],
  } as const;

  test.each(paymentMethods)("%s has its own", (method) => {
    const [type, gateway, fields] = shapes[method];
    const { payment } = given().when(creating({ payment_method: method })).answer;
    if (gateway) expect(payment.gatewayCode).toBe(gateway);
    const { instructions } = payment;
    expect(Object.keys(instructions ?? {}).toSorted()).toEqual(["expires_at", "type", "value", ...fields].toSorted());
    expect(instructions?.type).toBe(type);
    expect(instructions?.value).toBe(
      instructions?.qr_string ?? instructions?.redirect_url ?? instructions?.account_number,
    );
    if (type === "redirect") expect(instructions?.value).toBe(PAY_URL + payment.reference);
  });

  test("an acquirer that must be asked is asked before the payment has any", () => {
    const remote = scriptedAcquirer("remote");
    const router = aRouter({ acquirers: [remote], rules: [{ gateway_code: "remote", priority: 1, weight: 1 }] });
    given()
      .when(creating({}, { router }))
      .then((changes, { payment, call }) => {
        expect(payment).toMatchObject({ status: "pending", gatewayCode: undefined, instructions: undefined });
        expect(payment.routing.candidates).toMatchObject([{ gateway_code: "remote", verdict: "chosen" }]);
        expect(changes.inserted(payments)).toEqual([payment]);
        expect(changes.events).toEqual([]);
        const [asked] = changes.inserted(operations);
        expect(call).toEqual(asked);
        expect(asked).toMatchObject({
          id: payment.reference,
          kind: "payment",
          step: "calling",
          gatewayCode: "remote",
          attempt: 1,
          idempotencyKey: "key-of-creation",
        });
        // Nobody else looks at it before the call is certainly over.
        expect(asked?.dueAt ?? 0).toBeGreaterThan(NOW + (remote.calls?.deadlineMs ?? Infinity) * 1_000);
      });
  });

  test.each(["gateway_error", "gateway_error_once", "gateway_timeout", "slow"])(
    "the scenario %s has a simulator asked first",
    (scenario) => {
      const created = given().when(creating({ metadata: { "sandbox.scenario": scenario } }));
      expect(created.changes.inserted(operations)).toEqual([created.answer.call]);
      expect(created.answer.call).toMatchObject({ step: "calling", gatewayCode: "nusantara" });
    },
  );

  test.each(["auto_success", "decline"])("the scenario %s has it asked a second later", (scenario) => {
    const created = given({ offsetSeconds: 3_600 }).when(creating({ metadata: { "sandbox.scenario": scenario } }));
    expect(created.answer.call).toBeUndefined();
    expect(created.changes.events).toEqual(["payment.created"]);
    // By the real clock: acquirers do not live in the sandbox's time.
    expect(created.changes.inserted(operations)).toMatchObject([{ step: "polling", dueAt: NOW + SECOND }]);
  });
});

test("the same creation on the same rows is the same, but for its identity and the seal of its customer", () => {
  const [one, two] = [given().when(creating()).answer.payment, given().when(creating()).answer.payment];
  expect(aCreation()).toEqual(aCreation());
  const rest = ({ reference: _r, instructions: _i, payer: _p, ...payment }: typeof one): object => payment;
  expect(rest(one)).toEqual(rest(two));
});
