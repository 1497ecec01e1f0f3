// What is worth seeing of some steps: what was asked for, what an acquirer was asked, and what went into a settlement.
import type { Schema } from "../../../api/types.ts";
import { To } from "../../../ui/link.tsx";
import { type Amount, Money } from "../../../ui/money.tsx";
import { times } from "../../../ui/times.ts";

/** `page`: where the reader decides about money that no payment awaited. */
export function Received({ of, page }: { of: Schema<"StoryReceived">; page: string | undefined }) {
  return (
    <>
      <p className="text-muted">
        Transaction <code className="font-mono text-xs break-all">{of.transaction_id}</code>, {of.status}
      </p>
      {of.status === "unapplied" && (
        <p>
          It came too late, twice, or in another amount, so it matches no open payment.{" "}
          {page === undefined ? (
            "The operator of the gateway decides whether it is yours or goes back to the payer. Tell them what you know about it."
          ) : (
            <To to={page}>Decide whose it is</To>
          )}
        </p>
      )}
    </>
  );
}

export function Called({ of }: { of: Schema<"StoryCalled"> }) {
  const { attempt, inquiries, step, refused_by: refusedBy } = of;
  return (
    <p className="text-muted">
      Attempt {attempt}, {step}
      {inquiries > 0 && `, inquired ${times(inquiries)}`}
      {refusedBy.length > 0 && `, refused by ${refusedBy.join(", ")}`}
    </p>
  );
}

export function Asked({ of, owner }: { of: Schema<"StoryAsked">; owner: string }) {
  const pairs = Object.entries(of.metadata);
  const payer = [of.customer?.name, of.customer?.email, of.customer?.phone].filter((text) => text !== undefined);
  return (
    <>
      <p>
        {of.payment_method.replaceAll("_", " ")}, {owner} reference <span className="break-all">{of.reference_id}</span>
        {of.description !== null && of.description !== "" && <span className="text-muted"> · {of.description}</span>}
      </p>
      {payer.length > 0 && <p className="break-all text-muted">Payer: {payer.join(", ")}</p>}
      {pairs.length > 0 && (
        <ul aria-label="Metadata" className="flex flex-wrap gap-1.5 text-xs">
          {pairs.map(([name, value]) => (
            <li key={name} className="max-w-full truncate rounded border border-line px-1.5">
              <span className="text-muted">{name}</span> {value}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

export function Part({ of }: { of: Schema<"StorySettled"> }) {
  const { currency, exponent } = of.settlement;
  const money = (amount: number): Amount => ({ amount_minor: amount, currency, exponent });
  const takes = of.kind === "refund" || of.kind === "dispute";
  return (
    <p className="text-muted">
      The {of.kind} {takes ? "took" : "put in"} <Money of={money(of.amount_minor)} />
      {of.fee_minor > 0 && (
        <>
          , less the fee of <Money of={money(of.fee_minor)} />
        </>
      )}
    </p>
  );
}
