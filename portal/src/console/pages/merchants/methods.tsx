// A merchant's methods: which are on, how much one payment may be, and their prices.
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { useMay } from "../../api/rights.ts";
import { Amount } from "./amount.tsx";
import type { Merchant } from "./change.tsx";
import { ChangeMethod } from "./change-method.tsx";
import { Plain } from "./plain.tsx";
import { DEFAULT_CURRENCY, type Fee, type Method, feesOf, methodsOf } from "./prices.ts";

const heads = [
  { head: "Method" },
  { head: "State" },
  { head: "Largest payment", from: "wide" },
  { head: "Price of a payment" },
] as const;
const change = { head: "Change", align: "right" } as const;

export function Methods({ of: merchant }: { of: Merchant }) {
  const isAdmin = useMay()("admin");
  const [changing, setChanging] = useState<Method | undefined>(undefined);
  return (
    <Section title="Methods and prices">
      <Plain
        label="Prices"
        heads={[...heads, ...(isAdmin ? [change] : [])]}
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
