// What each role of an operator may do, in words, and the field that chooses one.
import { SelectField, useFormValues } from "../../../ui/form.tsx";
import type { Role } from "../../api/rights.ts";

export const roles: readonly Role[] = ["viewer", "support", "admin"];

export const meaningOf: Readonly<Record<Role, string>> = {
  viewer: "Reads everything, and changes nothing.",
  support:
    "Judges reviews, submits evidence, sends events again and writes incidents. Moves no money, lets nobody in, changes no setting.",
  admin: "Does everything: money, merchants, routing, acquirers, operators.",
};

/** The choice of a role, with what it means. */
export function RoleField() {
  const { role } = useFormValues();
  return <SelectField name="role" label="Role" options={roles} hint={meaningOf[role as Role]} />;
}
