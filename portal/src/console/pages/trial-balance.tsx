// The trial balance: every account of all merchants' books at both ends of a period, for whoever closes a month.
import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../api/action.ts";
import { Digits, sumOf } from "../../pages/balances/digits.tsx";
import { withSearch } from "../../paths.ts";
import { AccountName } from "../../ui/account.tsx";
import { Answer } from "../../ui/answer.tsx";
import { Button } from "../../ui/button.tsx";
import { save } from "../../ui/download.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/face.tsx";
import { Filters, day, useFilters } from "../../ui/filters.tsx";
import { dayBegin, dayEnd } from "../../ui/days.ts";
import { To } from "../../ui/link.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Day, useTimeZone } from "../../ui/time.tsx";
import { type Schema, download, read } from "../api/client.ts";
import { at } from "../paths.ts";
import { EnvironmentSwitch, useEnvironment } from "./calendar/environment.tsx";
import { monthBefore, monthSoFar, todayIn } from "./calendar/days.ts";
import { Plain } from "./merchants/plain.tsx";

const spec = { from: day("From", "begin"), to: day("To", "end") };

export function Page() {
  const environment = useEnvironment();
  const timeZone = useTimeZone();
  const filters = useFilters(spec);
  const thisMonth = monthSoFar(todayIn(timeZone));
  const { from = thisMonth.from, to = thisMonth.to } = filters.chosen;
  const days = { from, to };
  const query = { environment, from: dayBegin(days.from, timeZone), to: dayEnd(days.to, timeZone) };
  const trial = useQuery(read("/v1/trial-balance", { query }));
  const csv = useAction(
    async () => {
      save(
        await download(withSearch("/v1/trial-balance.csv", query)),
        `trial-balance-${environment}-${days.from}-${days.to}.csv`,
      );
      return true;
    },
    { refresh: ["nothing"] },
  );
  return (
    <Frame
      title="Trial balance"
      lead={
        <>
          Every account, added up over all merchants, from <Day on={days.from} /> to <Day on={days.to} />, whole days in{" "}
          {timeZone}. Debits are positive; in each currency the accounts sum to zero.
          {environment === "sandbox" &&
            " A sandbox whose clock was moved on has booked on later days: choose them, too."}
        </>
      }
      actions={
        <>
          <EnvironmentSwitch of={environment} to={(other) => at.trialBalance(other, days)} />
          <Button onClick={() => csv.run(undefined)}>Download CSV, book by book</Button>
        </>
      }
      curl={{ path: withSearch("/v1/trial-balance", query) }}
    >
      <div>
        <Filters of={{ ...filters, chosen: days }} />
        <p className="flex gap-4">
          <To to={at.trialBalance(environment, monthBefore(thisMonth.from))}>Last month</To>
          <To to={at.trialBalance(environment, thisMonth)}>This month so far</To>
        </p>
        {csv.error && <ErrorNote error={csv.error} />}
      </div>
      <Answer of={trial}>
        {({ currencies }) => (
          <>
            {currencies.length === 0 && (
              <Empty title={`No money has moved in ${environment}`}>
                The first payment that succeeds writes the first journal of its merchant's book.
              </Empty>
            )}
            {currencies.map((one) => (
              <Section key={one.currency} title={one.currency}>
                <Accounts of={one} />
              </Section>
            ))}
          </>
        )}
      </Answer>
    </Frame>
  );
}

const holds: [account: RegExp, what: string][] = [
  [/^acquirer:/, "collected, and owed by the acquirer"],
  [/^merchant:available$/, "owed to merchants: to settle or refund"],
  [/^merchant:held$/, "owed to merchants: held by disputes"],
  [/^merchant:settling$/, "owed to merchants: in batches that the bank has not paid"],
  [/^platform:fees$/, "fees earned"],
  [/^platform:bank$/, "paid out"],
  [/^platform:unapplied$/, "came in for no payment, and waits for a decision"],
];

function Accounts({ of: { currency, exponent, accounts } }: { of: Schema<"TrialBalanceCurrency"> }) {
  const sums = (["opening_minor", "added_minor", "closing_minor"] as const).map((name) =>
    sumOf(accounts.map(({ [name]: minor }) => minor)),
  );
  return (
    <Plain
      label={`Accounts in ${currency}`}
      heads={[
        { head: "Account" },
        { head: "Opening", align: "right", from: "wide" },
        { head: "Added", align: "right" },
        { head: "Closing", align: "right" },
      ]}
      rows={[
        ...accounts.map(({ account, opening_minor: opening, added_minor: added, closing_minor: closing }) => ({
          key: account,
          cells: [
            <span key="account">
              <span className="font-mono text-xs font-normal">
                <AccountName name={account} />
              </span>
              <span className="block text-xs font-normal text-muted">
                {holds.find(([name]) => name.test(account))?.[1]}
              </span>
            </span>,
            <Digits key="opening" minor={opening} exponent={exponent} />,
            <Digits key="added" minor={added} exponent={exponent} />,
            <span key="closing" className="font-medium">
              <Digits minor={closing} exponent={exponent} />
            </span>,
          ],
        })),
        {
          key: "sum",
          cells: ["Sum", ...sums.map((minor, at) => <Digits key={at} minor={minor} exponent={exponent} />)],
        },
      ]}
    />
  );
}
