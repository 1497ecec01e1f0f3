// The health of an acquirer by payment method over a period: outcomes of payments, results of calls, and open circuits.
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { type TotalRow, selectCountedAt, selectTotals, spanStart } from "../insights/totals.sql.ts";
import type { Environment } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import type { CircuitRow } from "../telemetry/telemetry.sql.ts";
import { type AcquirerSpan, readMethods } from "../telemetry/vitals.ts";
import { type Period, type WallGroup, paymentsOf, periods } from "./wall.ts";

export interface MethodHealth {
  method: string;
  /** Undefined when no payment by this method was requested or ended. */
  payments: WallGroup | undefined;
  circuit: CircuitRow | undefined;
  /** One element for each span; undefined when the acquirer was neither called nor blocked by an open circuit in it. */
  calls: (AcquirerSpan | undefined)[];
}

export interface AcquirerHealth {
  asOf: Micros;
  begins: Micros[];
  countedAt: Micros | undefined;
  methods: MethodHealth[];
}

export interface AskedAcquirer {
  code: string;
  environment: Environment;
  /** The acquirer's methods. Other methods are added when the period has payments or calls of them. */
  methods: readonly string[];
}

/** Reads the health of an acquirer. A worker counts payments about a second after they happen; calls are sampled every five seconds. */
export async function readAcquirerHealth(
  { database, clock }: { database: Database; clock: Clock },
  { code, environment, methods: taken }: AskedAcquirer,
  period: Period,
): Promise<AcquirerHealth> {
  const { spans, spanSeconds, totals, samples } = periods[period];
  const asOf = clock.now();
  const begin = spanStart(asOf, spanSeconds) - (spans - 1) * spanSeconds * SECOND;
  const [[rows, counted], { circuits, methods: called }] = await Promise.all([
    database.pipeline([
      selectTotals({ environment, acquirer: code, step: totals, begin, spanSeconds }),
      selectCountedAt(),
    ]),
    readMethods(database, { step: samples, begin, spanSeconds, spans }, code),
  ]);
  const byMethod = new Map(paymentsOf((rows ?? []) as TotalRow[], spans).byMethod.map((group) => [group.key, group]));
  const names = [...new Set([...taken, ...byMethod.keys(), ...called.keys()])];
  return {
    asOf,
    begins: Array.from({ length: spans }, (_, at) => begin + at * spanSeconds * SECOND),
    countedAt: (counted?.[0]?.counted_at as Micros | null | undefined) ?? undefined,
    methods: names.map((method) => ({
      method,
      payments: byMethod.get(method),
      circuit: circuits.find((circuit) => circuit.method === method),
      calls: called.get(method) ?? Array.from({ length: spans }, () => undefined),
    })),
  };
}
