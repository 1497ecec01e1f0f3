// Goal: a link takes what it was made for, and one that is paid once is paid once. Method: pure commands by example, each on what the one before left,
// and every order of a few payers by property.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOW, book, given, merchantWith, ownerWith, row } from "../../test/given.ts";
import { payers } from "../../test/payers.ts";
import { aRouter } from "../../test/routing.ts";
import { SECOND } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { MINOR_MAX } from "../ground/money.ts";
import { otherBook } from "../merchants/books.ts";
import { payments } from "../payments/payments.sql.ts";
import { type PaymentStatus, isPaid, paymentStatuses } from "../payments/states.ts";
import { merchantVelocity } from "../risk/velocity.sql.ts";
import type { Command } from "../store/command.ts";
import { type Link, type LinkPayment, statusOf } from "./link.ts";
import { linkPath, newToken, readLinkName } from "./link-address.ts";
import { linkUses, links } from "./links.sql.ts";
import { LINK_USES_MAX, createLink, deactivateLink, useLink } from "./links.ts";

function aLink(changes: Partial<Link> = {}): Link {
  return {
    book,
    uuid: newId("link", NOW),
    token: newToken(),
    reusable: false,
    currency: "IDR",
    amountMinor: 1_000_000n,
    minimumMinor: undefined,
    maximumMinor: undefined,
    description: "Two bags of coffee",
    methods: undefined,
    customerRequired: false,
    paymentExpiresIn: 1_800,
    returnUrl: undefined,
    metadata: { order: "1042" },
    createdAt: NOW - 60 * SECOND,
    expiresAt: undefined,
    deactivatedAt: undefined,
    ...changes,
  };
}

const rowsOf = (link: Link, payment?: LinkPayment, recent = 0) => [
  row(links, link),
  row(linkUses, { key: { book, uuid: link.uuid, realSince: 0, most: LINK_USES_MAX }, payment, recent }),
  row(merchantVelocity, {
    key: { book, contactKey: null, realSince: 0, most: merchantWith().settings.risk.merchant_per_minute },
    count: 0,
  }),
];

/** A payer's form; `form` names it, so that the same one comes again. */
function using(link: Link, form = "form-1", { amount = 1_000_000, email = "sari@pelanggan.id" } = {}) {
  const owner = ownerWith();
  const customer = { name: "Sari", email };
  const body = {
    amount_minor: amount,
    currency: link.currency,
    payment_method: "qris" as const,
    reference_id: form,
    customer,
    metadata: link.metadata,
  };
  const payer = payers.seal({ book, referenceId: form }, customer);
  return useLink(aRouter(), owner, link, body, { realNow: NOW, payer });
}

const closing = (uuid: string) => deactivateLink(ownerWith(), uuid, NOW);

