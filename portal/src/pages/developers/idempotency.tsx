// Idempotency: which keys requests used lately, and what became of each.
import { type FormEvent, useState } from "react";
import { useGo } from "../../address.ts";
import { useApi, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Page as Frame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { RecordStatus } from "./idempotency/record-status.tsx";

type UsedKey = Schema<"UsedIdempotencyKey">;

const columns: Column<UsedKey>[] = [
  { head: "Key", cell: ({ idempotency_key: key }) => <code className="font-mono text-xs break-all">{key}</code> },
  {
    head: "Bound to",
    from: "full",
    cell: ({ record, last_request: { method, path } }) => (
      <code className="font-mono text-xs">{record?.endpoint ?? `${method} ${path}`}</code>
    ),
  },
  { head: "On record", cell: ({ record }) => <RecordStatus of={record} /> },
  { head: "Requests", align: "right", from: "wide", cell: ({ requests }) => requests },
  { head: "Replays", align: "right", from: "wide", cell: ({ replays }) => replays },
  {
    head: "Conflicts",
    align: "right",
    from: "wide",
    cell: ({ conflicts }) => (conflicts > 0 ? <Status status={String(conflicts)} tone="bad" /> : 0),
  },
  { head: "Last used", align: "right", from: "wide", cell: ({ last_request: { at } }) => <Time at={at} /> },
];

export function Page() {
  const place = usePlace();
  const cursor = useCursor();
  const list = useList(useApi().read("/v1/idempotency-keys", { query: cursor.query }));
  return (
    <Frame
      title="Idempotency"
      lead="One key stands for one intent: sending it again returns the stored answer and does nothing twice. These are the keys of logged requests, most recently used first."
    >
      <div>
        <Lookup />
        <Table
          label="Idempotency keys"
          list={list}
          cursor={cursor}
          columns={columns}
          id={({ idempotency_key: key }) => key}
          to={({ idempotency_key: key }) => paths.idempotencyKey(place, key)}
          empty={<NoneYet />}
        />
      </div>
    </Frame>
  );
}

/** Any key of the last 72 hours can be looked up, logged or not. */
function Lookup() {
  const place = usePlace();
  const go = useGo();
  const [typed, setTyped] = useState("");
  const look = (event: FormEvent): void => {
    event.preventDefault();
    if (typed.trim() !== "") void go(paths.idempotencyKey(place, typed.trim()));
  };
  return (
    <form role="search" aria-label="Look a key up" className="mb-3 flex flex-wrap items-end gap-2" onSubmit={look}>
      <div className="w-full max-w-md">
        <label htmlFor="idempotency-key" className="mb-0.5 block text-xs text-muted">
          Idempotency-Key
        </label>
        <input
          id="idempotency-key"
          type="search"
          className="field font-mono"
          autoComplete="off"
          spellCheck={false}
          maxLength={255}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <Button type="submit">Look up</Button>
    </form>
  );
}

function NoneYet() {
  const { environment } = usePlace();
  if (environment === "production")
    return (
      <Empty title="No key in the log">
        In production only refused requests are logged. Look up any key from the last 72 hours above.
      </Empty>
    );
  return (
    <Empty
      title="No keys yet"
      curl={{
        method: "POST",
        path: "/v1/payments",
        body: { amount_minor: 15_000_000, currency: "IDR", payment_method: "qris", reference_id: "order-1042" },
      }}
    >
      Every POST has an Idempotency-Key. Send one twice with the same bytes and see the replay here; change the amount
      and see the conflict.
    </Empty>
  );
}
