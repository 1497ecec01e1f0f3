// SNAP as a subject of the provider exam: the connector with the profile of DOKU or BRI, and the fake of that provider.
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subject } from "../../../gateway/src/providers/exam/bench.ts";
import { snapSchema } from "../../../gateway/src/providers/snap/profile.ts";
import { snapAcquirer } from "../../../gateway/src/providers/snap/snap.ts";
import { snapFake } from "./fake.ts";
import { EXAM_DEADLINE_MS, silenceOf } from "../fake.ts";

const CLIENT_ID = "BRN-0253-1758536533798";
const SECRET = "SK-of-the-exam";

const pair = (): { publicKey: string; privateKey: string } =>
  generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });

const limits = { minimum_minor: 100, maximum_minor: 5_000_000_000, cost: { basis_points: 0, flat_minor: 400_000 } };

/** The entries of acquirers.json. QRIS comes first for DOKU, because most exam cases use only the first method. */
const profiles = {
  doku: {
    name: "DOKU",
    virtual_accounts: { bca: { partner_service_id: "19008", customer_prefix: "0" } },
    qris: { merchant_id: "47435", terminal_id: "A01", postal_code: "12190" },
    methods: [
      { method: "qris", ...limits },
      { method: "va", channels: ["bca"], ...limits },
      { method: "ewallet", channels: ["dana"], ...limits },
    ],
  },
  bri: {
    name: "BRI",
    partner_id: "feedloop",
    channel_id: "00009",
    virtual_accounts: { bri: { partner_service_id: "77777" } },
    methods: [{ method: "va", channels: ["bri"], ...limits }],
  },
};

/** Opens the connector with a profile and the fake of that profile, which notifies `callbackUrl`. */
export const snapSubject =
  (profile: "doku" | "bri") =>
  async (callbackUrl: string): Promise<Subject> => {
    const folder = mkdtempSync(join(tmpdir(), "gerbang-snap-exam-"));
    const file = (name: string, text: string): { file: string } => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return { file: join(folder, name) };
    };
    const [ours, theirs] = [pair(), pair()];
    const keys = { clientSecret: SECRET, partnerPublicKey: ours.publicKey, privateKey: theirs.privateKey };
    const partnerId = profile === "bri" ? { partnerId: profiles.bri.partner_id } : {};
    const fake = await snapFake({ ...keys, ...partnerId, as: profile, clientId: CLIENT_ID, callbackUrl });
    const acquirer = snapAcquirer(
      snapSchema.parse({
        provider: "snap",
        profile,
        code: "examined",
        environment: "sandbox",
        url: fake.url,
        deadline_ms: EXAM_DEADLINE_MS,
        client_id: CLIENT_ID,
        client_secret: file("secret", SECRET),
        private_key: file("ours.pem", ours.privateKey),
        provider_public_key: file("theirs.pem", theirs.publicKey),
        ...profiles[profile],
      }),
    );
    return {
      acquirer: silenceOf(fake.url).endsCallsOf(acquirer),
      control: fake.control,
      async close() {
        await acquirer.close();
        await fake.close();
        rmSync(folder, { recursive: true });
      },
    };
  };
