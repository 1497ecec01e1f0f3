// The send queue sends each leased delivery when its host has a slot. It keeps the delivery in the buffer until then, or rejects it.
import { type AttemptKind, type ClaimedRow, merchantOf, queueKey } from "../events/claim.sql.ts";
import { type Clock, stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import { isOutOfService } from "../store/database.ts";
import { ConcurrencyLimiter, type HostHealth, type Slot } from "./concurrency-limiter.ts";
import { DeliveryBuffer, type LeasedDelivery } from "./delivery-buffer.ts";
import type { DeliveryTiming } from "./timing.ts";

type Leased = LeasedDelivery<ClaimedRow>;

interface SendQueueParts {
  clock: Clock;
  log: Log;
  timing: Pick<DeliveryTiming, "waitMs" | "parkMs">;
  /** Makes the attempt. Gives the host's health afterwards; undefined when the host was not called. */
  attempt(delivery: Leased): Promise<HostHealth | undefined>;
  /** Takes a delivery that waited too long for a slot. */
  onExpired(delivery: Leased): void;
  /** Called when few deliveries wait for a host, so that more should be claimed. */
  onLow(): void;
}

export class SendQueue {
  private readonly parts: SendQueueParts;
  private readonly limiter = new ConcurrencyLimiter();
  private readonly buffer = new DeliveryBuffer<ClaimedRow>();
  private readonly calls = new Set<Leased>();
  /** Queues of rejected deliveries, each with the stopwatch time until which nothing is claimed from that queue. */
  private readonly rejectedUntil = new Map<string, number>();
  private stopping = false;

  constructor(parts: SendQueueParts) {
    this.parts = parts;
  }

  get inFlight(): number {
    return this.limiter.inFlight;
  }

  hostsByHealth(): Record<HostHealth, number> {
    return this.limiter.hostsByHealth(stopwatchMs());
  }

  /** Number of deliveries of a kind that may be claimed now. */
  capacity(kind: AttemptKind): number {
    return this.limiter.capacity(kind);
  }

  /** All deliveries in this queue, waiting or in flight. */
  held(): Leased[] {
    return [...this.calls, ...this.buffer.all()];
  }

  /** Sends a delivery if its host has a slot, else adds it to the buffer. False when there is neither a slot nor a place. */
  add(delivery: Leased): boolean {
    if (this.buffer.waitingFor(delivery.host) === 0 && this.trySend(delivery)) return true;
    return this.buffer.add(delivery, this.healthOf(delivery.host));
  }

  /** Stops claims from the queue of a rejected delivery for `parkMs`. */
  reject({ row }: Leased): void {
    this.rejectedUntil.set(queueKey(row.merchant_id, row.host), stopwatchMs() + this.parts.timing.parkMs);
  }

  /**
   * Numbers of deliveries that find a slot or a place in the buffer, by the keys of `claimDeliveries`: for each host with deliveries in
   * flight or waiting, and for each merchant of those deliveries at that host. A queue with a recent rejection has 0, and every other
   * host of its merchant 1, because the merchant's share is used up.
   */
  capacities(): Map<string, number> {
    const nowMs = stopwatchMs();
    const capacities = new Map<string, number>();
    const add = (host: string, merchantUuid: string | undefined): void => {
      const key = merchantUuid === undefined ? host : queueKey(merchantUuid, host);
      capacities.set(key, this.capacityFor(host, merchantUuid));
    };
    for (const hosts of [this.limiter.inFlightByHost(), this.buffer.waitingByHost()]) {
      for (const [host, merchants] of hosts) {
        add(host, undefined);
        for (const merchantUuid of merchants) add(host, merchantUuid);
      }
    }
    for (const [key, until] of this.rejectedUntil) {
      if (until > nowMs) capacities.set(key, 0).set(merchantOf(key), 1);
      else this.rejectedUntil.delete(key);
    }
    return capacities;
  }

  /** True while so few deliveries wait for a host that more should be claimed. */
  isLow(host: string): boolean {
    return this.buffer.isLow(host, this.healthOf(host));
  }

  /** True while direct dispatch may take a delivery for this host. */
  hasCapacityForNew(host: string): boolean {
    return this.healthOf(host) === "healthy" && this.buffer.hasCapacityForNew(host, "healthy");
  }

  /** True when a host is not healthy and has no capacity for a merchant's deliveries. */
  isFull(host: string, merchantUuid: string): boolean {
    return this.healthOf(host) !== "healthy" && this.capacityFor(host, merchantUuid) === 0;
  }

  /** Removes and gives the deliveries that have waited longer than `waitMs` for a slot. */
  removeExpired(): Leased[] {
    return this.buffer.remove(this.oldestClaim);
  }

  /** Sends nothing more, and gives all waiting deliveries. */
  close(): Leased[] {
    this.stopping = true;
    return this.buffer.remove();
  }

  /** Free slots and buffer places at a host for a merchant, or, without one, for a merchant that has no deliveries here. */
  private capacityFor(host: string, merchantUuid: string | undefined): number {
    const nowMs = stopwatchMs();
    if (merchantUuid !== undefined && (this.rejectedUntil.get(queueKey(merchantUuid, host)) ?? 0) > nowMs) return 0;
    const places = this.buffer.capacityFor(host, this.limiter.healthOf(host, nowMs), merchantUuid);
    return this.limiter.capacityAt(host, nowMs, merchantUuid) + places;
  }

  private healthOf(host: string): HostHealth {
    return this.limiter.healthOf(host, stopwatchMs());
  }

  private get oldestClaim(): number {
    return this.parts.clock.now() - this.parts.timing.waitMs * 1_000;
  }

  private trySend(delivery: Leased): boolean {
    if (delivery.claimedAt < this.oldestClaim) {
      this.parts.onExpired(delivery);
      return true;
    }
    const { host, merchantUuid, row } = delivery;
    const slot = this.limiter.acquire({ host, merchantUuid, first: row.attempts === 0 }, stopwatchMs());
    if (!slot) return false;
    void this.send(delivery, slot);
    return true;
  }

  private async send(delivery: Leased, slot: Slot): Promise<void> {
    let health: HostHealth | undefined;
    this.calls.add(delivery);
    try {
      health = await this.parts.attempt(delivery);
    } catch (error) {
      const level = error instanceof Fault || isOutOfService(error) ? "warn" : "error";
      this.parts.log[level]({ err: error }, "a delivery was not sent; its lease will end");
    }
    this.calls.delete(delivery);
    this.limiter.release(slot, health);
    if (!this.stopping) this.buffer.drain(delivery.host, (waiting) => this.trySend(waiting));
    if (this.isLow(delivery.host)) this.parts.onLow();
  }
}
