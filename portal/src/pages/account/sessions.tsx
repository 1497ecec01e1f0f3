// Sessions: where a person is signed in, and signing out there.
import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../api/action.ts";
import { personApi } from "../../api/session.ts";
import type { Schema } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/face.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time, TimeFromNow } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";
import { browserName } from "./sessions/browser-name.ts";

type Session = Schema<"Session">;

const fresh = ["/v1/sessions"];

export function Page() {
  const list = useQuery(personApi.read("/v1/sessions"));
  const end = useAction(
    (session: Session) =>
      personApi.write("DELETE", "/v1/sessions/{session_id}", { path: { session_id: session.session_id } }),
    { refresh: fresh, done: () => say("That session is signed out.") },
  );
  const endOthers = useAction(() => personApi.write("DELETE", "/v1/sessions", {}), {
    refresh: fresh,
    done: () => say("You are signed out everywhere else."),
  });
  const columns: Column<Session>[] = [
    {
      head: "Browser",
      cell: ({ user_agent }) => (
        <span title={user_agent} className="font-medium">
          {browserName(user_agent)}
        </span>
      ),
    },
    { head: "Address", from: "wide", cell: ({ address }) => <code className="font-mono text-xs">{address}</code> },
    { head: "Signed in", from: "full", cell: ({ created_at }) => <Time at={created_at} shape="minute" /> },
    {
      head: "Last seen",
      cell: ({ current, seen_at }) =>
        current ? <Status status="this one" tone="good" /> : <TimeFromNow at={seen_at} />,
    },
    {
      head: "Action",
      align: "right",
      cell: (session) =>
        session.current ? null : (
          <Button
            look="quiet"
            label={`Sign out of ${browserName(session.user_agent)} at ${session.address}`}
            onClick={() => end.run(session)}
          >
            Sign out
          </Button>
        ),
    },
  ];
  const others = list.data?.data.some(({ current }) => !current);
  return (
    <Frame
      title="Sessions"
      lead="Where you are signed in. If you do not recognize a session, sign it out and change your password."
      actions={
        others && (
          <Button look="danger" pending={endOthers.pending} onClick={() => endOthers.run(undefined)}>
            Sign out everywhere else
          </Button>
        )
      }
    >
      <div className="space-y-3">
        {(end.error ?? endOthers.error) && <ErrorNote error={(end.error ?? endOthers.error)!} />}
        <Table
          label="Sessions"
          list={list}
          columns={columns}
          id={({ session_id }) => session_id}
          empty={<p>None.</p>}
        />
        <p className="text-xs text-muted">
          A session ends after 12 hours without use, and after seven days at the latest.
        </p>
      </div>
    </Frame>
  );
}
