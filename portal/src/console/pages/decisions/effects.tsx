// What a decision would do to the book: each account before and after, in the words of who runs the gateway.
import type { Schema } from "../../api/client.ts";
import { Money, digitsOf } from "../../../ui/money.tsx";
import { useLanguage } from "../../../words.ts";

type Effect = Schema<"ApprovalEffect">;
type Totals = Schema<"BookNow">;

const words: Record<string, string> = {
  "merchant:available": "Merchant, available",
  "merchant:held": "Merchant, held by disputes",
  "merchant:settling": "Merchant, in payout",
  "platform:fees": "Platform, fees",
  "platform:bank": "Paid out by the bank",
  "platform:unapplied": "Money not assigned yet",
};

/** What an account is called. */
function accountName(account: string): string {
  const [, code] = /^acquirer:(\w+):receivable$/.exec(account) ?? [];
  return code === undefined ? (words[account] ?? account) : `Owed by ${code}`;
}

/** The ledger has credits below zero; people read what somebody has as above it. */
const turned = (account: string, minor: number): number => (account.startsWith("acquirer:") ? minor : 0 - minor);

const beyond = <span className="text-muted">beyond this page</span>;

/** Digits alone: the head of the table names the currency. */
function Digits({ of: effect, minor, signed = false }: { of: Effect; minor: number | null; signed?: boolean }) {
  const language = useLanguage();
  if (minor === null) return beyond;
  const shown = turned(effect.account, minor);
  return (
    <span className="whitespace-nowrap">
      {signed && shown > 0 && "+"}
      {digitsOf(shown, effect.exponent, language)}
    </span>
  );
}

export function Effects({ of: effects }: { of: readonly Effect[] }) {
  const [first] = effects;
  if (!first) return <p className="text-muted">It moves no money by itself.</p>;
  return (
    <div
      tabIndex={0}
      role="group"
      aria-label="What happens to the book"
      className="overflow-x-auto rounded-md border border-line bg-panel"
    >
      <table className="w-full border-collapse text-left">
        <thead className="border-b border-line text-xs text-muted">
          <tr>
            <th scope="col" className="px-3 py-2 font-medium">
              In {first.currency}
            </th>
            <th scope="col" className="hidden px-2 py-2 text-right font-medium sm:table-cell">
              Now
            </th>
            <th scope="col" className="px-2 py-2 text-right font-medium">
              Change
            </th>
            <th scope="col" className="px-3 py-2 text-right font-medium">
              After
            </th>
          </tr>
        </thead>
        <tbody>
          {effects.map((effect) => (
            <tr key={effect.account} className="border-b border-line last:border-b-0">
              <td className="h-9 px-3 py-1.5">{accountName(effect.account)}</td>
              <td className="hidden px-2 py-1.5 text-right sm:table-cell">
                <Digits of={effect} minor={effect.before_minor} />
              </td>
              <td className="px-2 py-1.5 text-right font-medium">
                <Digits of={effect} minor={effect.change_minor} signed />
              </td>
              <td className="px-3 py-1.5 text-right">
                <Digits of={effect} minor={effect.after_minor} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The accounts of the book as they are, of those that hold something. */
export function BookNow({ of: { accounts, currency, exponent } }: { of: Totals }) {
  const held = accounts.filter(({ balance_minor: minor }) => minor !== 0);
  if (held.length === 0) return <p className="text-muted">This book is empty so far.</p>;
  return (
    <dl className="grid gap-x-8 rounded-md border border-line bg-panel px-4 py-2 sm:grid-cols-2">
      {held.map(({ account, balance_minor: minor }) => (
        <div key={account} className="flex min-h-8 items-center justify-between gap-x-4 py-1">
          <dt className="text-muted">{accountName(account)}</dt>
          <dd>
            {minor === null ? beyond : <Money of={{ amount_minor: turned(account, minor), currency, exponent }} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}
