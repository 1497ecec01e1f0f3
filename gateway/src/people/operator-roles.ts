// The operators' roles, from the least to the most, and what one may do that another may not. Pure.

/**
 * A viewer reads. Support decides what comes up in a day and moves no money, hands out no access and changes no setting; `docs/guides/operator-api.md` lists
 * it. An admin does everything.
 */
export const operatorRoles = ["viewer", "support", "admin"] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/** True when `role` may do what needs at least `least`. */
export function mayAct(role: OperatorRole, least: OperatorRole): boolean {
  return operatorRoles.indexOf(role) >= operatorRoles.indexOf(least);
}
