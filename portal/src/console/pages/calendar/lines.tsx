// What a day of the calendar says: a line for each thing that happens to batches on it, in each currency.
import { classes } from "../../../ui/classes.ts";
import { digitsOf } from "../../../ui/money.tsx";
import { useLanguage } from "../../../words.ts";
import type { Schema } from "../../api/client.ts";
import { amount, count } from "../wall/words.ts";

type Day = Schema<"CalendarDay">;

interface Line {
  key: string;
  /** "3 to pay". */
  what: string;
  currency: string;
  exponent: number;
  minor: number | null;
  look: "plain" | "due" | "late" | "quiet";
}

/** Days before today on which a batch still waits for the bank are late. */
export function linesOf({ day, currencies }: Day, today: string): Line[] {
  return currencies.flatMap(({ currency, exponent, paid, processing, failed, to_come: coming }) => {
    const line = (name: string, many: number, words: string, minor: number | null, look: Line["look"]): Line[] =>
      many === 0
        ? []
        : [{ key: `${currency} ${name}`, what: `${count(many)} ${words}`, currency, exponent, minor, look }];
    const isLate = day < today;
    return [
      ...line("due", processing.batches, isLate ? "overdue" : "to pay", processing.net_minor, isLate ? "late" : "due"),
      ...line("failed", failed.batches, "returned", failed.net_minor, "late"),
      ...line("paid", paid.batches, "paid", paid.net_minor, "plain"),
      ...line(
        "coming",
        coming.books,
        coming.books === 1 ? "book to come" : "books to come",
        coming.available_minor,
        "quiet",
      ),
    ];
  });
}

const looks: Record<Line["look"], string> = {
  plain: "",
  due: "font-medium",
  late: "font-medium text-bad",
  quiet: "text-muted",
};

/** In a cell there is room for few of them; the day's own page has all. */
export function Lines({ of, most, isWide }: { of: readonly Line[]; most: number; isWide: boolean }) {
  const language = useLanguage();
  const more = of.length - most;
  return (
    <>
      {of.slice(0, most).map(({ key, what, currency, exponent, minor, look }) => (
        <span key={key} className={classes("flex flex-wrap justify-between gap-x-2 text-xs", looks[look])}>
          <span>{what}</span>
          <span title={minor === null ? undefined : `${currency} ${digitsOf(minor, exponent, language)}`}>
            {look === "quiet" && "≤ "}
            {currency}{" "}
            {minor === null
              ? "> 2^53"
              : isWide
                ? digitsOf(minor, exponent, language)
                : amount(minor, exponent, language, look === "quiet")}
          </span>
        </span>
      ))}
      {more > 0 && <span className="text-xs text-muted">and {more} more</span>}
    </>
  );
}
