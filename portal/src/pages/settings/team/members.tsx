// Who belongs to the merchant, and what an owner may change about it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh } from "../../../api/action.ts";
import { useApi, useCan } from "../../../api/place.ts";
import { useSession } from "../../../api/session.ts";
import type { Schema } from "../../../api/types.ts";
import { PersonButtons, PersonName, RoleDialog } from "../../../shell/persons.tsx";
import { Confirm } from "../../../ui/dialog.tsx";
import { SelectField, useFormValues } from "../../../ui/form.tsx";
import { Status } from "../../../ui/status.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { type Role, meaningOf, roles } from "./roles.ts";

type Member = Schema<"TeamMember">;

export function Members() {
  const api = useApi();
  const can = useCan();
  const self = useSession()?.person.person_id;
  const list = useQuery(api.read("/v1/team"));
  const [changing, setChanging] = useState<Member | undefined>(undefined);
  const [removing, setRemoving] = useState<Member | undefined>(undefined);

  const columns: Column<Member>[] = [
    {
      head: "Name",
      cell: (member) => <PersonName of={member} self={self} className="min-w-24 max-w-40" />,
    },
    { head: "Role", cell: ({ role }) => role },
    {
      head: "Second factor",
      from: "wide",
      cell: ({ has_second_factor: has }) => <Status status={has ? "yes" : "none"} tone={has ? "good" : "calm"} />,
    },
    { head: "Since", from: "wide", cell: ({ since }) => <Time at={since} shape="day" /> },
  ];
  if (can("team:write")) {
    columns.push({
      head: "Change",
      align: "right",
      cell: (member) => (
        <PersonButtons name={member.name} role={() => setChanging(member)} remove={() => setRemoving(member)} />
      ),
    });
  }
  return (
    <>
      <Table label="Members" list={list} columns={columns} id={(member) => member.person_id} empty={null} />
      {changing && (
        <ChangeRole member={changing} isSelf={changing.person_id === self} close={() => setChanging(undefined)} />
      )}
      {removing && (
        <Remove member={removing} isSelf={removing.person_id === self} close={() => setRemoving(undefined)} />
      )}
    </>
  );
}

interface About {
  member: Member;
  isSelf: boolean;
  close: () => void;
}

function ChangeRole({ member: { person_id, name, role: before }, isSelf, close }: About) {
  const api = useApi();
  return (
    <RoleDialog<Role>
      name={name}
      role={before}
      isSelf={isSelf}
      roleField={<RoleField />}
      change={(role) => api.write("PATCH", "/v1/team/{person_id}", { path: { person_id }, body: { role } })}
      refresh={["/v1/team", "/v1/session", "/v1/audit"]}
      close={close}
    />
  );
}

/** The choice of a role, with what it means. */
export function RoleField() {
  const { role } = useFormValues();
  return <SelectField name="role" label="Role" options={roles} hint={meaningOf[role as Role]} />;
}

function Remove({ member, isSelf, close }: About) {
  const api = useApi();
  const queries = useQueryClient();
  const remove = async (): Promise<void> => {
    await api.write("DELETE", "/v1/team/{person_id}", { path: { person_id: member.person_id } });
    await refresh(queries, ["/v1/team", "/v1/session", "/v1/audit"]);
    say(`${member.name} is no longer a member.`);
  };
  return (
    <Confirm
      open
      onClose={close}
      title={isSelf ? "Leave this merchant?" : `Remove ${member.name}?`}
      verb={isSelf ? "Leave" : "Remove the member"}
      onConfirm={remove}
    >
      <p>
        {isSelf ? "You" : member.email} can no longer act for this merchant, starting with the next request. Past
        changes stay in the audit log. API keys and webhook secrets stay valid: revoke or rotate those that{" "}
        {isSelf ? "you" : "they"} have seen. Invitations that {isSelf ? "you" : "they"} made are void.
      </p>
    </Confirm>
  );
}
