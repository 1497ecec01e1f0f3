// The totals of every account of a book in one currency; each leads to the entries behind it.
import { Digits } from "../../../pages/balances/digits.tsx";
import { AccountName } from "../../../ui/account.tsx";
import { To } from "../../../ui/link.tsx";
import type { Schema } from "../../api/client.ts";
import { at } from "../../paths.ts";

interface Props {
  of: Schema<"CurrencyTotals">;
  id: string;
  environment: string;
}

export function Totals({ of: { currency, exponent, accounts }, id, environment }: Props) {
  const cell = "border-t border-line px-3 py-1.5 text-right whitespace-nowrap";
  const head = "px-3 py-2 text-right font-medium";
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={`Totals in ${currency}`}
      className="overflow-x-auto rounded-md border border-line bg-panel"
    >
      <table className="w-full border-collapse">
        <thead className="text-xs text-muted">
          <tr>
            <th scope="col" className="px-3 py-2 pl-4 text-left font-medium">
              Account
            </th>
            <th scope="col" className={`${head} hidden sm:table-cell`}>
              Debit
            </th>
            <th scope="col" className={`${head} hidden sm:table-cell`}>
              Credit
            </th>
            <th scope="col" className={`${head} pr-4`}>
              Balance
            </th>
          </tr>
        </thead>
        <tbody>
          {accounts.map(({ account, debit_minor: debit, credit_minor: credit, balance_minor: balance }) => (
            <tr key={account}>
              <th scope="row" className="border-t border-line px-3 py-1.5 pl-4 text-left font-normal">
                <To
                  to={at.entries(id, environment, currency, account)}
                  className="inline-flex min-h-6 items-center font-mono text-xs wrap-anywhere hover:underline"
                >
                  <AccountName name={account} />
                </To>
              </th>
              <td className={`${cell} hidden sm:table-cell`}>
                <Digits minor={debit} exponent={exponent} />
              </td>
              <td className={`${cell} hidden sm:table-cell`}>
                <Digits minor={credit} exponent={exponent} />
              </td>
              <td className={`${cell} pr-4 font-medium`}>
                <Digits minor={balance} exponent={exponent} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
