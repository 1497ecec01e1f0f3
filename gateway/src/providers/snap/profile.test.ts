// Goal: a mistake in an entry is found before anything starts, with its place, and no key is shown. Method: one mistake at a time.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { privatePem, publicPem } from "../../../test/snap-keys.ts";
import { openKeys, partnerOf, snapSchema, urlOf } from "./profile.ts";

const cost = { basis_points: 0, flat_minor: 400_000 };
const va = { method: "va", channels: ["bca", "bni"], minimum_minor: 1_000_000, maximum_minor: 5_000_000_000, cost };
const qr = { method: "qris", minimum_minor: 100_000, maximum_minor: 1_000_000_000, cost };
const wallet = { method: "ewallet", channels: ["dana"], minimum_minor: 100_000, maximum_minor: 1_000_000_000, cost };
const good = {
  provider: "snap",
  profile: "doku",
  code: "doku",
  name: "DOKU",
  environment: "sandbox",
  client_id: "BRN-0253-1758536533798",
  client_secret: { env: "DOKU_SECRET" },
  private_key: { file: "/keys/private.pem" },
  provider_public_key: { file: "/keys/doku.pem" },
  virtual_accounts: {
    bca: { partner_service_id: "19008", customer_prefix: "0" },
    bni: { partner_service_id: "8492", numbers: "asked" },
  },
  qris: { merchant_id: "47435", terminal_id: "A01" },
  methods: [va, qr, wallet],
};

/** Where the mistakes are. */
function places(value: unknown): string[] {
  const parsed = snapSchema.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join("."));
}

test("a good entry says who we are to DOKU", () => {
  const entry = snapSchema.parse(good);
  expect(urlOf(entry)).toBe("https://api-sandbox.doku.com");
  expect(urlOf({ ...entry, environment: "production" })).toBe("https://api.doku.com");
  expect(partnerOf(entry)).toMatchObject({
    clientId: "BRN-0253-1758536533798",
    partnerId: "BRN-0253-1758536533798",
    channelId: "H2H",
    accounts: {
      bca: { partnerServiceId: "19008", customerPrefix: "0", numbers: "theirs" },
      bni: { partnerServiceId: "8492", customerPrefix: "", numbers: "asked" },
    },
  });
});

test("a good entry for BRI names the channel that BRI has given", () => {
  const entry = {
    ...good,
    profile: "bri",
    partner_id: "feedloop",
    channel_id: "00009",
    virtual_accounts: { bri: { partner_service_id: "77777" } },
    qris: undefined,
    methods: [{ ...va, channels: ["bri"] }],
  };
  expect(places(entry)).toEqual([]);
  expect(partnerOf(snapSchema.parse(entry))).toMatchObject({
    partnerId: "feedloop",
    channelId: "00009",
    accounts: { bri: { numbers: "ours" } },
  });
  expect(places({ ...entry, channel_id: undefined })).toEqual(["channel_id"]);
  const asked = { bri: { partner_service_id: "77777", numbers: "asked" } };
  expect(places({ ...entry, virtual_accounts: asked })).toEqual(["virtual_accounts.bri.numbers"]);
  expect(places({ ...entry, methods: [qr] })).toEqual(["methods.0.method", "qris"]);
});

test.for([
  ["profile", { profile: "bca" }],
  ["client_id", { client_id: "" }],
  ["client_id", { client_id: "a b" }],
  ["channel_id", { channel_id: "123456" }],
  ["client_secret", { client_secret: "in the file itself" }],
  ["private_key", { private_key: undefined }],
  ["provider_public_key", { provider_public_key: "a key" }],
  ["url", { url: "http://api.doku.com" }],
  [
    "virtual_accounts.bca.partner_service_id",
    { virtual_accounts: { ...good.virtual_accounts, bca: { partner_service_id: "190081234" } } },
  ],
  [
    "virtual_accounts.bca.customer_prefix",
    { virtual_accounts: { ...good.virtual_accounts, bca: { partner_service_id: "1", customer_prefix: "1234567" } } },
  ],
  [
    "virtual_accounts.bca.numbers",
    { virtual_accounts: { ...good.virtual_accounts, bca: { partner_service_id: "1", numbers: "any" } } },
  ],
  ["virtual_accounts.bpd", { virtual_accounts: { ...good.virtual_accounts, bpd: { partner_service_id: "1" } } }],
  ["methods.0.channels.0", { virtual_accounts: { bni: good.virtual_accounts.bni } }],
  ["methods.0.channels", { methods: [{ ...va, channels: undefined }] }],
  ["methods.0.channels.0", { methods: [{ ...wallet, channels: ["ovo"] }] }],
  ["methods.0.channels.0", { methods: [{ ...qr, channels: ["bca"] }] }],
  ["methods.0.currencies", { methods: [{ ...qr, currencies: ["USD"] }] }],
  ["methods.0.method", { methods: [{ ...qr, method: "card" }] }],
  ["qris", { qris: undefined }],
  ["qris.merchant_id", { qris: { merchant_id: "", terminal_id: "A01" } }],
  ["", { password: "x" }],
] as const)("a mistake in %s is found there", ([place, changes]) => {
  expect(places({ ...good, ...changes })).toEqual([place]);
});

test("keys are read from their files, the one before as well, and again when they change", () => {
  const folder = mkdtempSync(join(tmpdir(), "snap-keys-"));
  try {
    const file = (name: string, text: string): { file: string } => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return { file: join(folder, name) };
    };
    const entry = {
      client_secret: file("secret", "new\nold\n"),
      private_key: file("private.pem", privatePem),
      provider_public_key: file("public.pem", publicPem + publicPem),
    };
    const { own, theirs } = openKeys(entry);
    expect(own.secret()).toBe("new");
    expect(own.privateKey().asymmetricKeyType).toBe("rsa");
    expect(own.privateKey()).toBe(own.privateKey());
    expect(theirs()).toMatchObject({ secrets: ["new", "old"] });
    expect(theirs().publicKeys.length).toBe(2);
    expect(theirs().publicKeys[0]).toBe(theirs().publicKeys[0]);
    const wrong = { ...entry, private_key: file("wrong.pem", "a secret that is no key") };
    expect(() => openKeys(wrong)).toThrow("private_key: is no private key in PEM");
    expect(() => openKeys({ ...entry, provider_public_key: { file: join(folder, "none") } })).toThrow(
      "provider_public_key:",
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
