// A merchant's methods: which are on, how much one payment may be, and their prices.
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import type { Schema } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { Amount, DEFAULT_CURRENCY } from "./amount.tsx";
import type { Merchant } from "./change.tsx";
import { ChangeMethod } from "./change-method.tsx";
import { Plain } from "./plain.tsx";

export type Method = Schema<"PaymentMethod">;
type Fee = Schema<"CurrencyFee">;

export const methodsOf = ({ methods }: Merchant): Method[] => Object.keys(methods) as Method[];

/** The prices of a method: the default currency's first. */
export function feesOf({ fees }: Merchant, method: Method): [currency: string, fee: Fee][] {
  const { per_currency: others = {}, ...own } = fees[method];
  return [[DEFAULT_CURRENCY, others[DEFAULT_CURRENCY] ?? own], ...othersOf(others)];
}

function othersOf(fees: Record<string, Fee>): [string, Fee][] {
  return Object.entries(fees).filter(([currency]) => currency !== DEFAULT_CURRENCY);
}

export function Methods({ of: merchant }: { of: Merchant }) {
  const isAdmin = useMay()("admin");
  const [changing, setChanging] = useState<Method | undefined>(undefined);
  return (
    <Section title="Methods and prices">
      <Plain
        label="Methods and prices"
        heads={["Method", "State", "Largest payment", "Price of a payment", ...(isAdmin ? ["Change"] : [])]}
        rows={methodsOf(merchant).map((method) => {
          const { enabled, max_amount_minor: maximum } = merchant.methods[method];
          return {
            key: method,
            cells: [
              method.replaceAll("_", " "),
              <Status key="state" status={enabled ? "on" : "off"} tone={enabled ? "good" : "calm"} />,
              maximum === undefined ? (
                <span className="text-muted">the merchant's</span>
              ) : (
                <Amount minor={maximum} currency={DEFAULT_CURRENCY} />
              ),
              feesOf(merchant, method).map(([currency, fee]) => (
                <div key={currency}>
                  <Price currency={currency} fee={fee} />
                </div>
              )),
              ...(isAdmin
                ? [
                    <Button
                      key="change"
                      look="quiet"
                      label={`Change ${method.replaceAll("_", " ")}`}
                      onClick={() => setChanging(method)}
                    >
                      Change…
                    </Button>,
                  ]
                : []),
            ],
          };
        })}
      />
      {changing && <ChangeMethod of={merchant} method={changing} close={() => setChanging(undefined)} />}
    </Section>
  );
}

function Price({ currency, fee }: { currency: string; fee: Fee }) {
  const { basis_points: points, flat_minor: flat, minimum_minor: minimum, maximum_minor: maximum } = fee;
  const money = (minor: number) => <Amount minor={minor} currency={currency} />;
  return (
    <>
      {points > 0 && `${(points / 100).toFixed(2)} %`}
      {points > 0 && flat > 0 && " + "}
      {(flat > 0 || points === 0) && money(flat)}
      {minimum !== undefined && <span className="text-muted"> at least {money(minimum)}</span>}
      {maximum !== undefined && <span className="text-muted"> at most {money(maximum)}</span>}
    </>
  );
}
