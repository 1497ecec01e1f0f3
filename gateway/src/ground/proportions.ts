// Statistics of success rates: confidence intervals of a rate and of a difference, and the sample size that tells two rates apart. Pure.

/** `succeeded` out of `of`. */
export interface Proportion {
  succeeded: number;
  of: number;
}

export interface Interval {
  low: number;
  high: number;
}

/** 95 % of a normal distribution lie within this many standard deviations. */
const Z = 1.959963984540054;

/** The 95 % interval of Wilson (1927), without a correction for continuity. Undefined when `of` is 0. */
export function wilson({ succeeded, of }: Proportion): Interval | undefined {
  if (of === 0) return undefined;
  const share = succeeded / of;
  const middle = (share + (Z * Z) / (2 * of)) / (1 + (Z * Z) / of);
  const reach = (Z / (1 + (Z * Z) / of)) * Math.sqrt((share * (1 - share)) / of + (Z * Z) / (4 * of * of));
  // For none and for all the formula gives exactly 0 and 1, but floating-point arithmetic does not.
  return { low: succeeded === 0 ? 0 : middle - reach, high: succeeded === of ? 1 : middle + reach };
}

/** The rate of `a` minus that of `b`, with the 95 % interval of Newcombe (1998, method 10). Undefined while one of them has `of` 0. */
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
 * Estimates how many more samples of both together it takes until the interval of their difference excludes zero, if the difference stays as
 * it is and `a` gets `shareOfA` of the samples. Undefined when the rates are equal or one has no samples.
 */
export function moreToDistinguish(a: Proportion, b: Proportion, shareOfA: number): number | undefined {
  if (a.of === 0 || b.of === 0) return undefined;
  const distance = a.succeeded / a.of - b.succeeded / b.of;
  if (distance === 0) return undefined;
  const all = (Z / distance) ** 2 * (variance(a) / shareOfA + variance(b) / (1 - shareOfA));
  return Math.max(1, Math.ceil(all) - a.of - b.of);
}

/** The variance of a rate, with two successes and two failures added (Agresti and Coull), so that 0 of a few does not count as certain. */
function variance({ succeeded, of }: Proportion): number {
  const share = (succeeded + 2) / (of + 4);
  return share * (1 - share);
}
