// A merchant's currencies: the largest payment in each, whether its wallet is frozen, and how often it may ask.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh } from "../../../api/action.ts";
import { Digits } from "../../../pages/balances/digits.tsx";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/dialog.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { say } from "../../../ui/toast.tsx";
import { write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { AddCurrency } from "./add-currency.tsx";
import { Amount } from "./amount.tsx";
import {
  AmountField,
  type Change,
  ChangeDialog,
  type Merchant,
  NumberField,
  useAmounts,
  useAsOpened,
} from "./change.tsx";
import { Plain } from "./plain.tsx";
import { DEFAULT_CURRENCY } from "./prices.ts";

const change = { head: "Change", align: "right" } as const;

interface Asked {
  title: string;
  text: string;
  verb: string;
  change: Change;
}

const maximumOf = (merchant: Merchant, currency: string): number | undefined =>
  currency === DEFAULT_CURRENCY ? merchant.max_amount_minor : merchant.max_amount_minor_per_currency[currency];

export function Limits({ of: merchant }: { of: Merchant }) {
  const isAdmin = useMay()("admin");
  const [open, setOpen] = useState<"limits" | "currency" | undefined>(undefined);
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const { currencies, wallet_frozen: frozen, rate_limit_per_minute: rate } = merchant;
  return (
    <Section
      title="Currencies and limits"
      actions={
        isAdmin && (
          <>
            <Button onClick={() => setOpen("currency")}>Add a currency…</Button>
            <Button onClick={() => setOpen("limits")}>Change limits…</Button>
          </>
        )
      }
    >
      <Plain
        label="Currencies"
        heads={[
          { head: "Currency" },
          { head: "Largest payment" },
          { head: "Wallet", from: "wide" },
          ...(isAdmin ? [change] : []),
        ]}
        rows={currencies.map((currency) => {
          const maximum = maximumOf(merchant, currency);
          const wallet = (
            <Status status={frozen[currency] ? "frozen" : "open"} tone={frozen[currency] ? "bad" : "good"} />
          );
          return {
            key: currency,
            cells: [
              // On a phone the wallet has no room for a column.
              <span key="currency">
                {currency} <span className="block sm:hidden">{wallet}</span>
              </span>,
              maximum !== undefined && <Amount minor={maximum} currency={currency} />,
              wallet,
              ...(isAdmin
                ? [
                    <span key="change" className="inline-flex flex-wrap justify-end gap-1">
                      <Button
                        look="quiet"
                        className="max-sm:px-1"
                        label={frozen[currency] ? `Open the ${currency} wallet` : `Freeze the ${currency} wallet`}
                        onClick={() => setAsked(freezing(merchant, currency))}
                      >
                        {frozen[currency] ? "Open…" : "Freeze…"}
                      </Button>
                      {currencies.length > 1 && (
                        <Button
                          look="quiet"
                          className="max-sm:px-1"
                          label={`Take ${currency} away`}
                          onClick={() => setAsked(takingAway(merchant, currency))}
                        >
                          Take away…
                        </Button>
                      )}
                    </span>,
                  ]
                : []),
            ],
          };
        })}
      />
      <p className="mt-2 text-muted">
        At most <Digits minor={rate} exponent={0} /> requests a minute for each credential.
      </p>
      {open === "limits" && <ChangeLimits of={merchant} close={() => setOpen(undefined)} />}
      {open === "currency" && <AddCurrency of={merchant} close={() => setOpen(undefined)} />}
      {asked && <Ask of={merchant} asked={asked} close={() => setAsked(undefined)} />}
    </Section>
  );
}

function freezing({ wallet_frozen: frozen, name }: Merchant, currency: string): Asked {
  if (frozen[currency])
    return {
      title: `Open the ${currency} wallet?`,
      text: `What ${name} has in ${currency} can be refunded, gathered into batches and recorded as paid out again.`,
      verb: "Open the wallet",
      change: { wallet_frozen: { [currency]: false } },
    };
  return {
    title: `Freeze the ${currency} wallet?`,
    text: `Nothing in ${currency} is refunded, gathered into batches or recorded as paid out until you open it again. A transfer that the bank already has is not stopped: record it once the wallet is open. ${name} can still take payments.`,
    verb: "Freeze the wallet",
    change: { wallet_frozen: { [currency]: true } },
  };
}

function takingAway({ currencies, name }: Merchant, currency: string): Asked {
  return {
    title: `Take ${currency} away?`,
    text: `No new payment can be made in ${currency}, and no payment in it can be refunded until you add it again. Open payments can still be paid, and what ${name} has in it is still paid out.`,
    verb: `Take ${currency} away`,
    change: { currencies: currencies.filter((one) => one !== currency) },
  };
}

function Ask({ of: merchant, asked, close }: { of: Merchant; asked: Asked; close: () => void }) {
  const { merchant_id: id } = merchant;
  const queries = useQueryClient();
  const compare = useAsOpened(merchant);
  const confirm = async (): Promise<void> => {
    if (asked.change.currencies) await compare(); // the others stand in it, too
    await write("PATCH", "/v1/merchants/{id}", { path: { id }, body: asked.change });
    await refresh(queries, ["/v1/merchants", "/v1/audit"]);
    say("The change takes effect in every process within a second.");
  };
  return (
    <Confirm open onClose={close} title={asked.title} verb={asked.verb} onConfirm={confirm}>
      <p>{asked.text}</p>
    </Confirm>
  );
}

function ChangeLimits({ of: merchant, close }: { of: Merchant; close: () => void }) {
  const { currencies, rate_limit_per_minute: rate } = merchant;
  const { typedOf, minorIn } = useAmounts();
  const nameOf = (currency: string): string => `max_amount_minor.${currency}`;
  const values = Object.fromEntries(
    currencies.map((currency) => [nameOf(currency), typedOf(maximumOf(merchant, currency), currency)]),
  );
  return (
    <ChangeDialog
      of={merchant}
      title="Limits"
      values={{ rate_limit_per_minute: String(rate), ...values }}
      changeOf={(typed) => ({
        rate_limit_per_minute: Number(typed.rate_limit_per_minute),
        max_amount_minor: Object.fromEntries(
          currencies.map((currency) => [currency, minorIn(typed[nameOf(currency)], currency) ?? 0]),
        ),
      })}
      close={close}
    >
      {currencies.map((currency) => (
        <AmountField
          key={currency}
          name={nameOf(currency)}
          label={`Largest payment in ${currency}`}
          currency={currency}
          positive
        />
      ))}
      <NumberField name="rate_limit_per_minute" label="Requests a minute" hint="For each credential." />
    </ChangeDialog>
  );
}