describe("a use", () => {
  test("is a payment like any other, which carries its link, in its event too", () => {
    const link = aLink();
    given({ rows: rowsOf(link) })
      .when(using(link))
      .then((changes, { payment }) => {
        expect(payment).toMatchObject({
          status: "pending",
          amountMinor: 1_000_000n,
          link: { uuid: link.uuid, reusable: false },
          metadata: { order: "1042" },
          expiresAt: NOW + 1_800 * SECOND,
        });
        expect(changes.inserted(payments)).toEqual([payment]);
        expect(changes.events).toEqual(["payment.created"]);
      });
  });

  test.each([true, false])("of the same form again is the same payment (reusable: %s)", (reusable) => {
    const link = aLink({ reusable });
    const once = given({ rows: rowsOf(link) }).when(using(link));
    const { reference } = once.answer.payment;
    once.when(using(link)).refuses("REFERENCE_ID_DUPLICATE", { reference }, true);
  });

  test("by a second payer waits while one is open", () => {
    const link = aLink();
    given({ rows: rowsOf(link) })
      .when(using(link, "form-1"))
      .when(using(link, "form-2"))
      .refuses("PAYMENT_NOT_PAYABLE", { status: "pending" }, true);
  });

  test("that a person has to judge holds the link, and one that is rejected does not", () => {
    const link = aLink();
    given({ rows: rowsOf(link) })
      .when(using(link, "form-1", { email: "sari@reject.test" }))
      .refuses("RISK_REJECTED", undefined, true)
      .when(using(link, "form-2", { email: "sari@review.test" }))
      .refuses("RISK_REVIEW", undefined, true)
      .when(using(link, "form-3"))
      .refuses("PAYMENT_NOT_PAYABLE", { status: "pending" }, true);
  });

  test.each(paymentStatuses.filter((status) => !["failed", "expired", "canceled"].includes(status)))(
    "is refused while the one payment is %s",
    (status) => {
      const link = aLink();
      const payment = { reference: newId("payment", NOW), referenceId: "link-1", status, expiresAt: NOW + SECOND };
      given({ rows: rowsOf(link, payment) })
        .when(using(link))
        .refuses("PAYMENT_NOT_PAYABLE", { status: isPaid(status) ? "paid" : "pending" });
    },
  );

  test.each([
    ["deactivated", { deactivatedAt: NOW - SECOND }],
    ["expired", { expiresAt: NOW }],
    ["deactivated", { deactivatedAt: NOW - SECOND, expiresAt: NOW, reusable: true }],
  ])("is refused once the link is %s", (status, changes: Partial<Link>) => {
    const link = aLink(changes);
    given({ rows: rowsOf(link) })
      .when(using(link))
      .refuses("PAYMENT_NOT_PAYABLE", { status });
  });

  test("goes by the clock of the book", () => {
    const link = aLink({ expiresAt: NOW + 100 * SECOND });
    given({ rows: rowsOf(link), offsetSeconds: 100 })
      .when(using(link))
      .refuses("PAYMENT_NOT_PAYABLE");
    given({ rows: rowsOf(link), offsetSeconds: 99 })
      .when(using(link))
      // No longer than the link, but for the least that a payment lives.
      .then((_, { payment }) => expect(payment.expiresAt).toBe(NOW + (99 + 60) * SECOND));
  });

  test.each([
    [{}, 999_999, 1_000_000, 1_000_000],
    [{}, 1_000_001, 1_000_000, 1_000_000],
    [{ amountMinor: undefined, minimumMinor: 500n }, 499, 500, Number(MINOR_MAX)],
    [{ amountMinor: undefined, maximumMinor: 500n }, 501, 1, 500],
    [{ amountMinor: undefined, minimumMinor: 1n, maximumMinor: 500n }, 0, 1, 500],
  ])("of %o takes no %i", (changes: Partial<Link>, amount, minimum_minor, maximum_minor) => {
    const link = aLink({ reusable: true, ...changes });
    given({ rows: rowsOf(link) })
      .when(using(link, "form-1", { amount }))
      .refuses("INVALID_AMOUNT", { field: "amount_minor", value: amount, minimum_minor, maximum_minor });
  });

  test("is bounded by link and minute", () => {
    const link = aLink({ reusable: true });
    const first = given({ rows: rowsOf(link, undefined, LINK_USES_MAX - 2) }).when(using(link, "form-1"));
    const last = first.when(using(link, "form-2"));
    expect([first, last].map(({ answer }) => answer.payment.status)).toEqual(["pending", "pending"]);
    const { outcome } = last.when(using(link, "form-3")).refuses("RATE_LIMITED", undefined, true);
    expect(outcome).toMatchObject({ fault: { extras: { retryAfterSeconds: 60 } } });
    const counted = using(link).needs.filter(({ table }) => table.name === linkUses.name);
    expect(counted).toMatchObject([{ key: { realSince: NOW - 60 * SECOND, most: LINK_USES_MAX } }]);
  });

  test("of a link that is not there, or of the other environment, is refused", () => {
    const link = aLink();
    const [, use, velocity] = rowsOf(link);
    const rows = [use, velocity].filter((one) => one !== undefined);
    given({ rows }).when(using(link)).refuses("OBJECT_NOT_FOUND");
    const elsewhere = row(links, { ...link, book: otherBook(book) });
    given({ rows: [...rows, elsewhere] })
      .when(using(link))
      .refuses("ENVIRONMENT_MISMATCH");
  });
});

