// The rights of a signed-in person in the console, in the form that pages receive.
import type { SessionView } from "../access/session.schema.ts";
import { wireTime } from "../ground/clock.ts";
import type { Operators } from "../people/operators.ts";

/** The person's rights as an operator. The console has no memberships. */
export async function rightsInConsole(
  operators: Operators,
  personId: string,
): Promise<Pick<SessionView, "memberships" | "operator">> {
  const operator = await operators.read(personId);
  return { memberships: [], operator: operator ? { role: operator.role, since: wireTime(operator.since) } : null };
}
