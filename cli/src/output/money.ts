// Writes amounts for people, from minor units and the exponent. The exponent is the API's, never guessed. Pure.

/** `150000` with exponent 2 is `1,500.00`. */
export function digitsOf(minor: number, exponent: number): string {
  const digits = String(Math.abs(minor)).padStart(exponent + 1, "0");
  const whole = digits.slice(0, digits.length - exponent).replaceAll(/\B(?=(\d{3})+$)/g, ",");
  const sign = minor < 0 ? "-" : "";
  return exponent === 0 ? sign + whole : `${sign}${whole}.${digits.slice(-exponent)}`;
}

/** As `digitsOf`, with a dash for a missing amount. */
export function amountOf(minor: number | null | undefined, exponent: number): string {
  return minor === null || minor === undefined ? "–" : digitsOf(minor, exponent);
}
