// The merchant and environment in the address, with their API and the person's rights there.
import { useParts } from "../address.ts";
import { Api, type Environment, type Place } from "./client.ts";
import { type Membership, useSession } from "./session.ts";

const apis = new Map<string, Api>();

/** One Api for each place, so that its queries stay the same between renders. */
function apiOf(place: Place): Api {
  const name = `${place.merchant}/${place.environment}`;
  const api = apis.get(name) ?? new Api(place);
  apis.set(name, api);
  return api;
}

export function isEnvironment(text: string | undefined): text is Environment {
  return text === "sandbox" || text === "production";
}

/** The place in the address; undefined when the address names none. */
export function useMaybePlace(): Place | undefined {
  const { merchant, environment } = useParts();
  return merchant !== undefined && isEnvironment(environment) ? apiOf({ merchant, environment }).place : undefined;
}

/** The place in the address. Throws on pages outside a merchant. */
export function usePlace(): Place {
  const place = useMaybePlace();
  if (!place) throw new Error("this page is no merchant's page");
  return place;
}

/** The API for the place in the address. */
export function useApi(): Api {
  return apiOf(usePlace());
}

export function useMembership(): Membership | undefined {
  const place = useMaybePlace();
  return useSession()?.memberships.find(({ merchant_id }) => merchant_id === place?.merchant);
}

/** Whether the person may perform an action here. Pages hide other actions; the service checks again. */
export function useCan(): (action: string) => boolean {
  const place = useMaybePlace();
  const membership = useMembership();
  const allowed: readonly string[] = place ? (membership?.actions[place.environment] ?? []) : [];
  return (action) => allowed.includes(action);
}
