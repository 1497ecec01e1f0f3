// When a merchant is paid out: where its day ends, how long it takes, and the days without a batch.
import { useState } from "react";
import { spanOf } from "../../../pages/sandbox/clock/span.ts";
import { Button } from "../../../ui/button.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { ChoicesField, TextField } from "../../../ui/form.tsx";
import { Section } from "../../../ui/page.tsx";
import { closedOn, daysToBatch, offsetOf, weekdays } from "../../../ui/settlement-days.ts";
import { Day } from "../../../ui/time.tsx";
import { useMay } from "../../api/rights.ts";
import { Amount } from "./amount.tsx";
import { AmountField, ChangeDialog, type Merchant, NumberField, useAmounts } from "./change.tsx";
import { DEFAULT_CURRENCY } from "./prices.ts";

export function Schedule({ of: merchant }: { of: Merchant }) {
  const isAdmin = useMay()("admin");
  const [open, setOpen] = useState(false);
  const { settlement } = merchant;
  return (
    <Section
      title="Settlement calendar"
      actions={isAdmin && <Button onClick={() => setOpen(true)}>Change the calendar…</Button>}
    >
      <Facts>
        <Fact name="A day ends">
          {settlement.cutoff} (UTC{offsetOf(settlement.utc_offset_minutes)})
        </Fact>
        <Fact name="Put into a batch">T+{daysToBatch(settlement)}</Fact>
        <Fact name="Closed on">{closedOn(settlement.closed_weekdays)}</Fact>
        <Fact name="From a batch to its payout">{spanOf(settlement.pay_after_seconds)}</Fact>
        <Fact name={`Smallest payout in ${DEFAULT_CURRENCY}`}>
          <Amount minor={settlement.minimum_payout_minor} currency={DEFAULT_CURRENCY} />
        </Fact>
        {Object.entries(settlement.minimum_payout_minor_per_currency).map(([currency, minor]) => (
          <Fact key={currency} name={`Smallest payout in ${currency}`}>
            <Amount minor={minor} currency={currency} />
          </Fact>
        ))}
        <Fact name="Holidays">
          {settlement.holidays.length === 0
            ? "none"
            : settlement.holidays.map((day) => (
                <span key={day} className="ml-3 inline-block">
                  <Day on={day} />
                </span>
              ))}
        </Fact>
      </Facts>
      {open && <ChangeSchedule of={merchant} close={() => setOpen(false)} />}
    </Section>
  );
}

function ChangeSchedule({ of: merchant, close }: { of: Merchant; close: () => void }) {
  const { settlement, currencies } = merchant;
  const others = currencies.filter((currency) => currency !== DEFAULT_CURRENCY);
  const minimumOf = (currency: string): string => `settlement.minimum_payout_minor_per_currency.${currency}`;
  const { typedOf, minorIn } = useAmounts();
  const minima = others.map((currency) => [
    minimumOf(currency),
    typedOf(settlement.minimum_payout_minor_per_currency[currency], currency),
  ]);
  return (
    <ChangeDialog
      of={merchant}
      title="Settlement calendar"
      close={close}
      values={{
        "settlement.cutoff": settlement.cutoff,
        "settlement.utc_offset_minutes": String(settlement.utc_offset_minutes),
        "settlement.delay_days": String(settlement.delay_days),
        "settlement.closed_weekdays": settlement.closed_weekdays.map((day) => weekdays[day]).join(" "),
        "settlement.holidays": settlement.holidays.join("\n"),
        "settlement.minimum_payout_minor": typedOf(settlement.minimum_payout_minor, DEFAULT_CURRENCY),
        ...(Object.fromEntries(minima) as Record<string, string>),
        "settlement.pay_after_seconds": String(settlement.pay_after_seconds),
      }}
      changeOf={(typed) => ({
        settlement: {
          cutoff: (typed["settlement.cutoff"] ?? "").trim(),
          utc_offset_minutes: Number(typed["settlement.utc_offset_minutes"]),
          delay_days: Number(typed["settlement.delay_days"]),
          closed_weekdays: wordsIn(typed["settlement.closed_weekdays"]).map((day) => weekdays.indexOf(day)),
          holidays: wordsIn(typed["settlement.holidays"]),
          minimum_payout_minor: minorIn(typed["settlement.minimum_payout_minor"], DEFAULT_CURRENCY) ?? 0,
          minimum_payout_minor_per_currency: Object.fromEntries(
            // A currency that is left out keeps what it has: an emptied field is sent as none.
            others.map((currency) => [currency, minorIn(typed[minimumOf(currency)], currency) ?? 0]),
          ),
          pay_after_seconds: Number(typed["settlement.pay_after_seconds"]),
        },
      })}
    >
      <TextField name="settlement.cutoff" label="The day ends at" placeholder="23:00" autoComplete="off" mono />
      <NumberField
        name="settlement.utc_offset_minutes"
        label="Of a clock so many minutes ahead of UTC"
        hint="Jakarta: 420."
      />
      <NumberField
        name="settlement.delay_days"
        label="Days until it is in a batch"
        hint="Calendar days, the n of T+n. A batch that falls on a closed day is formed on the next open one. 0 is the same as 1 if the day ends at 00:00."
      />
      <ChoicesField name="settlement.closed_weekdays" label="Closed on" options={weekdays} />
      <TextField
        name="settlement.holidays"
        label="Holidays"
        lines={4}
        placeholder="2027-01-01"
        hint="One day per line, as YYYY-MM-DD. No batch is formed on these days."
        mono
      />
      <AmountField
        name="settlement.minimum_payout_minor"
        label={`Smallest payout in ${DEFAULT_CURRENCY}`}
        currency={DEFAULT_CURRENCY}
        hint="Smaller amounts wait for the next batch."
      />
      {others.map((currency) => (
        <AmountField
          key={currency}
          name={minimumOf(currency)}
          label={`Smallest payout in ${currency}`}
          currency={currency}
          optional
        />
      ))}
      <NumberField name="settlement.pay_after_seconds" label="Seconds from a batch to its payout" />
    </ChangeDialog>
  );
}

const wordsIn = (text = ""): string[] => text.split(/[\s,]+/).filter(Boolean);
