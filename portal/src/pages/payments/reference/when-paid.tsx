// When a payment was paid, or until when it can be; of one that expired, also until when it could have been.
import type { ReactNode } from "react";
import { Fact } from "../../../ui/facts.tsx";
import { Time } from "../../../ui/time.tsx";
import { type Begun, beforePayer } from "./before-payer.ts";

interface Props {
  of: Begun & { paid_at?: string | undefined; expires_at?: string | undefined };
  /** Stands behind the time until when it can be paid, or is refused. */
  children?: ReactNode;
}

export function WhenPaid({ of: payment, children }: Props) {
  const { status, paid_at: paidAt, expires_at: expiresAt } = payment;
  const waitsFor = beforePayer(payment);
  if (expiresAt !== undefined && waitsFor === "review")
    return (
      <Fact name="Held for review until">
        <Time at={expiresAt} /> {children}
        <span className="text-muted"> (then refused, unless approved)</span>
      </Fact>
    );
  if (expiresAt !== undefined && status !== "expired")
    return (
      <Fact name="Can be paid until">
        <Time at={expiresAt} /> {children}
        {waitsFor === "acquirer" && <span className="text-muted"> (not yet: no acquirer has answered)</span>}
      </Fact>
    );
  return (
    <Fact name="Paid">
      {paidAt === undefined ? "never" : <Time at={paidAt} />}
      {expiresAt !== undefined && (
        <span className="text-muted">
          {" "}
          (it could be until <Time at={expiresAt} />)
        </span>
      )}
    </Fact>
  );
}
