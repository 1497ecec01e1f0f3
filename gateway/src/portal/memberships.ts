// The memberships of a signed-in person, as portal pages get them in the session view.
import type { SessionView } from "../access/session.schema.ts";
import { ZONE_DEFAULT } from "../ground/time-zones.ts";
import type { People } from "../people/people.ts";
import { actionsOf } from "../people/roles.ts";

/** A person's merchants with role and allowed actions. `operator` is always null in the portal. */
export async function rightsInPortal(
  people: People,
  personId: string,
): Promise<Pick<SessionView, "memberships" | "operator">> {
  const memberships = await people.memberships(personId);
  return {
    operator: null,
    memberships: memberships.map(({ merchantId, merchantName, role, language, timeZone }) => ({
      merchant_id: merchantId,
      merchant_name: merchantName,
      role,
      language: language ?? null,
      time_zone: timeZone ?? null,
      statement_time_zone: timeZone ?? ZONE_DEFAULT,
      actions: { sandbox: [...actionsOf(role, "sandbox")], production: [...actionsOf(role, "production")] },
    })),
  };
}
