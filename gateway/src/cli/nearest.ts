// Finds the known word that a mistyped word is meant to be. Pure.

/** Number of changes of one letter that turn one word into the other: added, dropped, replaced, or two neighbours swapped. */
export function distance(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= one.length; i++) {
    const [above = [], before = rows[i - 2]] = [rows[i - 1]];
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      const steps = [(row[j - 1] ?? 0) + 1, (above[j] ?? 0) + 1, (above[j - 1] ?? 0) + same];
      if (before && i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        steps.push((before[j - 2] ?? 0) + 1);
      row.push(Math.min(...steps));
    }
    rows.push(row);
  }
  return rows[one.length]?.[other.length] ?? 0;
}

/** The end of a sentence about a mistyped word: the nearest known one, after `before`. Empty when there is none. */
export function didYouMean(word: string, known: readonly string[], before = ""): string {
  const meant = nearest(word, known);
  return meant === undefined ? "" : `. Did you mean ${before}${meant}?`;
}

/** The nearest known word of which at most a third is wrong, or which begins with the typed word; undefined when there is none. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  // Users type words of any length, and the work grows with the length.
  if (word.length > 40) return undefined;
  const [best] = known
    .map((name) => ({ name, far: distance(word.toLowerCase(), name) }))
    .filter(({ name, far }) => far <= Math.max(1, Math.floor(name.length / 3)) || name.startsWith(word))
    .sort((one, other) => one.far - other.far);
  return best?.name;
}
