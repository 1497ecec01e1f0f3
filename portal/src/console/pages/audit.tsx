// Audit: what operators changed or tried to change, whoever they were and however they came, newest first.
import { useState } from "react";
import { useQueryText } from "../../address.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Code } from "../../ui/code.tsx";
import { Identity } from "../../ui/copy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { To } from "../../ui/link.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type Schema, read } from "../api/client.ts";
import { withSearch } from "../../paths.ts";
import { at } from "../paths.ts";

type Entry = Schema<"AuditEntry">;

export function Page() {
  const { actor, merchant_id } = useQueryText();
  const cursor = useCursor();
  const list = useList(read("/v1/audit", { query: { actor, merchant_id, ...cursor.query } }));
  const [open, setOpen] = useState<Entry | undefined>(undefined);
  const columns: Column<Entry>[] = [
    {
      head: "What",
      cell: (entry) => (
        <>
          <button
            type="button"
            className="inline-flex min-h-6 items-center text-left font-mono text-xs font-medium break-all hover:underline"
            onClick={() => setOpen(entry)}
          >
            {entry.method} {entry.path.replace("/ops/v1", "")}
          </button>
          {/* A narrow table has no room for the columns. */}
          <p className="text-xs text-muted roomy:hidden">
            {entry.actor} · <Time at={entry.at} shape="minute" />
          </p>
        </>
      ),
    },
    {
      head: "Who",
      from: "wide",
      cell: ({ actor: name }) =>
        name !== null && (
          <To to={at.auditOf(name)} className="block max-w-48 truncate leading-6 hover:underline">
            {name}
          </To>
        ),
    },
    { head: "Outcome", cell: ({ status }) => <Outcome status={status} /> },
    { head: "From", from: "full", cell: ({ address }) => <code className="font-mono text-xs">{address}</code> },
    { head: "When", align: "right", from: "wide", cell: ({ at: when }) => <Time at={when} /> },
  ];
  return (
    <Frame
      title="Audit"
      actions={<ButtonLink to={at.rejectedCalls()}>Rejected calls</ButtonLink>}
      lead={
        actor === undefined && merchant_id === undefined ? (
          "Every change that operators made or tried to make, newest first. Entries cannot be edited or removed."
        ) : (
          <>
            What {actor ?? "operators"} changed
            {merchant_id !== undefined && (
              <>
                {" "}
                of <To to={at.merchant(merchant_id)}>this merchant</To>
              </>
            )}{" "}
            or tried to.
            {merchant_id !== undefined &&
              " Changes by the merchant's own team are in its portal, under Settings, Audit log."}{" "}
            <To to={at.audit()}>Everything</To>
          </>
        )
      }
      curl={{ path: withSearch("/v1/audit", { actor, merchant_id }) }}
    >
      <Table
        label="Changes"
        list={list}
        cursor={cursor}
        columns={columns}
        id={(entry) => entry.request_id}
        empty={
          <Empty title="No changes yet">
            When an operator changes something, it is recorded here before it happens.
          </Empty>
        }
      />
      {open && <Whole entry={open} close={() => setOpen(undefined)} />}
    </Frame>
  );
}

function Outcome({ status }: { status: number | null }) {
  if (status === null) return <Status status="not on record" tone="warn" />;
  // Nothing was done yet: it waited for a second operator.
  if (status === 202) return <Status status="asked for" />;
  return status < 400 ? <Status status="done" /> : <Status status={`refused ${status}`} tone="bad" />;
}

function Whole({ entry, close }: { entry: Entry; close: () => void }) {
  return (
    <Dialog open wide onClose={close} title={`${entry.method} ${entry.path}`}>
      <div className="space-y-4">
        <Facts>
          <Fact name="Who">
            {entry.actor} ({entry.role})
          </Fact>
          {entry.approved_by !== null && <Fact name="Approved by">{entry.approved_by}</Fact>}
          <Fact name="When">
            <Time at={entry.at} />
          </Fact>
          <Fact name="Outcome">
            <Outcome status={entry.status} />
          </Fact>
          <Fact name="From">{entry.address ?? "the command line"}</Fact>
          <Fact name="Merchant">
            {entry.merchant_id === null ? "none" : <Identity id={entry.merchant_id} what="the merchant" />}
          </Fact>
          <Fact name="Request">
            <Identity id={entry.request_id} what="the request id" />
          </Fact>
        </Facts>
        {entry.body !== null && entry.body !== undefined && <Code value={entry.body} what="what was sent" />}
        <div>
          <Button onClick={close}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}
