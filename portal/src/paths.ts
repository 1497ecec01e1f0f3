// The site map: every address of the portal's pages, written once. Pages take their addresses from here.
import type { Place } from "./api/client.ts";

const part = (text: string): string => encodeURIComponent(text);
const at = ({ merchant, environment }: Place): string => `/${part(merchant)}/${environment}`;

/** Addresses relative to /portal; the router adds the prefix. */
export const paths = {
  start: () => "/",
  signIn: () => "/sign-in",
  invitation: () => "/invitation",
  device: () => "/device",
  account: () => "/account",
  accountPassword: () => "/account/password",
  accountAuthenticator: () => "/account/authenticator",
  accountPasskeys: () => "/account/passkeys",
  accountSessions: () => "/account/sessions",

  home: (place: Place) => at(place),
  payments: (place: Place) => `${at(place)}/payments`,
  paymentNew: (place: Place) => `${at(place)}/payments/new`,
  payment: (place: Place, reference: string) => `${at(place)}/payments/${part(reference)}`,
  links: (place: Place) => `${at(place)}/links`,
  linkNew: (place: Place) => `${at(place)}/links/new`,
  link: (place: Place, uuid: string) => `${at(place)}/links/${part(uuid)}`,
  refunds: (place: Place) => `${at(place)}/refunds`,
  refund: (place: Place, uuid: string) => `${at(place)}/refunds/${part(uuid)}`,
  disputes: (place: Place) => `${at(place)}/disputes`,
  dispute: (place: Place, uuid: string) => `${at(place)}/disputes/${part(uuid)}`,
  settlements: (place: Place) => `${at(place)}/settlements`,
  settlement: (place: Place, uuid: string) => `${at(place)}/settlements/${part(uuid)}`,
  balances: (place: Place) => `${at(place)}/balances`,
  balance: (place: Place, currency: string) => `${at(place)}/balances/${part(currency)}`,
  statement: (place: Place, currency: string) => `${at(place)}/balances/${part(currency)}/statement`,
  journal: (place: Place, journalId: string) => `${at(place)}/balances/journals/${part(journalId)}`,

  keys: (place: Place) => `${at(place)}/developers/keys`,
  key: (place: Place, clientId: string) => `${at(place)}/developers/keys/${part(clientId)}`,
  webhooks: (place: Place) => `${at(place)}/developers/webhooks`,
  delivery: (place: Place, eventId: string) => `${at(place)}/developers/webhooks/deliveries/${part(eventId)}`,
  exam: (place: Place) => `${at(place)}/developers/webhooks/exam`,
  events: (place: Place) => `${at(place)}/developers/events`,
  event: (place: Place, id: string) => `${at(place)}/developers/events/${part(id)}`,
  requests: (place: Place) => `${at(place)}/developers/requests`,
  request: (place: Place, requestId: string) => `${at(place)}/developers/requests/${part(requestId)}`,
  idempotency: (place: Place) => `${at(place)}/developers/idempotency`,
  idempotencyKey: (place: Place, key: string) => `${at(place)}/developers/idempotency/${part(key)}`,

  clock: (place: Place) => `${at(place)}/sandbox/clock`,
  qris: (place: Place) => `${at(place)}/sandbox/qris`,
  create: (place: Place) => `${at(place)}/sandbox/create`,

  settings: (place: Place) => `${at(place)}/settings`,
  team: (place: Place) => `${at(place)}/settings/team`,
  branding: (place: Place) => `${at(place)}/settings/branding`,
  payers: (place: Place) => `${at(place)}/settings/payers`,
  audit: (place: Place) => `${at(place)}/settings/audit`,
};

export type PathName = keyof typeof paths;

/** The page of an object, by the kind that its identity begins with; undefined where it has none. */
export function pageOfObject(place: Place, id: string): string | undefined {
  const pages: Record<string, (place: Place, id: string) => string> = {
    pay: paths.payment,
    rfd: paths.refund,
    dsp: paths.dispute,
    set: paths.settlement,
    lnk: paths.link,
    evt: paths.event,
  };
  return pages[id.split("_", 1)[0] ?? ""]?.(place, id);
}

/** An address with filters: `withSearch(paths.payments(place), { status: "paid" })`. */
export function withSearch(path: string, search: Record<string, string | undefined>): string {
  const set = Object.entries(search).filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`;
}
