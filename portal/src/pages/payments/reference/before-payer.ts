// A pending payment whose payer was not told yet how to pay: fraud detection holds it, or its acquirer has not answered.
import type { Schema } from "../../../api/types.ts";

/** The part of a payment that says so, the same for merchants and for operators. */
export type Begun = Pick<Schema<"PaymentWhole">, "status" | "risk"> & { instructions?: object | null };

/** Why nobody can pay it yet; undefined of every other payment. */
export function beforePayer({ status, risk, instructions }: Begun): "review" | "acquirer" | undefined {
  if (status !== "pending" || (instructions ?? null) !== null) return undefined;
  return risk.decision === "review" ? "review" : "acquirer";
}
