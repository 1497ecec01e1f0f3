// Keys: which systems may call the API as this merchant, with what rights, from where, and when each last did.
import { useState } from "react";
import { useApi, useCan, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { To } from "../../ui/link.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Page as Frame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time, TimeFromNow } from "../../ui/time.tsx";
import { ChangeKey } from "./keys/change.tsx";
import { CreateKey } from "./keys/create.tsx";
import { RevokeKey } from "./keys/revoke.tsx";
import { RollKey } from "./keys/roll.tsx";
import { scopeCount } from "./keys/terms.tsx";

type Key = Schema<"Key">;
type Doing = { what: "create" } | { what: "change" | "roll" | "revoke"; key: Key };

export function Page() {
  const { environment } = usePlace();
  const api = useApi();
  const can = useCan();
  const cursor = useCursor();
  const list = useList(api.read("/v1/credentials", { query: cursor.query }));
  const [doing, setDoing] = useState<Doing | undefined>(undefined);
  const close = (): void => setDoing(undefined);
  const create = can("credentials:write") && (
    <Button look="primary" onClick={() => setDoing({ what: "create" })}>
      Create a key
    </Button>
  );

  const columns: Column<Key>[] = [
    {
      head: "Name",
      cell: (key) => (
        <div className="py-0.5">
          <Name of={key} />
          {/* A narrow table has no room for the columns. */}
          <div className="-ml-3 roomy:hidden">
            <Actions of={key} onDo={(what) => setDoing({ what, key })} />
          </div>
        </div>
      ),
    },
    { head: "State", cell: (key) => <State of={key} /> },
    { head: "May", from: "wide", cell: (key) => scopeCount(key.scopes) },
    { head: "From", from: "full", cell: (key) => <Addresses of={key} /> },
    { head: "Last used", from: "wide", cell: (key) => <LastUse of={key} /> },
    { head: "Ends", from: "full", cell: (key) => <Ends of={key} /> },
    {
      head: "Actions",
      align: "right",
      from: "wide",
      cell: (key) => <Actions of={key} onDo={(what) => setDoing({ what, key })} />,
    },
  ];

  return (
    <Frame
      title="Keys"
      lead={`Your systems sign their ${environment} requests with these keys. A secret is shown once, when its key is created.`}
      actions={create}
    >
      <Table
        label="Keys"
        list={list}
        cursor={cursor}
        columns={columns}
        id={(key) => key.client_id}
        empty={
          <Empty title="No keys yet" action={create}>
            A key is a client_id and a secret. Create one for each of your systems, so that you can roll or revoke each
            one on its own.
          </Empty>
        }
      />
      {doing?.what === "create" && <CreateKey onClose={close} />}
      {doing?.what === "change" && <ChangeKey of={doing.key} onClose={close} />}
      {doing?.what === "roll" && <RollKey of={doing.key} onClose={close} />}
      {doing?.what === "revoke" && <RevokeKey of={doing.key} onClose={close} />}
    </Frame>
  );
}

function Name({ of: { name, client_id: id, signature } }: { of: Key }) {
  return (
    <>
      <div className="font-medium break-words">
        {name ?? <span className="text-muted">unnamed</span>}
        {signature === "rfc9421" && <span className="ml-2 text-xs font-normal text-muted">RFC 9421 only</span>}
      </div>
      <To to={paths.key(usePlace(), id)} className="link font-mono text-xs break-all">
        {id}
      </To>
    </>
  );
}

function State({ of: { state, replaced_by: by, expires_at: until } }: { of: Key }) {
  if (state !== "live") return <Status status={state} />;
  // Rolled, and still good: it waits for the systems that have not changed over.
  const isRolled = by !== null && until !== null;
  return isRolled ? <Status status="rolled" tone="warn" /> : <Status status="active" tone="good" />;
}

function Addresses({ of: { allowed_addresses: addresses } }: { of: Key }) {
  if (addresses.length === 0) return <span className="text-muted">anywhere</span>;
  const [first, ...rest] = addresses;
  return (
    <span title={addresses.join("\n")}>
      <code className="font-mono text-xs">{first}</code>
      {rest.length > 0 && <span className="text-muted"> and {rest.length} more</span>}
    </span>
  );
}

function LastUse({ of: { last_used: use } }: { of: Key }) {
  if (!use) return <span className="text-muted">never</span>;
  return (
    <span>
      <TimeFromNow at={use.at} /> <code className="font-mono text-xs text-muted">{use.address}</code>
    </span>
  );
}

function Ends({ of: { expires_at: at, revoked_at: revoked } }: { of: Key }) {
  if (revoked !== null) return <Time at={revoked} shape="minute" />;
  return at === null ? <span className="text-muted">never</span> : <Time at={at} shape="minute" />;
}

function Actions({ of, onDo }: { of: Key; onDo: (what: "change" | "roll" | "revoke") => void }) {
  const can = useCan();
  if (!can("credentials:write") || of.state === "revoked") return null;
  const name = of.name ?? of.client_id;
  return (
    <span className="inline-flex">
      <Button look="quiet" label={`Change ${name}`} onClick={() => onDo("change")}>
        Change
      </Button>
      {of.state === "live" && (
        <Button look="quiet" label={`Roll ${name}`} onClick={() => onDo("roll")}>
          Roll
        </Button>
      )}
      <Button look="quiet" label={`Revoke ${name}`} onClick={() => onDo("revoke")}>
        Revoke
      </Button>
    </span>
  );
}
