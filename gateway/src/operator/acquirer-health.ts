// The health of an acquirer by payment method over a period: outcomes of payments, results of calls, and open circuits.
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { type TotalRow, selectCountedAt, selectTotals, spanStart } from "../insights/totals.sql.ts";
import type { Database } from "../store/database.ts";
import type { CircuitRow } from "../telemetry/telemetry.sql.ts";
import { type AcquirerSpan, readMethods } from "../telemetry/vitals.ts";
import { type Period, type WallGroup, paymentsOf, periods } from "./wall.ts";

export interface MethodHealth {
  method: string;
  /** False when the acquirer does not take the method any more. */
  isTaken: boolean;
  /** Undefined when no payment by this method was requested or ended. */
  payments: WallGroup | undefined;
  circuit: CircuitRow | undefined;
  /** One element for each span; undefined when the acquirer was neither called nor blocked by an open circuit in it. */
  calls: (AcquirerSpan | undefined)[];
}

interface AcquirerHealth {
  asOf: Micros;
  begins: Micros[];
  countedAt: Micros | undefined;
  methods: MethodHealth[];
}

/**
 * Reads the health of an acquirer by each of its methods, and by others of which the period has payments or calls. A worker counts payments about
 * a second after they happen; calls are sampled every five seconds.
 */
export async function readAcquirerHealth(
  { database, clock }: { database: Database; clock: Clock },
  { code, environment, capabilities }: Acquirer,
  period: Period,
): Promise<AcquirerHealth> {
  const { spans, spanSeconds, totals, samples } = periods[period];
  const asOf = clock.now();
  const begin = spanStart(asOf, spanSeconds) - (spans - 1) * spanSeconds * SECOND;
  const [rows, [counted], { circuits, methods: called }] = await Promise.all([
    database.query<TotalRow>(selectTotals({ environment, acquirer: code, step: totals, begin, spanSeconds })),
    database.query<{ counted_at: Micros | null }>(selectCountedAt),
    readMethods(database, { step: samples, begin, spanSeconds, spans }, code),
  ]);
  const byMethod = new Map(paymentsOf(rows, spans).byMethod.map((group) => [group.key, group]));
  const taken = new Set(capabilities.map(({ method }): string => method));
  const names = [...new Set([...taken, ...byMethod.keys(), ...called.keys()])];
  return {
    asOf,
    begins: Array.from({ length: spans }, (_, at) => begin + at * spanSeconds * SECOND),
    countedAt: counted?.counted_at ?? undefined,
    methods: names.map((method) => ({
      method,
      isTaken: taken.has(method),
      payments: byMethod.get(method),
      circuit: circuits.find((circuit) => circuit.method === method),
      calls: called.get(method) ?? Array.from({ length: spans }, () => undefined),
    })),
  };
}
