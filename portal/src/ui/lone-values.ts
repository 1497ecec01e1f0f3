// Which values of a plot a line does not show.

/** The indices of values with none beside them: a line begins and ends there, and would not be seen. */
export function loneValues(values: readonly (number | null | undefined)[]): number[] {
  const has = (at: number): boolean => values[at] !== null && values[at] !== undefined;
  return values.flatMap((_, at) => (has(at) && !has(at - 1) && !has(at + 1) ? [at] : []));
}
