// A payment link as its payer sees it: look-up by its address, the state that its page shows, and beginning a payment.
import { Fault } from "../ground/fault.ts";
import { readLinkName } from "../links/link-address.ts";
import { type LinkSnapshot, statusOf } from "../links/link.ts";
import { activeMethods } from "../links/methods.ts";
import { selectLinkByToken, snapshotOfLinkRow } from "../links/links.sql.ts";
import { useLink } from "../links/links.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Profile } from "../merchants/profiles.sql.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { PayerData } from "../payments/payer-data.ts";
import type { CreatePayment } from "../payments/payments.schema.ts";
import { expirePayment } from "../payments/payments.ts";
import type { CheckoutParts } from "./checkout.ts";
import { referenceIdOf } from "./link-form.ts";

export interface LinkCheckoutParts extends CheckoutParts {
  payers: PayerData;
  /** True when payers reach the service by https. */
  isSecure(): boolean;
}

/**
 * The state that the page shows. An unfinished payment holds the link: in the browser that began it `yours`, or `processing` once it is on its way;
 * `in_use` in all others.
 */
export type LinkFace = "form" | "paid" | "in_use" | "yours" | "processing" | "expired" | "deactivated" | "unavailable";

export interface LinkCheckout extends LinkSnapshot {
  merchant: Merchant;
  profile: Profile;
  face: LinkFace;
  /** Methods that the payer may choose from. */
  methods: readonly PaymentMethod[];
  /** Path of the page of the payment that this browser has begun. */
  resumePath: string | undefined;
}

/** The link of an address. `end`: the end of its path; `once`: of the cookie, the form shown last. Throws ROUTE_NOT_FOUND for an unknown one. */
export async function findLink(parts: LinkCheckoutParts, end: string, once?: string): Promise<LinkCheckout> {
  const name = readLinkName(end);
  const [row] = name ? await parts.database.query(selectLinkByToken(name)) : [];
  const merchant = name && (await parts.directory.merchant(name.merchantId));
  if (!row || !merchant) throw new Fault("ROUTE_NOT_FOUND");
  const snapshot = snapshotOfLinkRow(row, parts.clock.now());
  const { link } = snapshot;
  const methods = activeMethods(parts, { merchant, book: link.book }, link.currency, link.amountMinor).filter(
    (method) => link.methods?.includes(method) ?? true,
  );
  const { payment } = snapshot;
  const own = once !== undefined && payment?.referenceId === referenceIdOf(link, once) ? payment : undefined;
  return {
    ...snapshot,
    merchant,
    profile: await parts.profiles.of(link.book.merchantId),
    face: faceOf(parts, snapshot, { merchant, isOwn: own !== undefined, isPayable: methods.length > 0 }),
    methods,
    resumePath: own && `/pay/${parts.tokens.make(link.book, own.reference)}`,
  };
}

export function faceOf(
  parts: LinkCheckoutParts,
  { link, payment, now }: LinkSnapshot,
  { merchant, isOwn, isPayable }: { merchant: Merchant; isOwn: boolean; isPayable: boolean },
): LinkFace {
  const status = statusOf(link, payment, now);
  if (status === "paid") return "paid";
  // A pending payment past its expiry does not hold the link, even before the worker has expired it.
  const isHeld = payment !== undefined && !(payment.status === "pending" && payment.expiresAt <= now);
  if (isHeld && isOwn) return payment.status === "processing" ? "processing" : "yours";
  if (status !== "active") return status;
  if (merchant.suspended || !isPayable || !parts.isOpen(link.book.environment)) return "unavailable";
  return isHeld ? "in_use" : "form";
}

/** Begins the payment of a form once; gives its reference. Throws PAYMENT_NOT_PAYABLE, INVALID_AMOUNT, RATE_LIMITED, NO_ROUTE_AVAILABLE. */
export async function beginPayment(
  parts: LinkCheckoutParts,
  { link, merchant, payment, now }: LinkCheckout,
  body: CreatePayment,
): Promise<string> {
  const { book } = link;
  const owner = { merchant, book };
  if (payment?.status === "pending" && payment.expiresAt <= now)
    await parts.lanes.move(book.merchantId, expirePayment(owner, payment.reference));
  const payer = parts.payers.seal({ book, referenceId: body.reference_id }, body.customer);
  try {
    const command = useLink(parts, owner, link, body, { realNow: parts.clock.now(), payer });
    return (await parts.lanes.move(book.merchantId, command)).payment.reference;
  } catch (error) {
    // These errors mean that the payment exists. Its page shows its state.
    const isThere =
      error instanceof Fault && ["REFERENCE_ID_DUPLICATE", "RISK_REVIEW", "RISK_REJECTED"].includes(error.code);
    if (!isThere) throw error;
    return error.extras.details?.reference as string;
  }
}
