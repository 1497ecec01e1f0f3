// Checks what the key may read by asking for objects that do not exist: nothing is created or changed.
import type { Checked } from "../../acquirers/acquirer.ts";
import { systemClock } from "../../ground/clock.ts";
import type { ProviderAnswer } from "../caller.ts";
import { type XenditRequest, inquiries } from "./requests.ts";

const NOBODY = "00000000-0000-0000-0000-000000000000";
const things: readonly { name: string; sent: XenditRequest }[] = [
  { name: "payment requests", sent: inquiries.paymentRequest(`pr-${NOBODY}`) },
  { name: "refunds", sent: inquiries.refund(`rfd-${NOBODY}`) },
  { name: "card pages", sent: inquiries.session("ps-000000000000000000000000") },
];

/** Asks once for each kind of object. A key that may read that kind gets the answer that there is no such object. */
export async function checkedOf(call: (sent: XenditRequest) => Promise<ProviderAnswer>): Promise<Checked> {
  const findings: { well: boolean; text: string }[] = [];
  let clockDifferenceMs: number | undefined;
  for (const { name, sent } of things) {
    const { status, body, headers } = await call(sent);
    const code =
      typeof body?.error_code === "string" ? ` ${body.error_code.replaceAll(/[^\w ]/g, "?").slice(0, 60)}` : "";
    const well = status === 404 || status === 200;
    findings.push({ well, text: well ? `The key reads ${name}.` : `The key reads no ${name}: ${status}${code}.` });
    const theirs = typeof headers.date === "string" ? Date.parse(headers.date) : Number.NaN;
    // HTTP dates have whole seconds: the middle of the second is the best estimate.
    if (!Number.isNaN(theirs)) clockDifferenceMs = Math.round(theirs + 500 - systemClock.now() / 1_000);
  }
  findings.push({
    well: true,
    text: "The webhook token is compared when the first notification comes: Xendit has no call that shows it.",
  });
  return { findings, clockDifferenceMs };
}
