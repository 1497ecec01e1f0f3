// What the form of a new payment holds, and the body of the call that it makes. Pure.
import type { Environment } from "../../../api/client.ts";
import type { Schema } from "../../../api/types.ts";
import { minorOf } from "../../../ui/money.tsx";

export type Body = Schema<"CreatePayment">;
export type Values = Record<string, string>;

export const methods = ["qris", "va", "ewallet", "card", "bank_transfer"] as const;

/** What the simulated acquirer does with a payment of the sandbox. */
export const scenarios = [
  { value: "", label: "waits for the payer" },
  { value: "auto_success", label: "auto_success: the payer pays after a second" },
  { value: "decline", label: "decline: the payer declines after a second" },
  { value: "slow", label: "slow: the acquirer takes its time" },
  { value: "gateway_error", label: "gateway_error: the acquirer answers with an error" },
  { value: "gateway_error_once", label: "gateway_error_once: an error the first time only" },
  { value: "gateway_timeout", label: "gateway_timeout: the acquirer does not answer in time" },
];

/** The fields that the form folds away until one of them is filled. */
export const folded = [
  "customer.name",
  "customer.email",
  "customer.phone",
  "expires_in",
  "callback_url",
  "return_url",
  "metadata",
] as const;

/** The first values: an order that nobody has asked for yet. Only where nobody pays is there an amount that nobody has typed. */
export function firstValues(currency: string, environment: Environment): Values {
  return {
    amount_minor: environment === "sandbox" ? "75000" : "",
    currency,
    payment_method: "qris",
    reference_id: newReferenceId(),
    description: "",
    expires_in: "",
    "customer.name": "",
    "customer.email": "",
    "customer.phone": "",
    callback_url: "",
    return_url: "",
    metadata: "",
    scenario: "",
  };
}

export function newReferenceId(): string {
  return `order-${crypto.randomUUID().slice(0, 8)}`;
}

/** The body as the API takes it; what is empty is left out. An amount that is none is 0, which the API refuses. */
export function bodyOf(values: Values, exponent: number, language: "en" | "id"): Body {
  const given = (name: string): string | undefined => {
    const value = values[name]?.trim() ?? "";
    return value === "" ? undefined : value;
  };
  const customer = definedOnly({
    name: given("customer.name"),
    email: given("customer.email"),
    phone: given("customer.phone"),
  });
  const metadata = metadataOf(values);
  return definedOnly({
    amount_minor: minorOf(values.amount_minor ?? "", exponent, language) ?? 0,
    currency: values.currency,
    payment_method: values.payment_method,
    reference_id: values.reference_id ?? "",
    description: given("description"),
    expires_in: given("expires_in") === undefined ? undefined : Number(given("expires_in")),
    customer: Object.keys(customer).length > 0 ? customer : undefined,
    callback_url: given("callback_url"),
    return_url: given("return_url"),
    metadata: metadata.size > 0 ? Object.fromEntries(metadata) : undefined,
  }) as Body;
}

/** A pair a line, as `name=value`. */
function metadataOf({ metadata = "", scenario = "" }: Values): Map<string, string> {
  const pairs = metadata
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line): [string, string] => {
      const [name = ""] = line.split("=");
      return [name.trim(), line.slice(name.length + 1).trim()];
    });
  return new Map(scenario === "" ? pairs : [...pairs, ["sandbox.scenario", scenario]]);
}

function definedOnly(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}
