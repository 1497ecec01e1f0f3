// The address to which a payer's browser returns: its schema, and what each environment accepts. The database enforces the same rules.
import { z } from "zod";
import { type FieldRules, type Judged, rankOf } from "../http/fields.ts";
import { validationFault } from "../ground/fault.ts";
import type { Environment } from "../merchants/books.ts";

const NOT_HTTPS = "must be an https address";

/** https, or http on the local machine for developers who try the sandbox; without user name and password. */
const returnUrl = z
  .string()
  .max(2048)
  // An address by RFC 3986: printable ASCII without the characters that it excludes, and with a host. It is written into the payer's page.
  .regex(/^(https:\/\/[^/?#]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?)([/?#].*)?$/, NOT_HTTPS)
  .refine(
    (text) => /^[!-~]+$/.test(text) && !/["<>\\^`{|}]/.test(text),
    "must be an https address in ASCII; escape what is not",
  )
  .refine(
    (text) => URL.canParse(text) && !/^\w+:\/\/[^/?#]*@/.test(text),
    "must be an https address without user information",
  );

export const returnUrlField = returnUrl.optional().meta({
  description:
    "https address to which the payer's browser goes back after paying, or after a decline, as it is: nothing is added to it. After an expiry or a cancellation the payer's page has a " +
    "link there. In the sandbox http on localhost, 127.0.0.1 and [::1] as well.",
  pattern:
    "^(https://[!$-.0-;=A-\\[\\]_a-z~]+|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d{1,5})?)([/?#][!#-;=?-\\[\\]_a-z~]*)?$",
  examples: ["https://shop.example.com/orders/1042"],
});

/** Adds the rule of the environment to a judged body: payers in production are sent to https only. */
export function judgeReturnUrl<T>(
  environment: Environment,
  { order }: Pick<FieldRules<unknown>, "order">,
  { return_url: url }: Readonly<Record<string, unknown>>,
  found: Judged<T>,
): Judged<T> {
  if (environment === "sandbox" || typeof url !== "string" || !url.startsWith("http:")) return found;
  const rank = rankOf(order, "return_url");
  if ("fault" in found && found.rank <= rank) return found;
  return { rank, fault: validationFault("return_url", url, `return_url: ${NOT_HTTPS}`) };
}
