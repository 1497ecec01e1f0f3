// What a merchant may create (interface 4.2 and 7.4): the rules that need the merchant's settings. Those of each field are in payments.schema.ts.
import { scenarios } from "../acquirers/simulated.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { DEFAULT_CURRENCY, isCurrency } from "../ground/money.ts";
import type { Call } from "../http/endpoint.ts";
import { type FieldRules, type Judged, rankOf } from "../http/fields.ts";
import type { Environment } from "../merchants/books.ts";
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
 * the body's currency, and the fault of a currency that is not enabled. `isSoundUpTo`: true when this field, and all before it in the order of errors, break
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
    currencyFault: isEnabled ? undefined : notEnabled(currency, settings.currencies),
    // A currency that is not enabled has no limit, so the default currency's is used; the currency's own error comes after the amount's.
    maximum: maximumOf(settings, method, isEnabled ? currency : DEFAULT_CURRENCY),
    isSoundUpTo: (field: string): boolean => !("fault" in found) || found.rank > rankOf(rules.order, field),
  };
}

function notEnabled(currency: unknown, enabled: readonly string[]): Fault {
  const message =
    typeof currency === "string" && /^[A-Z]{3}$/.test(currency)
      ? `This currency is not enabled for you. Enabled: ${enabled.join(", ")}.`
      : "currency: must be a code of ISO 4217, in upper case";
  return new Fault("CURRENCY_NOT_SUPPORTED", { message });
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
  const limits = creationLimits(call, createPaymentRules, input, judged, method);
  const { currencyFault, maximum, isSoundUpTo } = limits;
  if (!isSoundUpTo("amount_minor") || BigInt(amount as number) > maximum) throw invalidAmount(amount, maximum);
  if (isSoundUpTo("currency") && currencyFault) throw currencyFault;
  if (method !== undefined && isSoundUpTo("payment_method")) {
    const table = parts.routingTable();
    const asked = { environment, method, currency: currency as string, amountMinor: BigInt(amount as number) };
    // A closed environment answers NO_ROUTE_AVAILABLE, not PAYMENT_METHOD_UNAVAILABLE (interface 1).
    const isActive =
      call.merchant.settings.methods[method].enabled && (!parts.isOpen(environment) || isOffered(table, asked));
    const fault = isActive ? amountFault(table, asked, maximum) : new Fault("PAYMENT_METHOD_UNAVAILABLE");
    if (fault) throw fault;
  }
  const found = judgeScenario(environment, input, limits.found);
  const bodyWith = (stored: { callback_url?: string }): CreatePayment => {
    if ("fault" in found) throw found.fault;
    return { ...found.value, ...stored };
  };
  if (!isSoundUpTo("callback_url") || typeof url !== "string") return bodyWith({});
  return parts.checkCallbackUrl(url, call.merchant.merchantId).then((kept) => bodyWith({ callback_url: kept }));
}

const SCENARIO = "sandbox.scenario";

/** Adds the rule of the sandbox to a judged body: a scenario exists. A misspelt one would change nothing, and say nothing. */
function judgeScenario<T>(
  environment: Environment,
  { metadata }: Record<string, unknown>,
  found: Judged<T>,
): Judged<T> {
  const scenario = environment === "sandbox" ? (metadata as CreatePayment["metadata"])?.[SCENARIO] : undefined;
  if (scenario === undefined || scenarios.includes(scenario)) return found;
  const rank = rankOf(createPaymentRules.order, "metadata");
  if ("fault" in found && found.rank <= rank) return found;
  const message = `metadata.${SCENARIO}: must be one of ${scenarios.join(", ")}.`;
  return { rank, fault: validationFault(`metadata.${SCENARIO}`, scenario, message) };
}
