// Audit: what people changed for the merchant, and what they tried to, newest first.
import { useState } from "react";
import { useApi } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { Code } from "../../ui/code.tsx";
import { Identity } from "../../ui/copy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Page as Frame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";

type Entry = Schema<"MerchantAuditEntry">;

export function Page() {
  const api = useApi();
  const cursor = useCursor();
  const list = useList(api.read("/v1/audit", { query: cursor.query }));
  const [open, setOpen] = useState<Entry | undefined>(undefined);

  const columns: Column<Entry>[] = [
    {
      head: "What",
      cell: (entry) => (
        <>
          <button
            type="button"
            className="inline-flex min-h-6 items-center text-left font-medium hover:underline"
            onClick={() => setOpen(entry)}
          >
            {entry.action.replaceAll("_", " ")}
          </button>
          {/* A narrow table has no room for the columns. */}
          <p className="text-xs text-muted roomy:hidden">
            {nameOf(entry.person)} · <Time at={entry.at} shape="minute" />
          </p>
          <p className="text-xs wrap-anywhere text-muted empty:hidden ample:hidden">{invitedOf(entry)}</p>
        </>
      ),
    },
    {
      head: "Who",
      from: "wide",
      cell: ({ person }) => <span className="block max-w-40 truncate">{nameOf(person)}</span>,
    },
    { head: "Outcome", cell: (entry) => <Outcome of={entry} /> },
    {
      head: "Of",
      from: "full",
      cell: (entry) =>
        invitedOf(entry) === undefined ? (
          <code className="font-mono text-xs">{objectOf(entry)}</code>
        ) : (
          <span className="block max-w-56 truncate">{invitedOf(entry)}</span>
        ),
    },
    { head: "Environment", from: "full", cell: ({ environment }) => environment ?? "" },
    { head: "From", from: "full", cell: ({ address }) => <code className="font-mono text-xs">{address}</code> },
    { head: "When", align: "right", from: "wide", cell: ({ at }) => <Time at={at} /> },
  ];
  return (
    <Frame
      title="Audit log"
      lead="Every change that your team made or tried to make for this merchant, newest first. Entries cannot be edited or removed. Changes by the gateway's operators are not included: ask them."
    >
      <Table
        label="Changes"
        list={list}
        cursor={cursor}
        columns={columns}
        id={(entry) => entry.request_id}
        empty={
          <Empty title="No changes yet">
            When somebody on your team changes something, it is recorded here before it happens.
          </Empty>
        }
      />
      {open && <Whole entry={open} close={() => setOpen(undefined)} />}
    </Frame>
  );
}

function nameOf(person: Entry["person"]): string {
  return person?.name ?? "operator";
}

/** What it was about, as the address names it, else the answer: the reference of a payment, a key, a dispute. */
function objectOf({ path, details }: Entry): string {
  const { object, client_id: key }: { object?: unknown; client_id?: unknown } = details ?? {};
  const named = [path?.match(/\b[a-z]{2,4}_[0-9a-z_]{20,}/)?.[0], object, key];
  return named.find((one) => typeof one === "string") ?? "";
}

/** Whom an invitation is for; undefined for everything else. */
function invitedOf({ details }: Entry): string | undefined {
  if (typeof details !== "object" || details === null || !("email" in details)) return undefined;
  return typeof details.email === "string" ? details.email : "whoever has the link";
}

/** What came of it. Some entries are no calls: they say only that it happened. */
function Outcome({ of: { path, status } }: { of: Entry }) {
  if (path === null) return <Status status="done" />;
  if (status === null) return <Status status="not on record" tone="warn" />;
  return status < 400 ? <Status status="done" /> : <Status status={`refused ${status}`} tone="bad" />;
}

function Whole({ entry, close }: { entry: Entry; close: () => void }) {
  const { action, person, at, environment, path, address, details, request_id: requestId } = entry;
  return (
    <Dialog open wide onClose={close} title={action.replaceAll("_", " ")}>
      <div className="space-y-4">
        <Facts>
          <Fact name="Who">{nameOf(person)}</Fact>
          {invitedOf(entry) !== undefined && <Fact name="Invited">{invitedOf(entry)}</Fact>}
          <Fact name="When">
            <Time at={at} />
          </Fact>
          <Fact name="Outcome">
            <Outcome of={entry} />
          </Fact>
          <Fact name="Environment">{environment ?? "both"}</Fact>
          <Fact name="From">{address ?? "unknown"}</Fact>
          <Fact name="Request">
            <Identity id={requestId} what="the request id" />
          </Fact>
        </Facts>
        {path !== null && <p className="font-mono text-xs break-all">{path}</p>}
        {details !== null && details !== undefined && <Code value={details} what="the details" />}
        <div>
          <Button onClick={close}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}
