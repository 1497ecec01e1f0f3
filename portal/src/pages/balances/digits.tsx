// The digits of a sum. One that JSON cannot carry exactly is said, never rounded.
import { digitsOf } from "../../ui/money.tsx";
import { useLanguage } from "../../words.ts";

export function Digits({ minor, exponent }: { minor: number | null; exponent: number }) {
  const language = useLanguage();
  return minor === null ? "beyond 2^53 − 1" : digitsOf(minor, exponent, language);
}
