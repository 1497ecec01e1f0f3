// The digits of a sum. One that JSON cannot carry exactly is said, never rounded.
import { digitsOf } from "../../ui/money.tsx";
import { useLanguage } from "../../words.ts";

export function Digits({ minor, exponent }: { minor: number | bigint | null; exponent: number }) {
  const language = useLanguage();
  return minor === null ? "beyond 2^53 − 1" : digitsOf(minor, exponent, language);
}

/** The exact sum, which may pass 2^53 on the way; null when an amount is not known exactly. */
export function sumOf(minors: readonly (number | null)[]): bigint | null {
  return minors.reduce<bigint | null>(
    (sum, minor) => (sum === null || minor === null ? null : sum + BigInt(minor)),
    0n,
  );
}
