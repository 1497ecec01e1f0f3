// The versions of the routing rules: who stored which and why, how they differ, and the way back.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { refresh } from "../../../api/action.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { classes } from "../../../ui/classes.ts";
import { Confirm, Dialog } from "../../../ui/dialog.tsx";
import { useCursor, useList } from "../../../ui/list.ts";
import { Status } from "../../../ui/status.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { differenceOf, lineOf } from "./draft.ts";

type Version = Schema<"RoutingRuleSetSummary">;

interface Props {
  /** The version that decides. */
  active: number;
  mayChange: boolean;
  /** Takes a version's rules into the draft. */
  onEdit: (version: number) => void;
}

export function Versions({ active, mayChange, onEdit }: Props) {
  const queries = useQueryClient();
  const cursor = useCursor();
  const list = useList(read("/v1/routing/rules", { query: cursor.query }));
  const [comparing, setComparing] = useState<number | undefined>(undefined);
  const [restoring, setRestoring] = useState<Version | undefined>(undefined);
  const columns: Column<Version>[] = [
    {
      head: "Version",
      cell: ({ version, rule_count: count, restores, note }) => (
        <div className="min-w-0">
          <span className="font-medium">{version}</span>{" "}
          <span className="text-muted">
            {count} {count === 1 ? "rule" : "rules"}
            {restores !== null && `, those of ${restores}`}
          </span>
          {note !== null && <p className="text-xs wrap-anywhere text-muted">{note}</p>}
        </div>
      ),
    },
    { head: "State", cell: ({ status }) => <Status status={status} tone={status === "active" ? "good" : "calm"} /> },
    {
      head: "Stored",
      from: "wide",
      cell: ({ created_at: at, created_by: by }) => (
        <>
          <Time at={at} shape="minute" /> <p className="text-xs text-muted">{by ?? "the installation"}</p>
        </>
      ),
    },
    {
      head: "Last activated",
      from: "full",
      cell: ({ activated_at: at, activated_by: by }) =>
        at !== null && (
          <>
            <Time at={at} shape="minute" /> <p className="text-xs text-muted">{by ?? "the installation"}</p>
          </>
        ),
    },
    {
      head: "Do",
      align: "right",
      cell: (one) => (
        <span className="inline-flex flex-wrap justify-end gap-1">
          {one.version !== active && (
            <Button look="quiet" label={`Compare version ${one.version}`} onClick={() => setComparing(one.version)}>
              Compare
            </Button>
          )}
          {mayChange && (
            <Button look="quiet" label={`Edit from version ${one.version}`} onClick={() => onEdit(one.version)}>
              Edit from
            </Button>
          )}
          {mayChange && one.status === "retired" && (
            <Button look="quiet" label={`Roll back… to version ${one.version}`} onClick={() => setRestoring(one)}>
              Roll back…
            </Button>
          )}
          {mayChange && one.status === "draft" && (
            <Button look="quiet" label={`Activate… version ${one.version}`} onClick={() => setRestoring(one)}>
              Activate…
            </Button>
          )}
        </span>
      ),
    },
  ];
  const letDecide = async ({ version, status }: Version): Promise<void> => {
    const path = { version: String(version) };
    const answer =
      status === "draft"
        ? await write("POST", "/v1/routing/rules/{version}/activate", { path })
        : await write("POST", "/v1/routing/rules/{version}/roll-back", { path, body: {} });
    showDecided(answer);
    await refresh(queries);
  };
  return (
    <>
      <Table
        label="Versions"
        list={list}
        cursor={cursor}
        columns={columns}
        id={({ version }) => String(version)}
        empty={null}
      />
      {comparing !== undefined && <Compare version={comparing} active={active} close={() => setComparing(undefined)} />}
      {restoring && (
        <Confirm
          open
          onClose={() => setRestoring(undefined)}
          title={
            restoring.status === "draft"
              ? `Activate version ${restoring.version}?`
              : `Roll back to version ${restoring.version}?`
          }
          verb={restoring.status === "draft" ? "Activate it" : "Roll back"}
          look="primary"
          onConfirm={() => letDecide(restoring)}
        >
          <p>
            {restoring.status === "draft"
              ? `Its rules route every payment from now on, in every process within a second. Version ${active} no longer decides.`
              : `The rules of version ${restoring.version} decide again within a second, as a new version. Version ${active} stays in the list, so you can return to it.`}
          </p>
        </Confirm>
      )}
    </>
  );
}

/** What came of letting rules decide: they do, or a second operator has to agree first. */
export function showDecided(answer: Schema<"RoutingRuleSet"> | Schema<"ApprovalAsked">): void {
  if ("approval" in answer) say("A second operator has to approve it. Until then nothing changes.", "quiet");
  else say(`Version ${answer.version} decides now.`);
}

const signs = { same: " ", gone: "−", new: "+" };
const looks = { same: "text-muted", gone: "text-bad", new: "text-good" };

function Compare({ version, active, close }: { version: number; active: number; close: () => void }) {
  const now = useQuery(read("/v1/routing/rules/{version}", { path: { version: String(active) } }));
  const other = useQuery(read("/v1/routing/rules/{version}", { path: { version: String(version) } }));
  return (
    <Dialog open wide onClose={close} title={`What version ${version} would change`}>
      <p className="mb-3 text-muted">
        − is in version {active}, which decides now; + is in version {version}.
      </p>
      <Answer of={now}>
        {({ rules: before }) => (
          <Answer of={other}>
            {({ rules: after, faults }) => (
              <>
                <ol className="space-y-0.5 rounded border border-line p-3 font-mono text-xs">
                  {differenceOf(before.map(lineOf), after.map(lineOf)).map(({ text, kind }, at) => (
                    <li key={`${at} ${text}`} className={classes("flex gap-2", looks[kind])}>
                      <span>{signs[kind]}</span>
                      <span className="wrap-anywhere">{text}</span>
                    </li>
                  ))}
                </ol>
                {faults.length > 0 && (
                  <ul className="mt-3 text-warn">
                    {faults.map((fault) => (
                      <li key={`${fault.rule} ${fault.field}`}>
                        Rule {(fault.rule ?? 0) + 1}, {fault.field ?? "as a whole"}: {fault.message}
                      </li>
                    ))}
                  </ul>
                )}
              </>
            )}
          </Answer>
        )}
      </Answer>
    </Dialog>
  );
}
