// What a merchant may create (interface 4.2 and 7.4): the rules that need the merchant's settings. Those of each field are in payments.schema.ts.
import { Fault } from "../ground/fault.ts";
import { DEFAULT_CURRENCY, isCurrency } from "../ground/money.ts";
import type { Call } from "../http/endpoint.ts";
import { type FieldRules, type Judged, rankOf } from "../http/fields.ts";
import { type PaymentMethod, maximumOf, paymentMethods } from "../merchants/settings.ts";
import { isOffered } from "../routing/routing.ts";
import { type CreatePayment, createPaymentRules, invalidAmount } from "./payments.schema.ts";
import type { PaymentParts } from "./payments.ts";
import { amountFault } from "./route-selection.ts";
import { judgeReturnUrl } from "./return-url.ts";

export interface CreationRuleParts extends Pick<PaymentParts, "routingTable" | "isOpen"> {
  /** Gives the address in the form to store; throws VALIDATION_ERROR for an address that webhooks must not be sent to. Waits a short time at most. */
  checkCallbackUrl(url: string, merchantId: string): Promise<string>;
}

/**
 * What the creations of payments and of links are held against: the body with the rule for its `return_url`, the largest amount of the method in
 * the body's currency, and whether that currency is enabled. `isSoundUpTo`: true when this field, and all before it in the order of errors, break
 * no rule of their own.
 */
export function creationLimits<Body>(
  { merchant: { settings }, book }: Call,
  rules: FieldRules<Body>,
  input: Readonly<Record<string, unknown>>,
  judged: Judged<Body>,
  method?: PaymentMethod,
) {
  const found = judgeReturnUrl(book.environment, rules, input, judged);
  const { currency } = input;
  const isEnabled = typeof currency === "string" && isCurrency(currency) && settings.currencies.includes(currency);
  return {
    found,
    isEnabled,
    // A currency that is not enabled has no limit, so the default currency's is used; the currency's own error comes after the amount's.
    maximum: maximumOf(settings, method, isEnabled ? currency : DEFAULT_CURRENCY),
    isSoundUpTo: (field: string): boolean => !("fault" in found) || found.rank > rankOf(rules.order, field),
  };
}

/** Applies the rules of creation that need settings, in the interface's order. Throws the first fault. Only the check of a `callback_url` waits. */
export function judgeCreation(
  parts: CreationRuleParts,
  call: Call,
  input: Record<string, unknown>,
  judged: Judged<CreatePayment>,
): CreatePayment | Promise<CreatePayment> {
  const { amount_minor: amount, currency, payment_method: named, callback_url: url } = input;
  const { environment } = call.book;
  const method = paymentMethods.find((candidate) => candidate === named);
  const { found, isEnabled, maximum, isSoundUpTo } = creationLimits(call, createPaymentRules, input, judged, method);
  if (!isSoundUpTo("amount_minor") || BigInt(amount as number) > maximum) throw invalidAmount(amount, maximum);
  if (isSoundUpTo("currency") && !isEnabled) throw new Fault("CURRENCY_NOT_SUPPORTED");
  if (method !== undefined && isSoundUpTo("payment_method")) {
    const table = parts.routingTable();
    const asked = { environment, method, currency: currency as string, amountMinor: BigInt(amount as number) };
    // A closed environment answers NO_ROUTE_AVAILABLE, not PAYMENT_METHOD_UNAVAILABLE (interface 1).
    const isActive =
      call.merchant.settings.methods[method].enabled && (!parts.isOpen(environment) || isOffered(table, asked));
    const fault = isActive ? amountFault(table, asked, maximum) : new Fault("PAYMENT_METHOD_UNAVAILABLE");
    if (fault) throw fault;
  }
  const bodyWith = (stored: { callback_url?: string }): CreatePayment => {
    if ("fault" in found) throw found.fault;
    return { ...found.value, ...stored };
  };
  if (!isSoundUpTo("callback_url") || typeof url !== "string") return bodyWith({});
  return parts.checkCallbackUrl(url, call.merchant.merchantId).then((kept) => bodyWith({ callback_url: kept }));
}
