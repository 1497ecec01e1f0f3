// What each role of an operator may do, in words, and the field that chooses one.
import { SelectField, useFormValues } from "../../../ui/form.tsx";
import type { Role } from "../../api/rights.ts";

export const roles: readonly Role[] = ["viewer", "support", "admin"];

export const meaningOf: Readonly<Record<Role, string>> = {
  viewer: "Reads everything except tokens and invitations, and changes nothing.",
  support:
    "Decides reviews, submits evidence, sends events again, takes books along and writes incidents; approves what it may do itself. Cannot move money, invite people or change settings.",
  admin: "Does everything: money, merchants, routing, acquirers, operators.",
};

/** The choice of a role, with what it means. */
export function RoleField() {
  const { role } = useFormValues();
  return <SelectField name="role" label="Role" options={roles} hint={meaningOf[role as Role]} />;
}
