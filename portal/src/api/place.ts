// The merchant and environment that the address names, with the API and the rights that belong to them.
import { useParts } from "../address.ts";
import { Api, type Environment, type Place } from "./client.ts";
import { type Membership, useSession } from "./session.ts";

const apis = new Map<string, Api>();

/** One for each place, so that queries made by it stay the same between renders. */
function apiOf(place: Place): Api {
  const name = `${place.merchant}/${place.environment}`;
  const api = apis.get(name) ?? new Api(place);
  apis.set(name, api);
  return api;
}

export function isEnvironment(text: string | undefined): text is Environment {
  return text === "sandbox" || text === "production";
}

/** The place of the address, where it names one. */
export function useMaybePlace(): Place | undefined {
  const { merchant, environment } = useParts();
  return merchant !== undefined && isEnvironment(environment) ? apiOf({ merchant, environment }).place : undefined;
}

/** The place of a merchant's page. */
export function usePlace(): Place {
  const place = useMaybePlace();
  if (!place) throw new Error("this page is no merchant's page");
  return place;
}

/** The API about the merchant and environment of the address. */
export function useApi(): Api {
  return apiOf(usePlace());
}

export function useMembership(): Membership | undefined {
  const place = useMaybePlace();
  return useSession()?.memberships.find(({ merchant_id }) => merchant_id === place?.merchant);
}

/** Whether the person may do something here: what they may not is not offered. The service decides again. */
export function useCan(): (action: string) => boolean {
  const place = useMaybePlace();
  const membership = useMembership();
  const allowed: readonly string[] = place ? (membership?.actions[place.environment] ?? []) : [];
  return (action) => allowed.includes(action);
}
