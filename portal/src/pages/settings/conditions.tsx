// What the operator has set for the merchant: currencies, prices, payouts and limits.
import type { Schema } from "../../api/types.ts";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Money, digitsOf } from "../../ui/money.tsx";
import { Price } from "../../ui/price.tsx";
import { closedOn, daysToBatch, offsetOf } from "../../ui/settlement-days.ts";
import { Status } from "../../ui/status.tsx";
import { Day } from "../../ui/time.tsx";
import { useLanguage } from "../../words.ts";
import { spanOf } from "../sandbox/clock/span.ts";

type Settings = Schema<"MerchantSettings">;
type Method = Settings["payment_methods"][number];
type Fee = Method["fees"][number];

export function Conditions({ settings }: { settings: Settings }) {
  const language = useLanguage();
  const { payment_methods: methods, currencies, settlement, rate_limit_per_minute: limit } = settings;
  return (
    <div className="space-y-4">
      <div
        tabIndex={0}
        role="region"
        aria-label="Methods and prices"
        className="overflow-x-auto rounded-md border border-line bg-panel"
      >
        <table className="w-full border-collapse text-left">
          <thead className="border-b border-line text-xs text-muted">
            <tr>
              <th scope="col" className="px-4 py-2 font-medium">
                Method
              </th>
              <th scope="col" className="px-3 py-2 font-medium">
                State
              </th>
              <th scope="col" className="px-4 py-2 text-right font-medium">
                Price of a payment
              </th>
            </tr>
          </thead>
          <tbody>
            {methods.map(({ payment_method: method, enabled, fees }) => (
              <tr key={method} className="border-b border-line last:border-b-0">
                <th scope="row" className="px-4 py-1.5 font-medium">
                  {method.replaceAll("_", " ")}
                </th>
                <td className="px-3 py-1.5">
                  <Status status={enabled ? "on" : "off"} tone={enabled ? "good" : "calm"} />
                </td>
                <td className="px-4 py-1.5 text-right">
                  {fees.map((fee) => (
                    <div key={fee.currency}>
                      <Price
                        of={fee}
                        currency={fees.length > 1 ? fee.currency : undefined}
                        money={moneyIn(fee)}
                        language={language}
                      />
                    </div>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Facts>
        {currencies.map((one) => (
          <Fact key={one.currency} name={`Largest payment in ${one.currency}`}>
            <Money of={{ ...one, amount_minor: one.max_amount_minor }} />
          </Fact>
        ))}
        <Fact name="Put into a batch">
          {delayOf(settlement)}; a day ends at {settlement.cutoff} (UTC{offsetOf(settlement.utc_offset_minutes)})
        </Fact>
        <Fact name="No batch on">
          {closedOn(settlement.closed_weekdays)}
          {settlement.holidays.toSorted().map((day) => (
            <span key={day}>
              , <Day on={day} />
            </span>
          ))}
        </Fact>
        <Fact name="From a batch to its payout">{spanOf(settlement.pay_after_seconds)}</Fact>
        {currencies.map((one) => (
          <Fact key={one.currency} name={`Smallest payout in ${one.currency}`}>
            <Money of={{ ...one, amount_minor: one.minimum_payout_minor }} />
          </Fact>
        ))}
        <Fact name="Requests a minute">{digitsOf(limit, 0, language)} of each key and person</Fact>
      </Facts>
    </div>
  );
}

const moneyIn =
  ({ currency, exponent }: Fee) =>
  (minor: number) => <Money of={{ amount_minor: minor, currency, exponent }} />;

function delayOf(settlement: Settings["settlement"]): string {
  const days = daysToBatch(settlement);
  return days === 0
    ? "the day of the payment (T+0)"
    : `${days} ${days === 1 ? "day" : "days"} after the payment (T+${days})`;
}
