// Events: everything that happened, as your receiver is told, and whether it was.
import { useApi, useCan, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths, withSearch } from "../../paths.ts";
import { Empty } from "../../ui/empty.tsx";
import { Filters, choice, day, useFilters } from "../../ui/filters.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { NoneMatch } from "../../ui/none-match.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { eventTypes } from "./events/types.ts";
import { DeliveryState } from "./events/delivery.tsx";
import { TypeAt } from "./events/type-at.tsx";
import { ResendOwn } from "./webhooks/resend-own.tsx";

type Event = Schema<"Event">;

const spec = {
  type: choice("Type", eventTypes),
  delivery: choice("Delivery", ["pending", "delivered", "undelivered", "none"]),
  created_from: day("From", "begin"),
  created_to: day("To", "end"),
};

export function Page() {
  const place = usePlace();
  const api = useApi();
  const can = useCan();
  const filters = useFilters(spec);
  const cursor = useCursor();
  const list = useList(api.read("/v1/events", { query: { ...filters.value, ...cursor.query } }));

  const columns: Column<Event>[] = [
    { head: "Type", cell: (event) => <TypeAt type={event.type} at={event.created_at} /> },
    { head: "About", from: "full", cell: (event) => <About of={event} /> },
    { head: "Delivery", cell: (event) => <DeliveryState of={event.delivery} /> },
    { head: "Attempts", align: "right", from: "wide", cell: (event) => event.delivery?.attempts ?? "" },
    { head: "Happened", align: "right", from: "wide", cell: (event) => <Time at={event.created_at} /> },
  ];
  return (
    <Frame
      title="Events"
      lead="What happened, as your receiver is notified of it, newest first."
      actions={can("events:write") && <ResendOwn />}
      curl={{ path: withSearch("/v1/events", filters.value) }}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Events"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(event) => event.id}
          to={(event) => paths.event(place, event.id)}
          empty={
            filters.isSet ? (
              <NoneMatch what="event" of={list.data} cursor={cursor} />
            ) : (
              <Empty
                title="No events yet"
                curl={{
                  method: "POST",
                  path: "/v1/payments",
                  body: {
                    amount_minor: 15_000_000,
                    currency: "IDR",
                    payment_method: "qris",
                    reference_id: "order-1042",
                  },
                }}
              >
                Every change to a payment, refund, dispute or settlement is an event. The first payment creates the
                first one.
              </Empty>
            )
          }
        />
      </div>
    </Frame>
  );
}

/** What it is about, as far as its data name it. */
export function About({ of: { data } }: { of: Event }) {
  const { reference, uuid } = data as { reference?: string; uuid?: string };
  return <code className="font-mono text-xs text-muted">{reference ?? uuid ?? ""}</code>;
}
