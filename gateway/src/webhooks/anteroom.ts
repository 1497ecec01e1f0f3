// The anteroom: deliveries that were claimed and found no seat yet. They keep their leases and go in as soon as a seat of their
// host is free; those that would wait too long are given back. Pure but for what it remembers.
import type { Micros } from "../ground/clock.ts";

export interface Waiting<Row> {
  host: string;
  merchantId: string;
  row: Row;
  token: string;
  claimedAt: Micros;
}

/** All that may wait at the same time. */
const ALL_MAX = 512;
/** Of one merchant. */
const MERCHANT_MAX = 192;

export class Anteroom<Row> {
  /** Hosts in the order in which they are looked at; each with its deliveries, the oldest first. */
  private readonly hosts = new Map<string, Waiting<Row>[]>();
  private readonly merchants = new Map<string, number>();
  private count = 0;

  /** How many wait for a host. */
  waitingFor(host: string): number {
    return this.hosts.get(host)?.length ?? 0;
  }

  get size(): number {
    return this.count;
  }

  /** Lets a delivery wait, or gives false when `hostMax` wait for its host already, or too many in all. */
  add(waiting: Waiting<Row>, hostMax: number): boolean {
    const line = this.hosts.get(waiting.host) ?? [];
    const own = this.merchants.get(waiting.merchantId) ?? 0;
    if (line.length >= hostMax || this.count >= ALL_MAX || own >= MERCHANT_MAX) return false;
    line.push(waiting);
    this.hosts.set(waiting.host, line);
    this.merchants.set(waiting.merchantId, own + 1);
    this.count++;
    return true;
  }

  /**
   * Lets in who may: of this host, and of one other in turn (what held it back may have been something else than its host).
   * `enter` takes a seat for the delivery and gives whether there was one.
   */
  admit(host: string, enter: (waiting: Waiting<Row>) => boolean): void {
    const [other] = this.hosts.keys();
    for (const next of new Set([host, ...(other === undefined ? [] : [other])])) {
      const line = this.hosts.get(next);
      if (!line) continue;
      while (line[0] && enter(line[0])) this.left(line.shift());
      this.hosts.delete(next);
      if (line.length > 0) this.hosts.set(next, line); // behind the others
    }
  }

  /** Those that were claimed before a moment, and all of them without one. They wait no longer. */
  takeOut(claimedBefore?: Micros): Waiting<Row>[] {
    const out: Waiting<Row>[] = [];
    for (const [host, line] of this.hosts) {
      const stay = claimedBefore === undefined ? [] : line.filter(({ claimedAt }) => claimedAt >= claimedBefore);
      out.push(...line.filter((waiting) => !stay.includes(waiting)));
      if (stay.length > 0) this.hosts.set(host, stay);
      else this.hosts.delete(host);
    }
    for (const waiting of out) this.left(waiting);
    return out;
  }

  private left(waiting: Waiting<Row> | undefined): void {
    if (!waiting) return;
    this.count--;
    const others = (this.merchants.get(waiting.merchantId) ?? 1) - 1;
    if (others > 0) this.merchants.set(waiting.merchantId, others);
    else this.merchants.delete(waiting.merchantId);
  }
}
