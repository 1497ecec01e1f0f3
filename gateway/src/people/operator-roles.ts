// Roles of operators, from the least to the most rights, and the comparison of two roles. Pure.

/**
 * A viewer reads. Support takes the daily decisions that move no money, give nobody access and change no setting; `docs/guides/operator-api.md`
 * lists them. An admin may do everything.
 */
export const operatorRoles = ["viewer", "support", "admin"] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/** True when `role` has the rights of `least` or more. */
export function mayAct(role: OperatorRole, least: OperatorRole): boolean {
  return operatorRoles.indexOf(role) >= operatorRoles.indexOf(least);
}
