// A merchant's credentials: what its systems sign with. Secrets are shown once, when they are made.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh, useAction } from "../../../api/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm, Dialog } from "../../../ui/dialog.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { ChoicesField, Form, SelectField, Submit, needed } from "../../../ui/form.tsx";
import { To } from "../../../ui/link.tsx";
import { useCursor, useList } from "../../../ui/list.ts";
import { Once } from "../../../ui/once.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time, TimeFromNow } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { scopeCount, scopes } from "../../../pages/developers/keys/terms.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { at } from "../../paths.ts";
import { environments } from "./book-links.tsx";
import { Secret } from "./secret.tsx";

type Credential = Schema<"Credential">;
type Wanted = Schema<"CreateCredential">;

const signatures = [
  { value: "any", label: "Timestamp and HMAC, or RFC 9421" },
  { value: "rfc9421", label: "RFC 9421 only" },
];
const oneScope = needed("One thing that it may do");

export function Credentials({ id }: { id: string }) {
  const isAdmin = useMay()("admin");
  const cursor = useCursor();
  const list = useList(read("/v1/merchants/{id}/credentials", { path: { id }, query: cursor.query }));
  const [making, setMaking] = useState(false);
  const [ending, setEnding] = useState<Credential | undefined>(undefined);
  const columns: Column<Credential>[] = [
    {
      head: "Credential",
      cell: (one) => (
        <>
          <To to={at.key(id, one.client_id)} className="link font-mono text-xs break-all">
            {one.client_id}
          </To>
          {one.name !== null && <div className="max-w-48 truncate text-xs text-muted">{one.name}</div>}
        </>
      ),
    },
    { head: "Environment", cell: ({ environment }) => environment },
    { head: "May", from: "wide", cell: (one) => scopeCount(one.scopes) },
    { head: "State", cell: (one) => <State of={one} /> },
    { head: "Made", from: "full", cell: (one) => <Time at={one.created_at} shape="day" /> },
  ];
  if (isAdmin) {
    columns.push({
      head: "Change",
      align: "right",
      cell: (one) =>
        one.revoked_at === null && (
          <Button look="quiet" label={`Revoke ${one.name ?? one.client_id}`} onClick={() => setEnding(one)}>
            Revoke…
          </Button>
        ),
    });
  }
  const path = `/v1/merchants/${id}/credentials`;
  return (
    <Section
      title="Credentials"
      actions={isAdmin && <Button onClick={() => setMaking(true)}>Make a credential…</Button>}
    >
      <Table
        label="Credentials"
        list={list}
        cursor={cursor}
        columns={columns}
        id={(one) => one.client_id}
        empty={
          <Empty title="No credentials yet" curl={{ method: "POST", path, body: { environment: "sandbox" } }}>
            The merchant's systems sign every request with one. Its own team can create them too, in the portal.
          </Empty>
        }
      />
      {making && <Make id={id} close={() => setMaking(false)} />}
      {ending && <Revoke id={id} of={ending} close={() => setEnding(undefined)} />}
    </Section>
  );
}

function State({ of: { revoked_at: revoked, expires_at: ends } }: { of: Credential }) {
  if (revoked !== null) return <Status status="revoked" />;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <Status status="active" tone="good" />
      {ends !== null && (
        <span className="text-xs text-muted">
          ends <TimeFromNow at={ends} />
        </span>
      )}
    </span>
  );
}

function Make({ id, close }: { id: string; close: () => void }) {
  const action = useAction((body: Wanted) => write("POST", "/v1/merchants/{id}/credentials", { path: { id }, body }), {
    refresh: ["/v1/merchants/{id}/credentials", "/v1/audit"],
  });
  const made = action.result;
  return (
    <Dialog open onClose={close} title={made ? `A credential for ${made.environment}` : "Make a credential"}>
      {made ? (
        <Once>
          <p>
            <strong>The secret is shown only once.</strong> Send both to the merchant over a channel that nobody else
            can read.
          </p>
          <Secret label="client_id" text={made.client_id} />
          <Secret label="secret" text={made.secret} />
          <Button onClick={close}>I have handed it over</Button>
        </Once>
      ) : (
        <Form
          values={{ environment: "sandbox", scopes: scopes.join(" "), signature: "any" }}
          action={action}
          onSubmit={({ environment, scopes: chosen = "", signature }) =>
            action.run({
              environment: environment as Wanted["environment"],
              scopes: chosen.split(" ").filter(Boolean) as NonNullable<Wanted["scopes"]>,
              signature: signature as NonNullable<Wanted["signature"]>,
            })
          }
        >
          <SelectField name="environment" label="Environment" options={environments} />
          <ChoicesField name="scopes" label="May" options={scopes} check={oneScope} />
          <SelectField name="signature" label="Signatures" options={signatures} />
          <Submit>Make it</Submit>
        </Form>
      )}
    </Dialog>
  );
}

function Revoke({ id, of, close }: { id: string; of: Credential; close: () => void }) {
  const queries = useQueryClient();
  const revoke = async (): Promise<void> => {
    const path = { id, client_id: of.client_id };
    await write("DELETE", "/v1/merchants/{id}/credentials/{client_id}", { path });
    await refresh(queries, ["/v1/merchants/{id}/credentials", "/v1/audit"]);
    say("The credential is revoked.");
  };
  return (
    <Confirm open onClose={close} title="Revoke the credential?" verb="Revoke it" onConfirm={revoke}>
      <p>
        Within a second every request signed with <code className="font-mono text-xs break-all">{of.client_id}</code> of{" "}
        {of.environment} is refused. This cannot be undone. What it changed is read as before.
      </p>
    </Confirm>
  );
}
