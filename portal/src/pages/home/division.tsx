// How payments ended, as a table: by outcome with each one's share, or by acquirer with the share that succeeded.
import type { ReactNode } from "react";
import type { Schema } from "../../api/types.ts";
import { classes } from "../../ui/classes.ts";
import { digitsOf } from "../../ui/money.tsx";
import { Status } from "../../ui/status.tsx";
import { useLanguage } from "../../words.ts";
import { Sum, shareOf } from "./figures.tsx";

type Over = Schema<"PaymentsOverTime">;

const meanings: Record<string, string> = {
  succeeded: "paid, and in your books",
  expired: "nobody paid in time",
  failed: "declined, or no acquirer could take it",
  canceled: "canceled by you",
  rejected: "refused for its risk",
};
const tones: Record<string, "good" | "bad" | "calm"> = { succeeded: "good", failed: "bad", rejected: "bad" };

export function Division({ over: { data, currency, exponent }, by }: { over: Over; by: "outcome" | "acquirer" }) {
  const language = useLanguage();
  const all = data.reduce((sum, { total }) => sum + total.payments, 0);
  const title = by === "outcome" ? "How they ended" : "By acquirer";
  // In a narrow card, as on a phone or where two stand beside the navigation, the money needs the room of the count.
  const count = by === "acquirer" && "@max-md:hidden";
  return (
    <section
      aria-label={`${title}, ${currency}`}
      className="@container overflow-x-auto rounded-md border border-line bg-panel"
    >
      <table className="w-full text-left">
        <caption className="px-4 pt-3 pb-1 text-left font-medium">{title}</caption>
        <thead className="border-b border-line text-xs text-muted">
          <tr>
            <Head>{by === "outcome" ? "Outcome" : "Acquirer"}</Head>
            <Head right className={count}>
              Payments
            </Head>
            <Head right>{by === "outcome" ? "Share" : "Succeeded"}</Head>
            {by === "acquirer" && <Head right>Came in</Head>}
          </tr>
        </thead>
        <tbody>
          {data.map(({ key, total }) => (
            <tr key={key} className="border-b border-line last:border-b-0">
              <td className="h-9 py-1.5 pl-4">
                {by === "outcome" ? (
                  <span className="flex flex-wrap gap-x-2">
                    <Status status={key} tone={tones[key] ?? "calm"} />
                    <span className="text-muted">{meanings[key]}</span>
                  </span>
                ) : key === "" ? (
                  <span className="text-muted">none was chosen</span>
                ) : (
                  key
                )}
              </td>
              <td className={classes("px-3 text-right", count)}>{digitsOf(total.payments, 0, language)}</td>
              <td className="pr-4 pl-3 text-right whitespace-nowrap">
                {by === "outcome"
                  ? shareOf(total.payments, all, language)
                  : shareOf(total.succeeded, total.payments, language)}
              </td>
              {by === "acquirer" && (
                <td className="pr-4 text-right">
                  <Sum of={{ amount_minor: total.amount_minor, currency, exponent }} />
                </td>
              )}
            </tr>
          ))}
          {data.length === 0 && (
            <tr>
              <td colSpan={4} className="px-4 py-2.5 text-muted">
                No payment ended in this period.
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

interface HeadProps {
  right?: boolean;
  className?: string | false;
  children: ReactNode;
}

function Head({ right = false, className, children }: HeadProps) {
  return (
    <th scope="col" className={classes("py-1.5 font-medium", right ? "pr-4 pl-3 text-right" : "pl-4", className)}>
      {children}
    </th>
  );
}
