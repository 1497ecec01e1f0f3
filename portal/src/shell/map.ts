// The entries of the navigation and the palette, in groups. Pages that the person's role does not allow are left out.
import type { Place } from "../api/client.ts";
import { paths } from "../paths.ts";
import type { useWords } from "../words.ts";

export type Words = ReturnType<typeof useWords>;

interface Entry {
  label: string;
  to: string;
  /** Where the palette looks up other words for the page. */
  word?: keyof Words;
}
export interface Group {
  label: string | undefined;
  entries: Entry[];
}

type Item = [label: keyof Words, to: (place: Place) => string, action?: string];

const money: Item[] = [
  ["payments", paths.payments, "payments:read"],
  ["links", paths.links, "payments:read"],
  ["refunds", paths.refunds, "refunds:read"],
  ["disputes", paths.disputes, "disputes:read"],
  ["settlements", paths.settlements, "settlements:read"],
  ["balances", paths.balances, "balances:read"],
];
const developers: Item[] = [
  ["keys", paths.keys, "credentials:read"],
  ["webhooks", paths.webhooks, "webhooks:read"],
  ["events", paths.events, "events:read"],
  ["requests", paths.requests, "requests:read"],
  ["idempotency", paths.idempotency, "requests:read"],
];
const sandbox: Item[] = [
  ["create", paths.create, "payments:write"],
  ["clock", paths.clock, "sandbox:write"],
  ["qris", paths.qris, "sandbox:write"],
];
const settings: Item[] = [
  ["business", paths.settings, "settings:read"],
  ["team", paths.team, "team:read"],
  ["branding", paths.branding, "settings:read"],
  ["payers", paths.payers, "payers:erase"],
  ["audit", paths.audit, "audit:read"],
];

export function merchantMap(place: Place, words: Words, can: (action: string) => boolean): Group[] {
  const allowed = (items: Item[]): Entry[] =>
    items
      .filter(([, , action]) => action === undefined || can(action))
      .map(([label, to]) => ({ label: words[label], to: to(place), word: label }));
  const groups: Group[] = [
    { label: undefined, entries: [{ label: words.home, to: paths.home(place) }, ...allowed(money)] },
    { label: words.developers, entries: allowed(developers) },
    { label: words.sandbox, entries: place.environment === "sandbox" ? allowed(sandbox) : [] },
    { label: words.settings, entries: allowed(settings) },
  ];
  return groups.filter(({ entries }) => entries.length > 0);
}

export function accountMap(words: Words): Group[] {
  return [
    {
      label: words.account,
      entries: [
        { label: words.profile, to: paths.account(), word: "profile" },
        { label: words.password, to: paths.accountPassword() },
        { label: words.authenticator, to: paths.accountAuthenticator(), word: "authenticator" },
        { label: words.passkeys, to: paths.accountPasskeys(), word: "passkeys" },
        { label: words.sessions, to: paths.accountSessions(), word: "sessions" },
      ],
    },
  ];
}
