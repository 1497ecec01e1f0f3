// The SQL of resends: loads events with their present addresses and their locked deliveries for the lanes, and updates the deliveries.
import { sqlTime } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import { bookArrays, bookOfRow } from "../merchants/books.ts";
import { optional } from "../store/database.ts";
import { type Table, bulkUpdate } from "../store/table.ts";
import { type Delivery, deliveryOfEach, deliveryOfRow } from "./events.sql.ts";
import { type EventKey, eventKeyColumns, eventKeyText } from "./outbox.sql.ts";

export interface Resendable extends EventKey {
  /** The callback_url of the payment that the event is about, itself or through a refund or a dispute. */
  callbackUrl: string | undefined;
  delivery: HeldDelivery | undefined;
}

interface HeldDelivery extends Delivery {
  /** True while a worker holds the delivery and makes an attempt: it must not be changed then. */
  leased: boolean;
  /** Attempts that somebody asked for ahead of the schedule; the schedule does not count them. */
  byHand: number;
  /** State of the delivery before somebody asked for one more attempt. */
  resendOf: "delivered" | "undelivered" | undefined;
}

const heldOf = ({ delivery }: Resendable): HeldDelivery => {
  assert(delivery && !delivery.leased, "only a delivery without a lease is changed");
  return delivery;
};

export const resendables: Table<EventKey, Resendable> = {
  name: "resendable events",
  keyText: eventKeyText,
  keyOf: (resendable) => resendable,
  // Deliveries under a lease are neither locked nor waited for: their worker holds many and records them in an order of its own.
  load: (keys, realNow) => ({
    name: "lock resendable events",
    text: `select e.merchant_id, e.environment, e.event_id, p.callback_url, free.event_id is null as leased,
  coalesce(free.state, d.state) as state, coalesce(free.url, d.url) as url, coalesce(free.attempts, d.attempts) as attempts,
  coalesce(free.next_attempt_at, d.next_attempt_at) as next_attempt_at, free.resend_of, free.by_hand
from unnest($1::uuid[], $2::text[]::environment[], $3::uuid[]) as w(merchant_id, environment, event_id)
cross join lateral (
  select *
  from events e
  where e.merchant_id = w.merchant_id and e.environment = w.environment and e.event_id = w.event_id
    -- what is being deleted is not sent again; what is kept for its attempts has a delivery, which is locked below
    and (e.created_at >= coalesce((
      select h.forgotten_before
      from retention_watermarks h
      where h.merchant_id = e.merchant_id and h.environment = e.environment
    ), '-infinity') or exists (
      select from deliveries d
      where d.merchant_id = e.merchant_id and d.environment = e.environment and d.event_id = e.event_id
    ))
  limit 1
) e
${deliveryOfEach}
left join lateral (
  select *
  from deliveries d
  where d.merchant_id = e.merchant_id and d.environment = e.environment and d.event_id = e.event_id
    and (d.lease_token is null or d.leased_until <= $4::timestamptz)
  limit 1
  for update skip locked
) free on true
left join lateral (
  select p.callback_url
  from payments p
  where p.merchant_id = e.merchant_id and p.environment = e.environment
    and p.payment_id = case split_part(e.type, '.', 1)
      when 'payment' then e.subject_id
      when 'refund' then (
        select r.payment_id
        from refunds r
        where r.merchant_id = e.merchant_id and r.environment = e.environment and r.refund_id = e.subject_id
      )
      when 'dispute' then (
        select c.payment_id
        from disputes c
        where c.merchant_id = e.merchant_id and c.environment = e.environment and c.dispute_id = e.subject_id
      )
    end
  limit 1
) p on true`,
    values: [...bookArrays(keys.map((key) => key.book)), keys.map((key) => uuidOf(key.eventId)), sqlTime(realNow)],
  }),
  parse: (row) => ({
    book: bookOfRow(row),
    eventId: idOf("event", row.event_id as string),
    callbackUrl: optional<string>(row.callback_url),
    delivery:
      row.state === null
        ? undefined
        : {
            ...deliveryOfRow(row),
            leased: row.leased as boolean,
            byHand: (row.by_hand as number | null) ?? 0,
            resendOf: optional<HeldDelivery["resendOf"]>(row.resend_of),
          },
  }),
  update: bulkUpdate<Resendable>("deliveries", eventKeyColumns, {
    url: ["text", (resendable) => heldOf(resendable).url],
    state: ["delivery_state", (resendable) => heldOf(resendable).state],
    next_attempt_at: ["timestamptz", (resendable) => heldOf(resendable).nextAttemptAt],
    by_hand: ["smallint", (resendable) => heldOf(resendable).byHand],
    resend_of: ["delivery_state", (resendable) => heldOf(resendable).resendOf],
    // Ends a parking time or an expired lease: the delivery is due at once, and a worker that returns late finds its lease lost.
    lease_token: ["uuid", () => null],
    leased_until: ["timestamptz", () => null],
  }),
};
