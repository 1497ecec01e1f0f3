// How the wall writes numbers: few digits, readable from afar.

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** 1.2K, 350, 4.5, 0. */
export function count(value: number): string {
  if (value >= 10_000) return compact.format(value);
  return value >= 100 || Number.isInteger(value) ? whole.format(value) : fine.format(value);
}

/** "4.5 ms", "1.2 s". */
export function milliseconds(value: number): string {
  return value >= 1_000
    ? `${fine.format(value / 1_000)} s`
    : `${value >= 10 ? whole.format(value) : fine.format(value)} ms`;
}

/** "12 s", "4 min", "3 h". */
export function seconds(value: number): string {
  if (value < 120) return `${whole.format(value)} s`;
  return value < 7_200 ? `${whole.format(value / 60)} min` : `${whole.format(value / 3_600)} h`;
}

/** An amount in its currency, shortened: "1.4M". What is at most so much is rounded up, or it could be more. */
export function amount(minor: number, exponent: number, language: "en" | "id", isMost = false): string {
  const roundingMode = isMost ? "ceil" : "halfExpand";
  const format = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1, roundingMode });
  return format.format(minor / 10 ** exponent);
}

/** "87.5 %": never 100 where one is missing, nor 0 where there is one. */
export function share(part: number, all: number): string {
  if (all === 0) return "–";
  const text = ((part / all) * 100).toFixed(1);
  if (text === "100.0" && part < all) return "> 99.9 %";
  if (text === "0.0" && part > 0) return "< 0.1 %";
  return `${text.replace(/\.0$/, "")} %`;
}
