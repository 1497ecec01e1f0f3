// Creates, deactivates and uses payment links. Pure commands for the lanes.
import { type BookOwner, type CommandContext, bookCommand } from "../commands/command-context.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { MINOR_MAX } from "../ground/money.ts";
import { type Book, bookNow, otherBook } from "../merchants/books.ts";
import type { StoredPayer } from "../payments/payment.ts";
import { type CreatePayment, invalidAmount } from "../payments/payments.schema.ts";
import { takenReferenceIds } from "../payments/payments.sql.ts";
import {
  type Created,
  DEFAULT_EXPIRES_IN,
  type PaymentParts,
  REVIEW_TIME,
  createPayment,
} from "../payments/payments.ts";
import type { Command } from "../store/command.ts";
import { type Need, need } from "../store/working-set.ts";
import { type Link, type LinkPayment, type LinkSnapshot, statusOf } from "./link.ts";
import type { CreateLink } from "./links.schema.ts";
import { type LinkUseKey, linkUses, links } from "./links.sql.ts";

/** Maximum of payments begun by one link within LINK_WINDOW: more than people make, too few to trouble the merchant's other payments. */
export const LINK_USES_MAX = 60;
const LINK_WINDOW: Micros = 60 * SECOND;
/** The shortest lifetime of a payment, in seconds. */
const PAYMENT_SECONDS_MIN = 60;

/** Creates a link. `token`: 16 random bytes. */
export function createLink(owner: BookOwner, body: CreateLink, token: Buffer): Command<LinkSnapshot> {
  return bookCommand(owner, {
    name: "create payment link",
    needs: [],
    execute({ set, book, now, newId }) {
      const minor = (value: number | undefined): bigint | undefined =>
        value === undefined ? undefined : BigInt(value);
      const link: Link = {
        book,
        uuid: newId("link"),
        token,
        reusable: body.reusable,
        currency: body.currency,
        amountMinor: minor(body.amount_minor),
        minimumMinor: minor(body.minimum_minor),
        maximumMinor: minor(body.maximum_minor),
        description: body.description,
        methods: body.payment_methods,
        customerRequired: body.customer_required ?? false,
        paymentExpiresIn: body.payment_expires_in ?? DEFAULT_EXPIRES_IN,
        returnUrl: body.return_url,
        metadata: body.metadata,
        createdAt: now,
        expiresAt: body.expires_in === undefined ? undefined : now + body.expires_in * SECOND,
        deactivatedAt: undefined,
      };
      set.insert(links, link);
      return { link, payment: undefined, now };
    },
  });
}

function linkNeeds(book: Book, uuid: string): Need[] {
  if (!isId("link", uuid)) return [];
  return [need(links, { book, uuid }), need(links, { book: otherBook(book), uuid })];
}

/** Finds the locked link. Throws OBJECT_NOT_FOUND or ENVIRONMENT_MISMATCH. */
function findLink({ set, book }: Pick<CommandContext, "set" | "book">, uuid: string): Link {
  const link = set.get(links, { book, uuid });
  if (link) return link;
  throw new Fault(set.get(links, { book: otherBook(book), uuid }) ? "ENVIRONMENT_MISMATCH" : "OBJECT_NOT_FOUND");
}

const useKey = (book: Book, uuid: string, realNow: Micros): LinkUseKey => ({
  book,
  uuid,
  realSince: realNow - LINK_WINDOW,
  most: LINK_USES_MAX,
});

/**
 * Deactivates a link: no payment can begin by it any more. An open payment stays open, and can be canceled by itself. A second call changes
 * nothing. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, PAYMENT_NOT_PAYABLE (the link is paid).
 */
