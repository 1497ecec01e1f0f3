// Roles of operators, from the least to the most rights, and the comparison of two roles. Pure.

/** A viewer reads. Support decides daily what moves no money, access or settings (`docs/guides/operator-api.md`). An admin may do everything. */
export const operatorRoles = ["viewer", "support", "admin"] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/** True when `role` has the rights of `least` or more. */
export function mayAct(role: OperatorRole, least: OperatorRole): boolean {
  return operatorRoles.indexOf(role) >= operatorRoles.indexOf(least);
}
