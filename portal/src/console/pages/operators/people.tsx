// The operators, and what an admin may change about them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh, useAction } from "../../../api/action.ts";
import { useSession } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm, Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit } from "../../../ui/form.tsx";
import { To } from "../../../ui/link.tsx";
import { Status } from "../../../ui/status.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { type Role, useMay } from "../../api/rights.ts";
import { at } from "../../paths.ts";
import { RoleField } from "./roles.tsx";

type Operator = Schema<"OperatorPerson">;

export function People() {
  const isAdmin = useMay()("admin");
  const self = useSession()?.person.person_id;
  const list = useQuery(read("/v1/operators"));
  const [changing, setChanging] = useState<Operator | undefined>(undefined);
  const [removing, setRemoving] = useState<Operator | undefined>(undefined);

  const columns: Column<Operator>[] = [
    {
      head: "Name",
      cell: ({ name, email, person_id: id }) => (
        <div className="max-w-40 truncate sm:max-w-80">
          <span className="font-medium">{name}</span>
          {id === self && <span className="text-muted"> · you</span>}
          <div className="truncate text-xs text-muted">{email}</div>
        </div>
      ),
    },
    { head: "Role", cell: ({ role }) => role },
    {
      head: "Second factor",
      from: "wide",
      cell: ({ has_second_factor: has }) => <Status status={has ? "yes" : "none"} tone={has ? "good" : "warn"} />,
    },
    { head: "Let in by", from: "full", cell: ({ created_by: by }) => <span className="text-muted">{by}</span> },
    { head: "Since", from: "wide", cell: ({ since }) => <Time at={since} shape="day" /> },
    { head: "What they did", from: "full", cell: ({ email }) => <To to={at.auditOf(email)}>Audit</To> },
  ];
  if (isAdmin) {
    columns.push({
      head: "Change",
      align: "right",
      cell: (operator) => (
        <span className="inline-flex flex-wrap justify-end gap-1">
          <Button look="quiet" label={`Change the role of ${operator.name}`} onClick={() => setChanging(operator)}>
            Role…
          </Button>
          <Button look="quiet" label={`Remove ${operator.name}`} onClick={() => setRemoving(operator)}>
            Remove…
          </Button>
        </span>
      ),
    });
  }
  return (
    <>
      <Table label="Operators" list={list} columns={columns} id={(one) => one.person_id} empty={null} />
      {changing && (
        <ChangeRole of={changing} isSelf={changing.person_id === self} close={() => setChanging(undefined)} />
      )}
      {removing && <Remove of={removing} isSelf={removing.person_id === self} close={() => setRemoving(undefined)} />}
    </>
  );
}

interface About {
  of: Operator;
  isSelf: boolean;
  close: () => void;
}

function ChangeRole({ of: operator, isSelf, close }: About) {
  const { person_id, name, role: before } = operator;
  const action = useAction(
    (role: Role) => write("PATCH", "/v1/operators/{person_id}", { path: { person_id }, body: { role } }),
    {
      refresh: ["/v1/operators", "/v1/session", "/v1/audit"],
      done: () => {
        say(`The role of ${name} is changed.`);
        close();
      },
    },
  );
  return (
    <Dialog open onClose={close} title={`The role of ${name}`}>
      <Form values={{ role: before }} action={action} onSubmit={({ role }) => action.run(role as Role)}>
        <RoleField />
        {isSelf && <p className="text-muted">This is your own role: you may lose the right to change it back.</p>}
        <Submit>Change the role</Submit>
      </Form>
    </Dialog>
  );
}

function Remove({ of: { person_id, name, email }, isSelf, close }: About) {
  const queries = useQueryClient();
  const remove = async (): Promise<void> => {
    await write("DELETE", "/v1/operators/{person_id}", { path: { person_id } });
    await refresh(queries, ["/v1/operators", "/v1/session", "/v1/audit"]);
    say(`${name} is no operator any more.`);
  };
  return (
    <Confirm
      open
      onClose={close}
      title={isSelf ? "Leave the console?" : `Remove ${name}?`}
      verb={isSelf ? "Leave" : "Remove the operator"}
      onConfirm={remove}
    >
      <p>
        {isSelf ? "You are" : `${email} is`} signed out of the console everywhere. What was done stays in the audit, and
        tokens stay good: revoke those that {isSelf ? "you" : "they"} have.
      </p>
    </Confirm>
  );
}
