// What a case gives: figures, what they are compared with, and whether that is what we aim at.
export interface Options {
  seconds: number;
  /** Payments in the tables for `growth`. */
  rows: number;
}

/** Latencies at a rate that was asked for. */
export interface Point {
  rate_per_s: number;
  p50_ms: number;
  p99_ms: number;
}

export interface Result {
  case: string;
  rate_per_s: number;
  baseline: string;
  baseline_per_s: number;
  ratio: number;
  aim: number;
  met: boolean;
  p50_ms: number;
  p99_ms: number;
  errors: number;
  memory_mib: number;
  verified: boolean;
  notes: Record<string, string | number>;
  curve?: Point[];
}
