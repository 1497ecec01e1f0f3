// Reads Midtrans' notifications. Their signature covers the order, the code and the amount, but not the status, so a notification only leads to
// an inquiry. disputes.ts confirms notified disputes. Pure.
import type { MessageMeaning, Report } from "../../acquirers/acquirer.ts";
import { Fault } from "../../ground/fault.ts";
import { parseObject } from "../../ground/json.ts";
import { maskedBody } from "../mask.ts";
import { minorOf } from "./answers.ts";
import { DENIED, disputeIdOf, isTransfer } from "./disputes.ts";
import { operationKeyOfOrder, operationKeyOfRefund } from "./names.ts";
import { isSignedBy } from "./signature.ts";

/** Maximum number of refunds that are read from one notification. */
const REFUNDS_MAX = 50;

/** Reads a notification. Throws MALFORMED_JSON, SIGNATURE_MISSING or SIGNATURE_INVALID. Nothing in it is believed before the signature. */
export function notification(body: Buffer, serverKeys: readonly string[]): MessageMeaning {
  const fields = parseObject(body);
  const signature = fields["signature_key"];
  if (signature === undefined) throw new Fault("SIGNATURE_MISSING", { message: "Send signature_key." });
  const { order_id, status_code, gross_amount } = fields;
  const isText = (value: unknown): value is string => typeof value === "string" && value.length <= 255;
  const readable = isText(signature) && isText(order_id) && isText(status_code) && isText(gross_amount);
  if (!readable || !isSignedBy({ order_id, status_code, gross_amount }, signature, serverKeys)) {
    const how = "signature_key must be SHA-512 of order_id + status_code + gross_amount + server key.";
    throw new Fault("SIGNATURE_INVALID", { message: `The signature does not match: ${how}` });
  }
  const status = isText(fields["transaction_status"]) ? fields["transaction_status"].toLowerCase() : "?";
  const message = {
    about: `notification ${status.replaceAll(/[^a-z_]/g, "?").slice(0, 40)}`,
    status: undefined,
    text: maskedBody(body),
  };
  // An order id that is not Gerbang's is reported as it is, so that the report is answered as one about an unknown operation.
  const operationKey = operationKeyOfOrder(order_id) ?? order_id;
  const reports: Report[] = [{ kind: "look", operationKey }];
  for (const key of refundKeysIn(fields["refunds"])) reports.push({ kind: "look", operationKey: key });
  const dispute = disputeIn(fields, operationKey, { status, status_code, gross_amount });
  // The dispute first: who looks afterwards knows of it.
  if (dispute) reports.unshift(dispute);
  return { kind: "reports", reports, message };
}

/** Operation keys of the refunds that Gerbang ordered; other refunds come from Midtrans' dashboard. */
function refundKeysIn(refunds: unknown): string[] {
  if (!Array.isArray(refunds)) return [];
  const keys = refunds.slice(-REFUNDS_MAX).map((refund: unknown) => {
    const name = (refund as { refund_key?: unknown } | null)?.refund_key;
    return typeof name === "string" ? operationKeyOfRefund(name) : undefined;
  });
  return [...new Set(keys.filter((key) => key !== undefined && key.startsWith("rfd")))] as string[];
}

/**
 * Finds a chargeback or a reversal. A card's chargeback is contested with evidence, outside Midtrans' API. A bank transfer that was settled and
 * is denied now (Midtrans: "reversal", of Permata and Mandiri) is lost: the bank has returned it to the payer. Of these fields the signature
 * covers only the status code, which differs from a settlement's: an inquiry confirms the rest before it counts.
 */
function disputeIn(
  fields: Readonly<Record<string, unknown>>,
  paymentOperationKey: string,
  { status, status_code, gross_amount }: { status: string; status_code: string; gross_amount: string },
): Report | undefined {
  const { transaction_id: id, payment_type: type, settlement_time: settledAt } = fields;
  if (typeof id !== "string" || !/^[\x21-\x7e]{1,50}$/.test(id) || !/^\d{1,13}(\.\d\d)?$/.test(gross_amount))
    return undefined;
  const kind =
    status === "chargeback" && type === "credit_card"
      ? "chargeback"
      : status === "deny" && status_code === DENIED && isTransfer(type) && typeof settledAt === "string"
        ? "reversal"
        : undefined;
  if (kind === undefined) return undefined;
  const about = { amountMinor: minorOf(gross_amount), currency: "IDR", reason: "general" } as const;
  return {
    kind: "dispute",
    paymentOperationKey,
    dispute: { id: disputeIdOf(id, kind), status: kind === "chargeback" ? "open" : "lost", ...about },
  };
}
