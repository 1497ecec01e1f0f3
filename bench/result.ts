// The result of a case: its figures, its baseline, and whether the aim is met.
import type { Cpu } from "./cpu.ts";

export interface Options {
  seconds: number;
  /** Payments in the tables, for cases that fill them first. */
  rows: number;
  /** Number of API processes on one database, over which the requests are spread. */
  processes: number;
}

/** Latencies at a given rate. */
export interface Point {
  rate_per_s: number;
  p50_ms: number;
  p99_ms: number;
}

export interface Result {
  case: string;
  /** Number of API processes, when there was more than one. */
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
  /** Memory and CPU time are absent without /proc. */
  memory_mib?: number;
  /** CPU time per request, in microseconds. */
  cpu_us?: Cpu;
  /** Limit of the CPU time per request, service and PostgreSQL together. */
  cpu_aim_us?: number;
  verified: boolean;
  notes: Record<string, string | number>;
  curve?: Point[];
}
