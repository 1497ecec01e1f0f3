// Shares of things that succeeded: how sure one is, how far two lie apart, and how many more it takes to tell them apart. Pure.

/** So many of these succeeded. */
export interface Proportion {
  succeeded: number;
  of: number;
}

export interface Interval {
  low: number;
  high: number;
}

/** Of the normal distribution: 95 % lie within so many deviations. */
const Z = 1.959963984540054;

/** The 95 % interval of Wilson (1927), without a correction for continuity. Undefined of nothing. */
export function wilson({ succeeded, of }: Proportion): Interval | undefined {
  if (of === 0) return undefined;
  const share = succeeded / of;
  const middle = (share + (Z * Z) / (2 * of)) / (1 + (Z * Z) / of);
  const reach = (Z / (1 + (Z * Z) / of)) * Math.sqrt((share * (1 - share)) / of + (Z * Z) / (4 * of * of));
  // At both ends the formula gives 0 and 1 exactly, and arithmetic nearly so.
  return { low: succeeded === 0 ? 0 : middle - reach, high: succeeded === of ? 1 : middle + reach };
}

/** `a` minus `b` with the 95 % interval of Newcombe (1998, method 10). Undefined while one of them is of nothing. */
export function difference(a: Proportion, b: Proportion): (Interval & { estimate: number }) | undefined {
  const [ofA, ofB] = [wilson(a), wilson(b)];
  if (!ofA || !ofB) return undefined;
  const [shareA, shareB] = [a.succeeded / a.of, b.succeeded / b.of];
  const estimate = shareA - shareB;
  return {
    estimate,
    low: estimate - Math.hypot(shareA - ofA.low, ofB.high - shareB),
    high: estimate + Math.hypot(ofA.high - shareA, shareB - ofB.low),
  };
}

/**
 * About how many more of both together it takes until the interval of their difference leaves zero out, should the difference stay as it is
 * and `a` get this share of all. Undefined where there is no difference, or nothing yet.
 */
export function moreToTellApart(a: Proportion, b: Proportion, shareOfA: number): number | undefined {
  if (a.of === 0 || b.of === 0) return undefined;
  const distance = a.succeeded / a.of - b.succeeded / b.of;
  if (distance === 0) return undefined;
  const all = (Z / distance) ** 2 * (variance(a) / shareOfA + variance(b) / (1 - shareOfA));
  return Math.max(1, Math.ceil(all) - a.of - b.of);
}

/** With two successes and two failures added (Agresti and Coull), so that none of few is not taken for certain. */
function variance({ succeeded, of }: Proportion): number {
  const share = (succeeded + 2) / (of + 4);
  return share * (1 - share);
}
