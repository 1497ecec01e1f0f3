// For whom somebody may act in the portal, as a page is told.
import type { SessionView } from "../access/session.schema.ts";
import type { People } from "../people/people.ts";
import { actionsOf } from "../people/roles.ts";

/** What a person may do for which merchant. The portal knows no operators. */
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
      actions: { sandbox: [...actionsOf(role, "sandbox")], production: [...actionsOf(role, "production")] },
    })),
  };
}
