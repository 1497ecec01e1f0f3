// How many decimal places a currency has, where the API gives its amounts alone. By ISO 4217: browsers follow a locale, which has none for IDR.
const others: { [places: number]: string } = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};

/** Undefined for what is no code of a currency. */
export function exponentOf(currency: string): number | undefined {
  if (!/^[A-Z]{3}$/.test(currency)) return undefined;
  const [places = "2"] = Object.entries(others).find(([, codes]) => codes.split(" ").includes(currency)) ?? [];
  return Number(places);
}
