// What somebody may do in the console, as a page is told.
import type { SessionView } from "../access/session.schema.ts";
import { wireTime } from "../ground/clock.ts";
import type { Operators } from "../people/operators.ts";

/** The operator that a person is. The console knows no memberships. */
export async function rightsInConsole(
  operators: Operators,
  personId: string,
): Promise<Pick<SessionView, "memberships" | "operator">> {
  const operator = await operators.read(personId);
  return { memberships: [], operator: operator ? { role: operator.role, since: wireTime(operator.since) } : null };
}
