// What the form of a new payment link holds, and the body of the call that it makes. Pure.
import type { Environment } from "../../api/client.ts";
import type { Schema } from "../../api/types.ts";
import { minorOf } from "../../ui/money.tsx";

export type Body = Schema<"CreatePaymentLink">;
export type Values = Record<string, string>;

export const methods = ["qris", "va", "ewallet", "card", "bank_transfer"] as const;

/** Only where nobody pays is there an amount that nobody has typed. */
export function firstValues(currency: string, offered: readonly string[], environment: Environment): Values {
  return {
    amount_minor: environment === "sandbox" ? "75000" : "",
    minimum_minor: "",
    maximum_minor: "",
    amount: "fixed",
    currency,
    description: "",
    reusable: "false",
    expires_in: "604800",
    payment_expires_in: "1800",
    payment_methods: offered.join(" "),
    customer_required: "false",
    return_url: "",
  };
}

/** The body as the API takes it; what is empty is left out, and so is what is the same without being said. */
export function bodyOf(
  values: Values,
  { exponent, language, offered }: { exponent: number; language: "en" | "id"; offered: readonly string[] },
): Body {
  const given = (name: string): string | undefined => {
    const value = values[name]?.trim() ?? "";
    return value === "" ? undefined : value;
  };
  // An amount that is none is 0, which the API refuses.
  const minor = (name: string): number | undefined => {
    const typed = given(name);
    return typed === undefined ? undefined : (minorOf(typed, exponent, language) ?? 0);
  };
  const isFixed = values.amount === "fixed";
  const chosen = (values.payment_methods ?? "").split(" ").filter(Boolean);
  const seconds = (name: string): number | undefined => (given(name) === undefined ? undefined : Number(given(name)));
  const body = {
    amount_minor: isFixed ? (minor("amount_minor") ?? 0) : undefined,
    minimum_minor: isFixed ? undefined : minor("minimum_minor"),
    maximum_minor: isFixed ? undefined : minor("maximum_minor"),
    currency: values.currency,
    description: given("description"),
    reusable: values.reusable === "true",
    expires_in: seconds("expires_in"),
    payment_expires_in: values.payment_expires_in === "1800" ? undefined : seconds("payment_expires_in"),
    payment_methods: chosen.length === offered.length ? undefined : chosen,
    customer_required: values.customer_required === "true" ? true : undefined,
    return_url: given("return_url"),
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as object as Body;
}
