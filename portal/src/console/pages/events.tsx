// Events of a merchant's book: what happened, and whether its receiver was notified.
import { ResendSince } from "../../pages/developers/webhooks/resend-since.tsx";
import { DeliveryState } from "../../pages/developers/events/delivery.tsx";
import { eventTypes } from "../../pages/developers/events/types.ts";
import { withSearch } from "../../paths.ts";
import { Empty } from "../../ui/empty.tsx";
import { Filters, choice, day, useFilters } from "../../ui/filters.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { NoneMatch } from "../../ui/none-match.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type Schema, read, write } from "../api/client.ts";
import { useMay } from "../api/rights.ts";
import { at } from "../paths.ts";
import { BookSwitch, useBook, useMerchantName } from "./merchants/book.tsx";

type Event = Schema<"Event">;

// The names are those of the API's query.
const spec = {
  type: choice("Type", eventTypes),
  delivery: choice("Delivery", ["pending", "delivered", "undelivered", "none"]),
  created_from: day("From", "begin"),
  created_to: day("To", "end"),
};

const columns: Column<Event>[] = [
  { head: "Type", cell: ({ type }) => <code className="font-mono text-xs">{type}</code> },
  { head: "About", from: "full", cell: (event) => <About of={event} /> },
  { head: "Delivery", cell: ({ delivery }) => <DeliveryState of={delivery} /> },
  { head: "Attempts", align: "right", from: "wide", cell: ({ delivery }) => delivery?.attempts ?? "" },
  { head: "Happened", align: "right", from: "wide", cell: ({ created_at: when }) => <Time at={when} /> },
];

export function Page() {
  const book = useBook();
  const { id, environment } = book;
  const name = useMerchantName(id);
  const may = useMay();
  const filters = useFilters(spec);
  const cursor = useCursor();
  const path = { id, environment };
  const query = { ...filters.value, ...cursor.query };
  const list = useList(read("/v1/merchants/{id}/books/{environment}/events", { path, query }));
  return (
    <Frame
      title="Events"
      above={{ to: at.merchant(id), label: name }}
      lead={`What happened in ${name}'s ${environment} book, newest first, and whether its receiver was notified.`}
      actions={
        <>
          <BookSwitch of={book} to={at.events} />
          {may("support") && (
            <ResendSince
              send={(body) => write("POST", "/v1/merchants/{id}/books/{environment}/events/resend", { path, body })}
              refresh={["/v1/merchants/{id}/books/{environment}/events", "/v1/waiting", "/v1/audit"]}
            />
          )}
        </>
      }
      curl={{ path: withSearch(`/v1/merchants/${id}/books/${environment}/events`, filters.value) }}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Events"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(event) => event.id}
          to={(event) => at.event(id, environment, event.id)}
          empty={
            filters.isSet ? (
              <NoneMatch what="event" of={list.data} cursor={cursor} />
            ) : (
              <Empty title="No events yet">
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
function About({ of: { data } }: { of: Event }) {
  const { reference, uuid } = data as { reference?: string; uuid?: string };
  return <code className="font-mono text-xs text-muted">{reference ?? uuid ?? ""}</code>;
}
