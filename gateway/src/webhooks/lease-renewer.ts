// Renews the leases of the deliveries that this process holds. So leases can be short, and the deliveries of a process that died are soon
// claimed by another one. Nearly every delivery is recorded long before its first renewal would be due.
import { type HeldLease, renewLeases } from "../events/outbox.sql.ts";
import type { Clock, Micros } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import type { DeliveryTiming } from "./timing.ts";

interface RenewerParts {
  database: Pick<Database, "query">;
  clock: Clock;
  log: Log;
  timing: Pick<DeliveryTiming, "leaseMs" | "renewMs">;
  /** Deliveries that this process holds, waiting or in flight. */
  held(): (HeldLease & { claimedAt: Micros })[];
}

export class LeaseRenewer {
  private readonly parts: RenewerParts;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(parts: RenewerParts) {
    this.parts = parts;
  }

  start(): void {
    this.timer = setInterval(() => {
      this.running ??= this.renew()
        .catch((error: unknown) => this.parts.log.warn({ err: error }, "leases could not be renewed"))
        .finally(() => (this.running = undefined));
    }, this.parts.timing.renewMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** Renews the leases of deliveries that have been held for at least `renewMs`. */
  async renew(): Promise<void> {
    const { database, clock, timing } = this.parts;
    const now = clock.now();
    const due = this.parts.held().filter(({ claimedAt }) => claimedAt <= now - timing.renewMs * 1_000);
    if (due.length > 0) await database.query(renewLeases(due, now + timing.leaseMs * 1_000));
  }
}
