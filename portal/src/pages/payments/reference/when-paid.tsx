// When a payment was paid, or until when it can be; of one that expired, also until when it could have been.
import type { ReactNode } from "react";
import { Fact } from "../../../ui/facts.tsx";
import { Time } from "../../../ui/time.tsx";

interface Props {
  of: { status: string; paid_at?: string | undefined; expires_at?: string | undefined };
  /** Stands behind the time until when it can be paid. */
  children?: ReactNode;
}

export function WhenPaid({ of: { status, paid_at: paidAt, expires_at: expiresAt }, children }: Props) {
  if (expiresAt !== undefined && status !== "expired")
    return (
      <Fact name="Can be paid until">
        <Time at={expiresAt} /> {children}
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