describe("closing", () => {
  test("ends an active link, and changes nothing the second time", () => {
    const link = aLink();
    const closed = given({ rows: rowsOf(link) }).when(closing(link.uuid));
    closed.then((changes, answer) => {
      expect(answer.link.deactivatedAt).toBe(NOW);
      expect(changes.updated(links)).toEqual([answer.link]);
    });
    closed.when(closing(link.uuid), NOW + SECOND).then((_, { link: again }) => expect(again.deactivatedAt).toBe(NOW));
    closed.when(using(link)).refuses("PAYMENT_NOT_PAYABLE", { status: "deactivated" }, true);
  });

  test("a link that is paid, that is nobody's or malformed is refused", () => {
    const link = aLink();
    const payment = {
      reference: newId("payment", NOW),
      referenceId: "link-1",
      status: "succeeded" as PaymentStatus,
      expiresAt: NOW,
    };
    given({ rows: rowsOf(link, payment) })
      .when(closing(link.uuid))
      .refuses("PAYMENT_NOT_PAYABLE", { status: "paid" });
    given()
      .when(closing(newId("link", NOW)))
      .refuses("OBJECT_NOT_FOUND");
    given().when(closing("lnk_x")).refuses("OBJECT_NOT_FOUND");
  });
});

test("a link is made as it was asked for, by the book's time", () => {
  const body = {
    currency: "IDR",
    reusable: true,
    minimum_minor: 5,
    expires_in: 60,
    payment_methods: ["qris" as const],
  };
  given({ offsetSeconds: 10 })
    .when(createLink(ownerWith(), body, Buffer.alloc(16)))
    .then((changes, { link, now }) => {
      expect(changes.inserted(links)).toEqual([link]);
      expect(link).toMatchObject({
        amountMinor: undefined,
        minimumMinor: 5n,
        methods: ["qris"],
        paymentExpiresIn: 1_800,
      });
      expect([link.createdAt, link.expiresAt]).toEqual([now, NOW + 70 * SECOND]);
    });
});

test("what is paid stays paid, whatever happens to the link", () => {
  const over = aLink({ deactivatedAt: NOW, expiresAt: NOW });
  const payment = (status: PaymentStatus): LinkPayment => ({
    reference: "pay",
    referenceId: "link-1",
    status,
    expiresAt: NOW,
  });
  expect(statusOf(over, payment("refunded"), NOW)).toBe("paid");
  expect(statusOf(over, payment("pending"), NOW)).toBe("deactivated");
  expect(statusOf(aLink({ expiresAt: NOW }), payment("processing"), NOW)).toBe("expired");
  expect(statusOf(aLink(), payment("processing"), NOW)).toBe("active");
});

test("in whichever order forms come, a link that is paid once has one payment, and a reusable one has one for each form", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      (forms, reusable) => {
        const link = aLink({ reusable });
        const commands: Command<unknown>[] = forms.map((form) => using(link, `form-${form}`));
        let then = given({ rows: rowsOf(link) }).when<unknown>(commands[0] as Command<unknown>);
        for (const command of commands.slice(1)) then = then.when(command);
        const made = then.changes.inserted(payments);
        expect(made.length).toBe(reusable ? new Set(forms).size : 1);
        expect(new Set(made.map(({ referenceId }) => referenceId)).size).toBe(made.length);
      },
    ),
    { numRuns: 60 },
  );
});

test("an address leads back to its link, and nothing else does", () => {
  const merchantId = newId("merchant", NOW);
  const token = newToken();
  const end = linkPath({ merchantId, token }).slice("/pay/l/".length);
  expect(end).toHaveLength(52);
  expect(readLinkName(end)).toEqual({ merchantId, token });
  for (const wrong of [
    "",
    end.slice(1),
    end.slice(0, -1),
    `${end}0`,
    end.toUpperCase(),
    `${end.slice(0, 26)}8${end.slice(27)}`,
  ])
    expect(readLinkName(wrong), wrong).toBeUndefined();
});
