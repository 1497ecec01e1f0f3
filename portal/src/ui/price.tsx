// The price of a payment: a share, a flat part, and the bounds of both together.
import type { ReactNode } from "react";
import { digitsOf } from "./money.tsx";

interface Props {
  of: { basis_points: number; flat_minor: number; minimum_minor?: number | null; maximum_minor?: number | null };
  /** Named before a share, which says by itself of no currency; undefined where there is one currency only. */
  currency: string | undefined;
  money: (minor: number) => ReactNode;
  /** The share is written as the amounts beside it. */
  language: "en" | "id";
}

export function Price({ of: price, currency, money, language }: Props) {
  const { basis_points: points, flat_minor: flat, minimum_minor: minimum, maximum_minor: maximum } = price;
  return (
    <>
      {points > 0 && currency !== undefined && <span className="text-xs text-muted">{currency} </span>}
      {points > 0 && `${digitsOf(points, 2, language)} %`}
      {points > 0 && flat > 0 && " + "}
      {(flat > 0 || points === 0) && money(flat)}
      {typeof minimum === "number" && <span className="text-muted"> at least {money(minimum)}</span>}
      {typeof maximum === "number" && <span className="text-muted"> at most {money(maximum)}</span>}
    </>
  );
}
