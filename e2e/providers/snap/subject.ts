// SNAP before the provider exam: the connector with DOKU's profile, and the fake of DOKU.
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subject } from "../../../gateway/src/providers/exam/bench.ts";
import { snapSchema } from "../../../gateway/src/providers/snap/profile.ts";
import { snapAcquirer } from "../../../gateway/src/providers/snap/snap.ts";
import { snapFake } from "./fake.ts";

const CLIENT_ID = "BRN-0253-1758536533798";
const SECRET = "SK-of-the-exam";

const pair = (): { publicKey: string; privateKey: string } =>
  generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });

/** Opens both; the fake notifies `callbackUrl`. QRIS comes first: most cases are about the first method alone. */
export async function snapSubject(callbackUrl: string): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), "gerbang-snap-exam-"));
  const file = (name: string, text: string): { file: string } => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return { file: join(folder, name) };
  };
  const [ours, theirs] = [pair(), pair()];
  const keys = { clientSecret: SECRET, partnerPublicKey: ours.publicKey, privateKey: theirs.privateKey };
  const fake = await snapFake({ ...keys, clientId: CLIENT_ID, callbackUrl });
  const limits = { minimum_minor: 100, maximum_minor: 5_000_000_000, cost: { basis_points: 0, flat_minor: 400_000 } };
  const acquirer = snapAcquirer(
    snapSchema.parse({
      provider: "snap",
      profile: "doku",
      code: "examined",
      name: "DOKU",
      environment: "sandbox",
      url: fake.url,
      deadline_ms: 1_000,
      client_id: CLIENT_ID,
      client_secret: file("secret", SECRET),
      private_key: file("ours.pem", ours.privateKey),
      provider_public_key: file("theirs.pem", theirs.publicKey),
      virtual_accounts: { bca: { partner_service_id: "19008", customer_prefix: "0" } },
      qris: { merchant_id: "47435", terminal_id: "A01", postal_code: "12190" },
      methods: [
        { method: "qris", ...limits },
        { method: "va", channels: ["bca"], ...limits },
        { method: "ewallet", channels: ["dana"], ...limits },
      ],
    }),
  );
  return {
    acquirer,
    control: fake.control,
    async close() {
      await acquirer.close();
      await fake.close();
      rmSync(folder, { recursive: true });
    },
  };
}
