// An amount of a merchant's settings, which have minor units and a currency alone.
import { Money } from "../../../ui/money.tsx";
import { exponentOf } from "./exponents.ts";

export function Amount({ minor, currency }: { minor: number; currency: string }) {
  const exponent = exponentOf(currency);
  if (exponent === undefined) return `${currency} ${minor} minor units`;
  return <Money of={{ amount_minor: minor, currency, exponent }} />;
}
