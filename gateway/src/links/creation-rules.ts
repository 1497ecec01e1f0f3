// What links a merchant may make (interface 4.12 and 7.4): the rules that need the merchant's settings. Those of each field are in links.schema.ts.
import { Fault, validationFault } from "../ground/fault.ts";
import type { Call } from "../http/endpoint.ts";
import type { Judged } from "../http/fields.ts";
import { paymentMethods } from "../merchants/settings.ts";
import { creationLimits } from "../payments/creation-rules.ts";
import { invalidAmount } from "../payments/payments.schema.ts";
import type { PaymentParts } from "../payments/payments.ts";
import { type CreateLink, createLinkRules } from "./links.schema.ts";
import { activeMethods } from "./methods.ts";

/** Applies the rules of a link's creation that need the merchant's settings, in the order of its fields' errors. Throws the first fault. */
export function judgeCreation(
  parts: Pick<PaymentParts, "routingTable" | "isOpen">,
  call: Call,
  input: Record<string, unknown>,
  judged: Judged<CreateLink>,
): CreateLink {
  const { found, currencyFault, maximum, isSoundUpTo } = creationLimits(call, createLinkRules, input, judged);
  const { settings } = call.merchant;
  const { currency, amount_minor: fixed, minimum_minor: least, payment_methods: methods } = input;
  for (const field of ["amount_minor", "minimum_minor", "maximum_minor"]) {
    const value = input[field] ?? undefined;
    if (value === undefined) continue;
    if (!isSoundUpTo(field)) throw invalidAmount(value, maximum, undefined, field);
    if (field !== "amount_minor" && (fixed ?? undefined) !== undefined)
      throw validationFault(field, value, `${field} is only for a link without amount_minor.`);
    const minimum = field === "maximum_minor" && typeof least === "number" ? BigInt(least) : 1n;
    if (BigInt(value as number) > maximum || BigInt(value as number) < minimum)
      throw invalidAmount(value, maximum, minimum, field);
  }
  if (isSoundUpTo("currency") && currencyFault) throw currencyFault;
  if (isSoundUpTo("payment_methods") && Array.isArray(methods)) {
    // In a closed environment a missing acquirer means a missing route and not a missing method, as for payments.
    const active: readonly unknown[] = parts.isOpen(call.book.environment)
      ? activeMethods(parts, call, currency as string)
      : paymentMethods.filter((method) => settings.methods[method].enabled);
    if (!methods.every((method) => active.includes(method))) throw new Fault("PAYMENT_METHOD_UNAVAILABLE");
  }
  if ("fault" in found) throw found.fault;
  return found.value;
}
