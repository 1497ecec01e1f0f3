// What the SQL of searches shares: how many rows a page looks at, and the places of parameters in a statement that is put together.

/** Rows that one page looks at, newest first. Filters without an index apply to these only; the next page continues behind them. */
export const LOOKED_AT_MAX = 10_000;

/** Gives a value its place in the statement, such as $3. */
export type Place = (value: unknown) => string;

/** Gives each value its place, and appends it to `values`. */
export function placesIn(values: unknown[]): Place {
  return (value) => `$${values.push(value)}`;
}