export function deactivateLink(owner: BookOwner, uuid: string, realNow: Micros): Command<LinkSnapshot> {
  const key = useKey(owner.book, uuid, realNow);
  return bookCommand(owner, {
    name: "deactivate payment link",
    needs: [...linkNeeds(owner.book, uuid), ...(isId("link", uuid) ? [need(linkUses, key)] : [])],
    execute(context) {
      const { set, now } = context;
      const link = findLink(context, uuid);
      const payment = set.get(linkUses, key)?.payment;
      if (statusOf(link, payment, now) === "paid")
        throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: "paid" } });
      if (link.deactivatedAt !== undefined) return { link, payment, now };
      const deactivated: Link = { ...link, deactivatedAt: now };
      set.update(links, deactivated);
      return { link: deactivated, payment, now };
    },
  });
}

/** How long a payment by this link can be paid, in seconds: until the link expires at most, but at least a minute. */
function secondsToPay({ paymentExpiresIn, expiresAt }: Link, now: Micros): number {
  if (expiresAt === undefined) return paymentExpiresIn;
  return Math.max(PAYMENT_SECONDS_MIN, Math.min(paymentExpiresIn, Math.floor((expiresAt - now) / SECOND)));
}

/** Throws INVALID_AMOUNT for an amount that the link does not take. */
function checkAmount({ amountMinor, minimumMinor, maximumMinor }: Link, asked: number): void {
  const [minimum, maximum] = [amountMinor ?? minimumMinor ?? 1n, amountMinor ?? maximumMinor ?? MINOR_MAX];
  if (BigInt(asked) < minimum || BigInt(asked) > maximum) throw invalidAmount(asked, maximum, minimum);
}

/**
 * Begins a payer's payment by a link. `body`: data of link and payer together; its `reference_id` identifies the submitted form, so that a form
 * makes one payment. Throws REFERENCE_ID_DUPLICATE (the form was submitted before; `details.reference` is its payment), PAYMENT_NOT_PAYABLE
 * (`details.status`: of the link, or `pending` while another payment by it is open), INVALID_AMOUNT, RATE_LIMITED, and as `createPayment`.
 */
export function useLink(
  parts: PaymentParts,
  owner: BookOwner,
  asked: Link,
  body: CreatePayment,
  request: { realNow: Micros; payer: StoredPayer },
): Command<Created> {
  const { book } = owner;
  const { uuid, reusable } = asked;
  const key = useKey(book, uuid, request.realNow);
  const creation = (expiresIn: number): Command<Created> =>
    createPayment(
      parts,
      owner,
      { ...body, expires_in: expiresIn },
      { ...request, idempotencyKey: undefined, link: { uuid, reusable } },
    );
  return {
    name: "use payment link",
    book,
    needs: [...linkNeeds(book, uuid), need(linkUses, key), ...creation(asked.paymentExpiresIn).needs],
    execute(set, moment) {
      const now = bookNow(set, book, moment.realNow);
      const taken = set.get(takenReferenceIds, { book, referenceId: body.reference_id });
      if (taken) throw new Fault("REFERENCE_ID_DUPLICATE", { details: { reference: taken.reference } });
      const link = findLink({ set, book }, uuid);
      const use = set.get(linkUses, key);
      assert(use, `${uuid} was loaded without its payments`);
      const status = statusOf(link, use.payment, now);
      if (status !== "active" || use.payment)
        throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: status === "active" ? "pending" : status } });
      checkAmount(link, body.amount_minor);
      if (use.recent >= LINK_USES_MAX) throw new Fault("RATE_LIMITED", { retryAfterSeconds: LINK_WINDOW / SECOND });
      // Makes this payment visible to later commands of the same batch.
      const note = (payment: LinkPayment): void =>
        set.update(linkUses, { ...use, payment: reusable ? undefined : payment, recent: use.recent + 1 });
      try {
        const created = creation(secondsToPay(link, now)).execute(set, moment);
        note(created.payment);
        return created;
      } catch (error) {
        // A payment in review is kept, and occupies the link meanwhile.
        if (error instanceof Fault && error.code === "RISK_REVIEW")
          note({
            reference: error.extras.details?.reference as string,
            referenceId: body.reference_id,
            status: "pending",
            expiresAt: now + REVIEW_TIME,
          });
        throw error;
      }
    },
  };
}
