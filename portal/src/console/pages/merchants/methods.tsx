// A merchant's methods: which are on, how much one payment may be, and their prices.
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Section } from "../../../ui/page.tsx";
import { Price } from "../../../ui/price.tsx";
import { Status } from "../../../ui/status.tsx";
import { useLanguage } from "../../../words.ts";
import { useMay } from "../../api/rights.ts";
import { Amount } from "./amount.tsx";
import type { Merchant } from "./change.tsx";
import { ChangeMethod } from "./change-method.tsx";
import { Plain } from "./plain.tsx";
import { DEFAULT_CURRENCY, type Method, feesOf, methodsOf } from "./prices.ts";

const heads = [
  { head: "Method" },
  { head: "State" },
  { head: "Largest payment", from: "wide" },
  { head: "Price of a payment" },
] as const;
const change = { head: "Change", align: "right" } as const;

export function Methods({ of: merchant }: { of: Merchant }) {
  const isAdmin = useMay()("admin");
  const language = useLanguage();
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
              feesOf(merchant, method).map(([currency, fee], _, { length }) => (
                <div key={currency}>
                  <Price
                    of={fee}
                    currency={length > 1 ? currency : undefined}
                    money={(minor) => <Amount minor={minor} currency={currency} />}
                    language={language}
                  />
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
