// How payment links are told in lists and on their page: what one asks for, and how it stands.
import type { Schema } from "../../api/types.ts";
import { Money, digitsOf } from "../../ui/money.tsx";
import { Status } from "../../ui/status.tsx";
import { useLanguage } from "../../words.ts";

type PaymentLink = Schema<"PaymentLink">;

/** The amount; or within what bounds the payer says it. */
export function Asked({ of: link }: { of: PaymentLink }) {
  const language = useLanguage();
  const { amount_minor: fixed, minimum_minor: least, maximum_minor: most, currency, exponent } = link;
  if (fixed !== null) return <Money of={{ amount_minor: fixed, currency, exponent }} />;
  const written = (minor: number): string => digitsOf(minor, exponent, language);
  const bounds =
    least !== null && most !== null
      ? `${written(least)} to ${written(most)}`
      : least !== null
        ? `from ${written(least)}`
        : most !== null
          ? `up to ${written(most)}`
          : "any amount";
  return (
    <span>
      <span className="mr-1 text-xs text-muted">{currency}</span>
      {bounds}
    </span>
  );
}

/** An active link is well: it waits for nobody in particular. */
export function LinkStatus({ of: { status } }: { of: PaymentLink }) {
  return <Status status={status} tone={status === "active" ? "good" : status === "paid" ? "good" : "calm"} />;
}
