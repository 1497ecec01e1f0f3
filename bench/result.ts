// What a case gives: figures, what they are compared with, and whether that is what we aim at.
import type { Cpu } from "./cpu.ts";

export interface Options {
  seconds: number;
  /** Payments in the tables for `growth`. */
  rows: number;
  /** API processes on one database, over which the requests are spread. */
  processes: number;
}

/** Latencies at a rate that was asked for. */
export interface Point {
  rate_per_s: number;
  p50_ms: number;
  p99_ms: number;
}

export interface Result {
  case: string;
  /** API processes, where there was more than one. */
  processes?: number;
  rate_per_s: number;
  baseline: string;
  baseline_per_s: number;
  ratio: number;
  aim: number;
  met: boolean;
  p50_ms: number;
  p99_ms: number;
  errors: number;
  /** Left out, as CPU time is, where there is no /proc. */
  memory_mib?: number;
  /** CPU time of a request, in microseconds. */
  cpu_us?: Cpu;
  /** What a request may take of both together. */
  cpu_aim_us?: number;
  verified: boolean;
  notes: Record<string, string | number>;
  curve?: Point[];
}
