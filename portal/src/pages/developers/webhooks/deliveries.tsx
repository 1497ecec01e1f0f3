// Every attempt to deliver, across all events.
import { useApi, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Empty } from "../../../ui/empty.tsx";
import { Filters, choice, day, useFilters } from "../../../ui/filters.tsx";
import { useCursor, useList } from "../../../ui/list.ts";
import { Status } from "../../../ui/status.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { TypeAt } from "../events/type-at.tsx";

type Delivery = Schema<"ListedDelivery">;

const spec = {
  outcome: choice("Outcome", ["failed"]),
  started_from: day("From", "begin"),
  started_to: day("To", "end"),
};
/** Attempts are no events: the stream does not tell of them. */
const ASK_EVERY_MS = 3_000;

export function Deliveries() {
  const place = usePlace();
  const api = useApi();
  const filters = useFilters(spec);
  const cursor = useCursor();
  const query = { ...filters.value, ...cursor.query };
  const list = useList({ ...api.read("/v1/deliveries", { query }), refetchInterval: ASK_EVERY_MS });

  const columns: Column<Delivery>[] = [
    { head: "Event", cell: (one) => <TypeAt type={one.type} at={one.started_at} /> },
    { head: "Outcome", cell: (one) => <Outcome of={one} /> },
    { head: "Attempt", align: "right", from: "wide", cell: (one) => one.attempt },
    { head: "Took", align: "right", from: "wide", cell: (one) => `${one.duration_ms} ms` },
    {
      head: "Why",
      from: "full",
      cell: (one) => <span className="line-clamp-1 max-w-72 text-muted">{one.reason ?? one.note ?? ""}</span>,
    },
    { head: "Begun", align: "right", from: "wide", cell: (one) => <Time at={one.started_at} /> },
  ];
  return (
    <div>
      <Filters of={filters} />
      <Table
        label="Deliveries"
        list={list}
        cursor={cursor}
        columns={columns}
        id={(one) => one.id}
        to={(one) => paths.delivery(place, one.event_id)}
        empty={
          filters.isSet ? (
            <Empty title="No attempt matches">Change the filters, or clear them.</Empty>
          ) : (
            <Empty
              title="Nothing was sent yet"
              curl={
                place.environment === "sandbox"
                  ? { method: "POST", path: "/v1/sandbox/events/trigger", body: { type: "payment.succeeded" } }
                  : undefined
              }
            >
              Each attempt to deliver an event is listed here, with what was sent and what your receiver answered.
            </Empty>
          )
        }
      />
    </div>
  );
}

export function Outcome({ of }: { of: { succeeded: boolean; status: number | null } }) {
  const text = of.status === null ? "no answer" : String(of.status);
  return <Status status={text} tone={of.succeeded ? "good" : "bad"} />;
}
