// What a merchant may create (interface 4.2 and 7.4): the rules that need the merchant's settings. Those of each field are in payments.schema.ts.
import { Fault } from "../ground/fault.ts";
import { DEFAULT_CURRENCY, isCurrency } from "../ground/money.ts";
import type { Call } from "../http/endpoint.ts";
import { rankOf } from "../http/fields.ts";
import { maximumOf, paymentMethods } from "../merchants/settings.ts";
import { isOffered } from "../routing/routing.ts";
import { type CreatePayment, createPaymentRules, invalidAmount } from "./payments.schema.ts";
import type { PaymentParts } from "./payments.ts";
import { judgeReturnUrl } from "./return-url.ts";

export interface CreationRuleParts extends Pick<PaymentParts, "routingTable"> {
  /** Gives the address in the form to store; throws VALIDATION_ERROR for an address that webhooks must not be sent to. Waits a short time at most. */
  checkCallbackUrl(url: string, merchantId: string): Promise<string>;
}

/** Applies the rules of creation that need the merchant's settings, in the order of the interface's table. Throws the first fault. */
export function judgeCreation(
  parts: CreationRuleParts,
  call: Call,
  input: Record<string, unknown>,
  judged: { value: CreatePayment } | { rank: number; fault: Error },
): CreatePayment | Promise<CreatePayment> {
  const { order } = createPaymentRules;
  const found = judgeReturnUrl(call.book.environment, createPaymentRules, input, judged);
  const before = (field: string): boolean => !("fault" in found) || found.rank > rankOf(order, field);
  const { settings } = call.merchant;
  const { amount_minor: amount, currency, payment_method: named } = input;
  const method = paymentMethods.find((candidate) => candidate === named);
  const enabled = typeof currency === "string" && isCurrency(currency) && settings.currencies.includes(currency);
  // A currency that is not enabled has no limit, so the default currency's is used; the currency's own error comes after the amount's.
  const maximum = maximumOf(settings, method, enabled ? currency : DEFAULT_CURRENCY);
  if (!before("amount_minor") || BigInt(amount as number) > maximum) throw invalidAmount(amount, maximum);
  if (before("currency") && !enabled) throw new Fault("CURRENCY_NOT_SUPPORTED");
  // Production without an acquirer answers NO_ROUTE_AVAILABLE, not PAYMENT_METHOD_UNAVAILABLE (interface 1).
  const offered = (): boolean =>
    method !== undefined &&
    (call.book.environment === "production" ||
      isOffered(parts.routingTable(), call.book.environment, method, currency as string));
  if (before("payment_method") && !(method && settings.methods[method].enabled && offered())) {
    throw new Fault("PAYMENT_METHOD_UNAVAILABLE");
  }
  const url = input.callback_url;
  if (before("callback_url") && typeof url === "string") return withCallbackUrl(parts, call, url, found);
  if ("fault" in found) throw found.fault;
  return found.value;
}

/** The asynchronous end of `judgeCreation`, kept apart so that only requests with a `callback_url` wait for its check. */
async function withCallbackUrl(
  parts: CreationRuleParts,
  call: Call,
  url: string,
  found: { value: CreatePayment } | { rank: number; fault: Error },
): Promise<CreatePayment> {
  const kept = await parts.checkCallbackUrl(url, call.merchant.merchantId);
  if ("fault" in found) throw found.fault;
  return { ...found.value, callback_url: kept };
}
