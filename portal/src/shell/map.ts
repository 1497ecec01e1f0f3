// The entries of the navigation and the palette, in groups. Pages that the person's role does not allow are left out.
import type { Place } from "../api/client.ts";
import { paths } from "../paths.ts";
import type { useWords } from "../words.ts";

type Words = ReturnType<typeof useWords>;

interface Entry {
  label: string;
  to: string;
  /** Other words by which the palette finds the page. */
  also?: string | undefined;
}
export interface Group {
  label: string | undefined;
  entries: Entry[];
}

type Item = [label: keyof Words, to: (place: Place) => string, action?: string];

/** What people look for who do not know yet how a page is called, in both languages. */
const also: Partial<Record<keyof Words, string>> = {
  payments: "sales orders transactions penjualan pesanan transaksi",
  links: "invoice qr stall tagihan lapak",
  refunds: "money back pengembalian uang kembali",
  disputes: "chargeback complaint evidence keluhan bukti",
  settlements: "payout bank transfer month csv pencairan bulan",
  balances: "book ledger monthly statement buku laporan bulan",
  keys: "api key secret client_id",
  webhooks: "notification callback notifikasi",
  business: "name fee price schedule payout language time zone nama biaya jadwal bahasa",
  team: "invite people colleague role member undang orang karyawan peran",
  branding: "logo colour color warna",
  audit: "history who changed riwayat",
  profile: "name language time zone nama bahasa zona waktu",
  authenticator: "two-factor 2fa mfa second factor otp verifikasi dua langkah",
  passkeys: "two-factor 2fa second factor fingerprint sidik jari",
  sessions: "devices sign out perangkat",
};

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
      .map(([label, to]) => ({ label: words[label], to: to(place), also: also[label] }));
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
        { label: words.profile, to: paths.account(), also: also.profile },
        { label: words.password, to: paths.accountPassword() },
        { label: words.authenticator, to: paths.accountAuthenticator(), also: also.authenticator },
        { label: words.passkeys, to: paths.accountPasskeys(), also: also.passkeys },
        { label: words.sessions, to: paths.accountSessions(), also: also.sessions },
      ],
    },
  ];
}
