// The entries of a journal: debits and credits by account, which sum to zero.
import type { Schema } from "../../api/types.ts";
import { AccountName } from "../../ui/account.tsx";
import { digitsOf } from "../../ui/money.tsx";
import { useLanguage } from "../../words.ts";

type Entry = Schema<"JournalEntry">;

export function Entries({ of, label }: { of: readonly Entry[]; label: string }) {
  const language = useLanguage();
  const digits = (minor: number, { exponent }: Entry): string => digitsOf(minor, exponent, language);
  const cell = "border-t border-line px-2 py-1 sm:px-3 text-right whitespace-nowrap";
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-w-3xl overflow-x-auto rounded-md border border-line bg-panel"
    >
      <table className="w-full border-collapse">
        <thead className="text-xs text-muted">
          <tr>
            <th scope="col" className="px-2 py-1.5 sm:px-3 text-left font-medium">
              Account
            </th>
            <th scope="col" className="px-2 py-1.5 sm:px-3 text-right font-medium">
              Debit
            </th>
            <th scope="col" className="px-2 py-1.5 sm:px-3 text-right font-medium">
              Credit
            </th>
            <th scope="col" className="hidden px-3 py-1.5 text-right font-medium sm:table-cell">
              Balance after
            </th>
          </tr>
        </thead>
        <tbody>
          {of.map((entry) => (
            <tr key={entry.id}>
              <td className="border-t border-line px-2 py-1 sm:px-3">
                <code className="font-mono text-xs wrap-break-word">
                  <AccountName name={entry.account} />
                </code>
                <span className="ml-2 text-xs text-muted">{entry.currency}</span>
              </td>
              <td className={cell}>{entry.amount_minor > 0 && digits(entry.amount_minor, entry)}</td>
              <td className={cell}>{entry.amount_minor < 0 && digits(-entry.amount_minor, entry)}</td>
              <td className={`${cell} hidden text-muted sm:table-cell`}>
                {entry.balance_after_minor === null ? "beyond 2^53 − 1" : digits(entry.balance_after_minor, entry)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
