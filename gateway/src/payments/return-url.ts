// Where a payer's browser goes back to: its shape on the wire, and what each environment takes. The database holds the same rules.
import { z } from "zod";
import { type FieldRules, rankOf } from "../http/fields.ts";
import { validationFault } from "../ground/fault.ts";
import type { Environment } from "../merchants/books.ts";

const NOT_HTTPS = "must be an https address";

/** https, or http on the machine of a developer who tries the sandbox; without a name and password in it. */
const returnUrl = z
  .string()
  .max(2048)
  // As RFC 3986 writes addresses: printable ASCII without what it never holds, with a host. It goes into a page and back to the merchant.
  .regex(/^(https:\/\/[^/?#]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?)([/?#].*)?$/, NOT_HTTPS)
  .refine(
    (text) => /^[!-~]+$/.test(text) && !/["<>\\^`{|}]/.test(text),
    "must be an https address in ASCII; escape what is not",
  )
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && url.username === "" && url.password === "";
  }, "must be an https address without user information");

/** As it is taken on creation. */
export const returnUrlField = returnUrl.optional().meta({
  description:
    "https address to which the payer's browser goes back after paying, or after a decline. In the sandbox http on localhost, 127.0.0.1 and [::1] as well.",
  pattern:
    "^(https://[!$-.0-;=A-\\[\\]_a-z~]+|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d{1,5})?)([/?#][!#-;=?-\\[\\]_a-z~]*)?$",
  examples: ["https://shop.example.com/orders/1042"],
});

type Found<T> = { value: T } | { rank: number; fault: Error };

/** What the rules of an environment make of a body that was judged: real payers are sent back to https alone. */
export function judgeReturnUrl<T>(
  environment: Environment,
  { order }: Pick<FieldRules<unknown>, "order">,
  { return_url: url }: Readonly<Record<string, unknown>>,
  found: Found<T>,
): Found<T> {
  if (environment === "sandbox" || typeof url !== "string" || !url.startsWith("http:")) return found;
  const rank = rankOf(order, "return_url");
  if ("fault" in found && found.rank <= rank) return found;
  return { rank, fault: validationFault("return_url", url, `return_url: ${NOT_HTTPS}`) };
}
