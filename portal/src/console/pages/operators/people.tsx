// The operators, and what an admin may change about them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh } from "../../../api/action.ts";
import { useSession } from "../../../api/session.ts";
import { PersonButtons, PersonName, RoleDialog } from "../../../shell/persons.tsx";
import { Confirm } from "../../../ui/dialog.tsx";
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
      cell: (operator) => <PersonName of={operator} self={self} className="min-w-32 max-w-40" />,
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
        <PersonButtons name={operator.name} role={() => setChanging(operator)} remove={() => setRemoving(operator)} />
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

function ChangeRole({ of: { person_id, name, role: before }, isSelf, close }: About) {
  return (
    <RoleDialog<Role>
      name={name}
      role={before}
      isSelf={isSelf}
      roleField={<RoleField />}
      change={(role) => write("PATCH", "/v1/operators/{person_id}", { path: { person_id }, body: { role } })}
      refresh={["/v1/operators", "/v1/session", "/v1/audit"]}
      close={close}
    />
  );
}

function Remove({ of: { person_id, name, email }, isSelf, close }: About) {
  const queries = useQueryClient();
  const remove = async (): Promise<void> => {
    await write("DELETE", "/v1/operators/{person_id}", { path: { person_id } });
    await refresh(queries, ["/v1/operators", "/v1/session", "/v1/audit"]);
    say(`${name} is no longer an operator.`);
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
        {isSelf ? "You are" : `${email} is`} signed out of the console everywhere. Past changes stay in the audit.
        Tokens stay valid: revoke those that {isSelf ? "you" : "they"} have. Invitation links for merchants' owners and
        merchants' keys that {isSelf ? "you" : "they"} made stay valid too: the audit names them.
      </p>
    </Confirm>
  );
}
