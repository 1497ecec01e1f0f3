// Runs what-ifs over the payments of the last days: in bounded slices off the hot path, one what-if at a time in a process.
import { setImmediate } from "node:timers/promises";
import { type Clock, type Micros, SECOND, stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { idOf, leastIdOf, momentOf } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { AcquirerCosts, costsOf } from "./costs.ts";
import type { Router } from "./router.ts";
import type { RoutingRule } from "./routing.ts";
import type { PastPayment } from "./replay.ts";
import { WhatIf } from "./what-if.ts";
import { READ_ONLY, type Slice, type SliceRow, paymentsOfSlice, selectBeginning, selectSlice } from "./what-ifs.sql.ts";

const PAYMENTS_MAX = 100_000;
/** Longest time that one what-if reads. */
const READING_MS_MAX = 8_000;
const STATEMENT_MS_MAX = 4_000;
/** At most this many payments come from one statement. */
const SLICE = 20_000;
/**
 * A statement reads up to SLICE payments of each book, so a slice of time should hold about SLICE payments in all. The first slice is short; a
 * slice that is not full makes the next ones longer, and an overfull one makes them shorter.
 */
const WIDTH_FIRST: Micros = 30 * SECOND;
const WIDTH_GROWS = 4;
/** Payments that are routed before other requests get a turn. */
const STEP = 250;

export interface WhatIfQuestion {
  rules: readonly RoutingRule[];
  days: number;
  environment: Environment;
  merchantId: string | undefined;
}

export interface WhatIfAnswer {
  whatIf: WhatIf;
  /** The active version of the rules. */
  version: number;
  /** Why the what-if ended. all: all payments of these days were read; limit: PAYMENTS_MAX was reached; time: READING_MS_MAX was. */
  ended: "all" | "limit" | "time";
}

export class WhatIfs {
  private readonly database: Database;
  private readonly router: Router;
  private readonly costs: AcquirerCosts;
  private readonly clock: Clock;
  private isBusy = false;

  constructor(database: Database, router: Router, costs: AcquirerCosts, clock: Clock) {
    this.database = database;
    this.router = router;
    this.costs = costs;
    this.clock = clock;
  }

  /** Answers a what-if. Throws SERVICE_UNAVAILABLE while this process answers another what-if. */
  async ask(question: WhatIfQuestion): Promise<WhatIfAnswer> {
    if (this.isBusy)
      throw new Fault("SERVICE_UNAVAILABLE", {
        message: "Another what-if is being computed. Ask again in a few seconds.",
        retryAfterSeconds: 2,
      });
    this.isBusy = true;
    try {
      return await this.answer(question);
    } finally {
      this.isBusy = false;
    }
  }

  private async answer({ rules, days, environment, merchantId }: WhatIfQuestion): Promise<WhatIfAnswer> {
    const { acquirers, states, version } = this.router.table;
    const costOf = costsOf(await this.costs.read(), acquirers);
    const whatIf = new WhatIf({ environment, rules, acquirers, states, costOf });
    const begun = stopwatchMs();
    const now = this.clock.now();
    const oldest = now - days * 86_400 * SECOND;
    let width = WIDTH_FIRST;
    let at = now;
    let before: string | undefined;
    while (at > oldest) {
      if (stopwatchMs() - begun > READING_MS_MAX) return { whatIf, version, ended: "time" };
      const from = Math.max(oldest, at - width);
      const count = Math.min(SLICE, PAYMENTS_MAX - whatIf.payments);
      const { payments, begins } = await this.read({ environment, merchantId, from: leastIdOf(from), before }, count);
      for (const [place, payment] of payments.entries()) {
        if (place % STEP === STEP - 1) await setImmediate();
        whatIf.add(payment);
      }
      if (whatIf.payments >= PAYMENTS_MAX) return { whatIf, version, ended: "limit" };
      if (begins === undefined) {
        before = leastIdOf(from);
        at = from;
        if (payments.length < SLICE / WIDTH_GROWS) width *= WIDTH_GROWS;
      } else {
        const reached = momentOf(idOf("payment", begins));
        before = begins;
        width = Math.max(SECOND, at - reached);
        at = Math.min(at, reached + 1_000); // other payments of the same millisecond may be left
      }
    }
    return { whatIf, version, ended: "all" };
  }

  /** The newest payments of a slice, at most `count`; `begins`: id of the oldest of them when the slice holds more. */
  private async read(slice: Slice, count: number): Promise<{ payments: PastPayment[]; begins: string | undefined }> {
    return this.database.transaction(
      async (query) => {
        await query(READ_ONLY);
        const [beginning] = await query<{ payment_id: string }>(selectBeginning(slice, count));
        const begins = beginning?.payment_id;
        const rows = await query<SliceRow>(selectSlice({ ...slice, from: begins ?? slice.from }));
        return { payments: paymentsOfSlice(rows), begins };
      },
      { limitMs: STATEMENT_MS_MAX },
    );
  }
}
