// What links a merchant may make (interface 4.12 and 7.4): the rules that need the merchant's settings. Those of each field are in links.schema.ts.
import { Fault, validationFault } from "../ground/fault.ts";
import { DEFAULT_CURRENCY, isCurrency } from "../ground/money.ts";
import type { Call } from "../http/endpoint.ts";
import { rankOf } from "../http/fields.ts";
import { maximumOf, paymentMethods } from "../merchants/settings.ts";
import { invalidAmount } from "../payments/payments.schema.ts";
import type { PaymentParts } from "../payments/payments.ts";
import { judgeReturnUrl } from "../payments/return-url.ts";
import { type CreateLink, createLinkRules } from "./links.schema.ts";
import { activeMethods } from "./methods.ts";

type Found = { value: CreateLink } | { rank: number; fault: Error };

/** Checks the rules of creation that need the merchant's settings, merged into the order of the fields' errors. */
export function judgeCreation(
  parts: Pick<PaymentParts, "routingTable">,
  call: Call,
  input: Record<string, unknown>,
  judged: Found,
): CreateLink {
  const { order } = createLinkRules;
  const found = judgeReturnUrl(call.book.environment, createLinkRules, input, judged);
  const before = (field: string): boolean => !("fault" in found) || found.rank > rankOf(order, field);
  const { settings } = call.merchant;
  const { currency, amount_minor: fixed, minimum_minor: least, payment_methods: methods } = input;
  const enabled = typeof currency === "string" && isCurrency(currency) && settings.currencies.includes(currency);
  const limit = maximumOf(settings, undefined, enabled ? currency : DEFAULT_CURRENCY);
  for (const field of ["amount_minor", "minimum_minor", "maximum_minor"]) {
    const value = input[field] ?? undefined;
    if (value === undefined || !before(field)) continue;
    if (field !== "amount_minor" && (fixed ?? undefined) !== undefined)
      throw validationFault(field, value, `${field} is only for a link without amount_minor.`);
    const minimum = field === "maximum_minor" && typeof least === "number" ? BigInt(least) : 1n;
    if (BigInt(value as number) > limit || BigInt(value as number) < minimum)
      throw invalidAmount(value, limit, minimum, field);
  }
  if (before("currency") && !enabled) throw new Fault("CURRENCY_NOT_SUPPORTED");
  if (before("payment_methods") && Array.isArray(methods)) {
    // In production, a missing acquirer means a missing route and not a missing method, as for payments.
    const active: readonly unknown[] =
      call.book.environment === "production"
        ? paymentMethods.filter((method) => settings.methods[method].enabled)
        : activeMethods(parts, call, currency as string);
    if (!methods.every((method) => active.includes(method))) throw new Fault("PAYMENT_METHOD_UNAVAILABLE");
  }
  if ("fault" in found) throw found.fault;
  return found.value;
}
