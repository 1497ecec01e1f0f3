// What a payment costs, and what is left of it. A payment that is never paid costs nothing, and leaves nothing.
import { Money } from "../../../ui/money.tsx";

interface Props {
  of: { status: string; currency: string; exponent: number; fee_minor: number; net_minor: number };
}

const isUnpaid = (status: string): boolean => ["failed", "expired", "canceled"].includes(status);

export function Fee({ of: { status, currency, exponent, fee_minor: fee } }: Props) {
  if (isUnpaid(status)) return <span className="text-muted">none</span>;
  return <Money of={{ amount_minor: fee, currency, exponent }} />;
}

export function AfterFee({ of: { status, currency, exponent, net_minor: net } }: Props) {
  if (isUnpaid(status)) return <span className="text-muted">nothing</span>;
  return <Money of={{ amount_minor: net, currency, exponent }} />;
}
