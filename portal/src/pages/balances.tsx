// Balances: what is yours in each currency, the accounts behind it, and the whole book to take along.
import { useQuery } from "@tanstack/react-query";
import { useApi, useCan, usePlace } from "../api/place.ts";
import type { Schema } from "../api/types.ts";
import { paths, withSearch } from "../paths.ts";
import { AccountName } from "../ui/account.tsx";
import { Answer } from "../ui/answer.tsx";
import { To } from "../ui/link.tsx";
import { Page as Frame, Section } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { Digits } from "./balances/digits.tsx";
import { ExportButtons } from "./balances/export-buttons.tsx";

const figures = [
  ["available", "available_minor", "Available", "To be refunded or paid out"],
  ["held", "held_minor", "Held", "For open disputes"],
  ["pending_settlement", "pending_settlement_minor", "On its way", "In batches that are not paid out yet"],
] as const;

export function Page() {
  const api = useApi();
  const may = useCan()("balances:read");
  const balances = useQuery(api.read("/v1/balances"));
  // Whoever may not read it is told so once, by the answer about the balances.
  const book = useQuery({ ...api.read("/v1/accounts"), enabled: may });
  return (
    <Frame
      title="Balances"
      lead="What is yours. Follow any figure down to the entries behind it."
      curl={{ path: "/v1/balances" }}
    >
      <Answer of={balances}>
        {({ data, as_of: asOf }) => (
          <div className="space-y-4">
            {data.map((balance) => (
              <Balance key={balance.currency} of={balance} />
            ))}
            <p className="text-xs text-muted">
              As of <Time at={asOf} />
            </p>
          </div>
        )}
      </Answer>
      {may && (
        <Section title="The book" actions={<ExportButtons />}>
          <Answer of={book}>{(book) => <Book of={book} />}</Answer>
        </Section>
      )}
    </Frame>
  );
}

function Balance({ of: balance }: { of: Schema<"Balance"> }) {
  const place = usePlace();
  const { currency, exponent } = balance;
  return (
    <section aria-label={`Balance in ${currency}`} className="rounded-md border border-line bg-panel">
      <div className="grid divide-y divide-line sm:grid-cols-3 sm:divide-x sm:divide-y-0">
        {figures.map(([name, field, label, meaning]) => (
          <div key={name} className="px-4 py-3">
            <p className="font-medium">{label}</p>
            <p className="text-xs text-muted">
              {(balance[field] ?? 0) < 0
                ? "Lost or open disputes took more than was there: what is paid next makes up for it"
                : meaning}
            </p>
            <p className="mt-1.5 text-lg">
              <To
                to={withSearch(paths.balance(place, currency), { figure: name === "available" ? undefined : name })}
                className="font-semibold text-ink hover:underline"
              >
                <span className="mr-1 text-xs font-normal text-muted">{currency}</span>
                <Digits minor={balance[field]} exponent={exponent} />
              </To>
            </p>
          </div>
        ))}
      </div>
      <p className="border-t border-line px-4 py-2">
        <To to={paths.statement(place, currency)} className="link">
          Statement of a month
        </To>
      </p>
    </section>
  );
}

function Book({ of: { currencies, journals } }: { of: Schema<"Book"> }) {
  const place = usePlace();
  const cell = "border-t border-line px-3 py-1.5 text-right whitespace-nowrap first:pl-4 last:pr-4";
  return (
    <>
      <div
        tabIndex={0}
        role="region"
        aria-label="Accounts"
        className="overflow-x-auto rounded-md border border-line bg-panel"
      >
        <table className="w-full border-collapse">
          <thead className="text-xs text-muted">
            <tr>
              <th scope="col" className="px-3 py-2 pl-4 text-left font-medium">
                Account
              </th>
              <th scope="col" className="hidden px-3 py-2 text-right font-medium sm:table-cell">
                Debits
              </th>
              <th scope="col" className="hidden px-3 py-2 text-right font-medium sm:table-cell">
                Credits
              </th>
              <th scope="col" className="px-3 py-2 pr-4 text-right font-medium">
                Balance
              </th>
            </tr>
          </thead>
          <tbody>
            {currencies.flatMap(({ currency, exponent, accounts }) =>
              accounts.map((one) => (
                <tr key={`${currency} ${one.account}`}>
                  <td className="border-t border-line px-3 py-1.5 pl-4">
                    <To
                      to={withSearch(paths.balance(place, currency), { account: one.account })}
                      className="font-mono text-xs wrap-anywhere text-ink hover:underline"
                    >
                      <AccountName name={one.account} />
                    </To>
                    <span className="ml-2 text-xs text-muted">{currency}</span>
                  </td>
                  <td className={`${cell} hidden sm:table-cell`}>
                    <Digits minor={one.debit_minor} exponent={exponent} />
                  </td>
                  <td className={`${cell} hidden sm:table-cell`}>
                    <Digits minor={one.credit_minor} exponent={exponent} />
                  </td>
                  <td className={cell}>
                    <Digits minor={one.balance_minor} exponent={exponent} />
                  </td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
      <p className="mt-2 text-muted">
        {journals} {journals === 1 ? "journal" : "journals"}. Debits are positive, so money that is yours appears here
        as a credit, below zero. All accounts in a currency sum to zero.
      </p>
    </>
  );
}
