// What falls due next, each with a button that moves the clock just so far.
import { useQuery } from "@tanstack/react-query";
import { useApi, usePlace } from "../../../api/place.ts";
import type { Place } from "../../../api/client.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Button } from "../../../ui/button.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { To } from "../../../ui/link.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { spanOf } from "./span.ts";

type Due = Schema<"ComingDue">;

const words: Record<Due["kind"], string> = {
  payment_expires: "A payment expires",
  evidence_due: "A dispute without evidence is lost",
  settlement_run: "Paid payments are gathered into a settlement",
  settlement_paid: "A settlement is paid out",
  delivery_tried: "A webhook is tried again",
};

function pageOf(place: Place, { kind, id }: Due): string | undefined {
  if (id === null) return undefined;
  const pages: Partial<Record<Due["kind"], (place: Place, id: string) => string>> = {
    payment_expires: paths.payment,
    evidence_due: paths.dispute,
    settlement_paid: paths.settlement,
    delivery_tried: paths.event,
  };
  return pages[kind]?.(place, id);
}

export function ComingDue({ isMoving, advance }: { isMoving: boolean; advance: (seconds: number) => Promise<void> }) {
  const api = useApi();
  const place = usePlace();
  const list = useQuery(api.read("/v1/sandbox/clock/due"));
  const columns: Column<Due>[] = [
    { head: "What", cell: ({ kind }) => words[kind] },
    {
      head: "Of",
      from: "wide",
      cell: (due) => {
        const to = pageOf(place, due);
        return to === undefined ? null : (
          <To to={to} className="link font-mono text-xs">
            {due.id}
          </To>
        );
      },
    },
    { head: "When", from: "wide", cell: ({ at }) => <Time at={at} /> },
    {
      head: "Move there",
      align: "right",
      cell: (due) => (
        <Button
          look="quiet"
          pending={isMoving}
          label={`Move the clock by ${spanOf(due.in_seconds)}: ${words[due.kind]}`}
          onClick={() => advance(due.in_seconds)}
        >
          + {spanOf(due.in_seconds)}
        </Button>
      ),
    },
  ];
  return (
    <Table
      label="Falls due next"
      list={list}
      columns={columns}
      id={(due) => `${due.kind} ${due.id ?? due.at}`}
      empty={
        <Empty title="Nothing is due">
          Payments waiting to be paid, disputes waiting for evidence, payouts and webhook retries appear here.
        </Empty>
      }
    />
  );
}
