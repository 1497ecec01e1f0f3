// Webhook events: listing them, listing the attempts to deliver them, and sending them again.
import { type CallOptions, type Calls, type ReadOptions, path } from "./calls.ts";
import type { List } from "./list.ts";
import type { DeliveryAttempt, DeliveryFilters, Event, EventFilters, ResendEvents, ResentEvents } from "./types.ts";

/** Selects among the events since a moment: by default those that no receiver accepted. */
export type ResendFilters = Pick<ResendEvents, "state" | "starting_after">;

export class Events {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  get(id: string, options?: ReadOptions): Promise<Event> {
    return this.#calls.read("events.get", path`/v1/events/${id}`, options, "id");
  }

  list(filters?: EventFilters, options?: ReadOptions): List<Event> {
    return this.#calls.list("events.list", "/v1/events", filters, options);
  }

  /** Every attempt to deliver one event. */
  deliveries(id: string, filters?: DeliveryFilters, options?: ReadOptions): List<DeliveryAttempt> {
    return this.#calls.list("events.deliveries", path`/v1/events/${id}/deliveries`, filters, options);
  }

  resend(id: string, options?: CallOptions): Promise<Event> {
    return this.#calls.write("events.resend", path`/v1/events/${id}/resend`, { identity: "id" }, options);
  }

  /** Sends the events since a moment again, 1,000 in a call. To go on, pass `next_cursor` as `starting_after`. */
  resendSince(since: string, filters: ResendFilters = {}, options?: CallOptions): Promise<ResentEvents> {
    return this.#resend("events.resendSince", { since, ...filters }, options);
  }

  /** Sends the named events again, 100 at most. */
  resendMany(ids: readonly string[], options?: CallOptions): Promise<ResentEvents> {
    return this.#resend("events.resendMany", { event_ids: [...ids] }, options);
  }

  #resend(operation: string, body: ResendEvents, options?: CallOptions): Promise<ResentEvents> {
    return this.#calls.write(operation, "/v1/events/resend", { value: body, rules: "ResendEvents" }, options);
  }
}
