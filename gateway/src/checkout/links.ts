// A payment link as its payer meets it: found by its address, what it shows now, and the payment that a form begins.
import { randomBytes } from "node:crypto";
import { Fault } from "../ground/fault.ts";
import { readLinkName } from "../links/link-address.ts";
import { type LinkStanding, statusOf } from "../links/link.ts";
import { activeMethods } from "../links/methods.ts";
import { selectLinkByToken, standingOfLinkRow } from "../links/links.sql.ts";
import { useLink } from "../links/links.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Profile } from "../merchants/profiles.sql.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { PayerData } from "../payments/payer-data.ts";
import type { CreatePayment } from "../payments/payments.schema.ts";
import { expirePayment } from "../payments/payments.ts";
import type { CheckoutParts } from "./checkout.ts";
import { newOnce } from "./link-form.ts";

export interface LinkCheckoutParts extends CheckoutParts {
  payers: PayerData;
  /** Whether payers reach the service by https. */
  isSecure(): boolean;
}

/** What the page shows: `yours` to the browser that began the payment which holds the link, `in_use` to every other. */
export type LinkFace = "form" | "paid" | "in_use" | "yours" | "expired" | "deactivated" | "unavailable";

export interface LinkCheckout extends LinkStanding {
  merchant: Merchant;
  profile: Profile;
  face: LinkFace;
  /** Those that the payer may choose from. */
  methods: readonly PaymentMethod[];
  /** The page of the payment that this browser began. */
  resumePath: string | undefined;
}

/**
 * The link of an address. `began`: the token of a payment that this browser says it has begun here. Throws ROUTE_NOT_FOUND for an address that is
 * not ours.
 */
export async function findLink(parts: LinkCheckoutParts, end: string, began?: string): Promise<LinkCheckout> {
  const name = readLinkName(end);
  const [row] = name ? await parts.database.query(selectLinkByToken(name)) : [];
  const merchant = name && (await parts.directory.merchant(name.merchantId));
  if (!row || !merchant) throw new Fault("ROUTE_NOT_FOUND");
  const standing = standingOfLinkRow(row, parts.clock.now());
  const { link } = standing;
  const methods = activeMethods(parts, { merchant, book: link.book }, link.currency, link.amountMinor).filter(
    (method) => link.methods?.includes(method) ?? true,
  );
  const own = began === undefined ? undefined : parts.tokens.read(began);
  const isOwn = own !== undefined && own.reference === standing.payment?.reference;
  return {
    ...standing,
    merchant,
    profile: await parts.profiles.of(link.book.merchantId),
    face: faceOf(parts, standing, { merchant, isOwn, isPayable: methods.length > 0 }),
    methods,
    resumePath: isOwn ? `/pay/${began}` : undefined,
  };
}

function faceOf(
  parts: LinkCheckoutParts,
  { link, payment, now }: LinkStanding,
  { merchant, isOwn, isPayable }: { merchant: Merchant; isOwn: boolean; isPayable: boolean },
): LinkFace {
  const status = statusOf(link, payment, now);
  if (status === "paid") return "paid";
  // Its time is over, and the sweep just has not reached it yet.
  const isHeld = payment !== undefined && !(payment.status === "pending" && payment.expiresAt <= now);
  if (isHeld && isOwn) return "yours";
  if (status !== "active") return status;
  if (merchant.suspended || !isPayable || !parts.isOpen(link.book.environment)) return "unavailable";
  return isHeld ? "in_use" : "form";
}

export const onceForPage = (): string => newOnce(randomBytes(16));

/**
 * Begins the payment of a form, or finds the one that the same form began before. Gives its reference. Throws PAYMENT_NOT_PAYABLE, INVALID_AMOUNT,
 * RATE_LIMITED, NO_ROUTE_AVAILABLE.
 */
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
    // The payment is there: its page says what became of it.
    const isThere =
      error instanceof Fault && ["REFERENCE_ID_DUPLICATE", "RISK_REVIEW", "RISK_REJECTED"].includes(error.code);
    if (!isThere) throw error;
    return error.extras.details?.reference as string;
  }
}
