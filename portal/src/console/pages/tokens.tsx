// Tokens: what programs call the operators' API with.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh } from "../../api/action.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/empty.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Page as Frame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time, TimeFromNow } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";
import { type Schema, read, write } from "../api/client.ts";
import { MakeToken, RotateToken } from "./tokens/make.tsx";

type Token = Schema<"OperatorToken">;

export function Page() {
  const cursor = useCursor();
  const list = useList(read("/v1/tokens", { query: cursor.query }));
  const [making, setMaking] = useState(false);
  const [rotating, setRotating] = useState<Token | undefined>(undefined);
  const [ending, setEnding] = useState<Token | undefined>(undefined);
  const isGood = ({ revoked_at: revoked, replaced_by: replaced }: Token): boolean =>
    revoked === null && replaced === null;

  const columns: Column<Token>[] = [
    {
      head: "Name",
      cell: (token) => (
        <div className="max-w-48 truncate">
          <span className="font-medium">{token.name}</span>
          <div className="truncate text-xs text-muted">by {token.created_by}</div>
        </div>
      ),
    },
    { head: "Role", cell: ({ role }) => role },
    { head: "State", cell: (token) => <State token={token} /> },
    {
      head: "Last used",
      from: "wide",
      cell: ({ last_used_at: used, last_used_from: from }) =>
        used === null ? (
          <span className="text-muted">never</span>
        ) : (
          <>
            <TimeFromNow at={used} /> <span className="font-mono text-xs text-muted">{from}</span>
          </>
        ),
    },
    { head: "Made", from: "full", cell: ({ created_at: at }) => <Time at={at} shape="day" /> },
    {
      head: "Change",
      align: "right",
      cell: (token) =>
        isGood(token) && (
          <span className="inline-flex flex-wrap justify-end gap-1">
            <Button look="quiet" label={`Rotate ${token.name}`} onClick={() => setRotating(token)}>
              Rotate…
            </Button>
            <Button look="quiet" label={`Revoke ${token.name}`} onClick={() => setEnding(token)}>
              Revoke…
            </Button>
          </span>
        ),
    },
  ];
  return (
    <Frame
      title="Tokens"
      lead="Programs and the command line call the operators' API with a token. People sign in instead."
      curl={{ path: "/v1/tokens" }}
      actions={
        <Button look="primary" onClick={() => setMaking(true)}>
          Make a token
        </Button>
      }
    >
      <Table
        label="Tokens"
        list={list}
        cursor={cursor}
        columns={columns}
        id={(token) => token.token_id}
        empty={
          <Empty
            title="No named tokens"
            curl={{ method: "POST", path: "/v1/tokens", body: { name: "nightly-report", role: "viewer" } }}
          >
            Give each program a token of its own, with the least role it needs: the audit names it, and you can revoke
            it on its own.
          </Empty>
        }
      />
      {making && <MakeToken close={() => setMaking(false)} />}
      {rotating && <RotateToken name={rotating.name} close={() => setRotating(undefined)} />}
      {ending && <Revoke name={ending.name} close={() => setEnding(undefined)} />}
    </Frame>
  );
}

function State({ token: { revoked_at: revoked, replaced_by: replaced, expires_at: ends } }: { token: Token }) {
  if (revoked !== null) return <Status status="revoked" />;
  if (replaced !== null) return <Status status="replaced" />;
  if (ends === null) return <Status status="good" tone="good" />;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <Status status="good" tone="good" />
      <span className="text-xs text-muted">
        ends <TimeFromNow at={ends} />
      </span>
    </span>
  );
}

function Revoke({ name, close }: { name: string; close: () => void }) {
  const queries = useQueryClient();
  const revoke = async (): Promise<void> => {
    await write("DELETE", "/v1/tokens/{name}", { path: { name } });
    await refresh(queries, ["/v1/tokens", "/v1/audit"]);
    say(`The token ${name} is revoked.`);
  };
  return (
    <Confirm open onClose={close} title={`Revoke ${name}?`} verb="Revoke it" onConfirm={revoke}>
      <p>Anything that uses it is refused within a second. Its name can be used again.</p>
    </Confirm>
  );
}
