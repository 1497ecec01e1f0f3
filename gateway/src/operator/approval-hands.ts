// Operators who ask and approve: who may have held an identity's secret, and whether the operator who asked still has their role.
import type { Clock, Micros } from "../ground/clock.ts";
import { operatorOfRow as operatorPersonOf, selectOperator } from "../people/operators.sql.ts";
import type { Database } from "../store/database.ts";
import type { Hands } from "./approval.ts";
import { selectHands, selectTokenRoles } from "./approvals.sql.ts";
import type { Identity } from "./known-tokens.ts";
import { type OperatorRole, mayAct } from "../people/operator-roles.ts";

/** The names that may have held what an identity signs in with, and when the identity was created. */
export async function handsOf(database: Database, { kind, id, name }: Identity): Promise<Hands> {
  const [row] = await database.query(selectHands(name, kind === "token" ? id : undefined));
  const names = new Set(row?.names as string[]);
  // A person became an operator when they accepted an invitation.
  const [operator] = kind === "person" ? await database.query(selectOperator(id)) : [];
  const madeAt = operator ? operatorPersonOf(operator).since : (row?.made_at as Micros | null | undefined);
  return { names, madeAt: madeAt ?? undefined };
}

/** True when the operator who asked still has at least the role `least`. A token of the environment keeps its role until the configuration changes. */
export async function mayStillAct(
  { database, clock }: { database: Database; clock: Clock },
  { kind, id, name, role }: Identity,
  least: OperatorRole,
): Promise<boolean> {
  if (kind === "environment") return mayAct(role, least);
  if (kind === "person") {
    const [operator] = await database.query(selectOperator(id));
    return operator !== undefined && mayAct(operatorPersonOf(operator).role, least);
  }
  const rows = await database.query(selectTokenRoles(name, clock.now()));
  return rows.some((row) => mayAct(row.role as OperatorRole, least));
}
