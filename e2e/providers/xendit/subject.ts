// Xendit as a subject of the provider exam: the connector, and the fake that it is examined against.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subject } from "../../../gateway/src/providers/exam/bench.ts";
import { xenditSchema } from "../../../gateway/src/providers/xendit/profile.ts";
import { xenditAcquirer } from "../../../gateway/src/providers/xendit/xendit.ts";
import { xenditFake } from "./fake.ts";
import { EXAM_DEADLINE_MS, silenceOf } from "../fake.ts";

/** Opens the connector and the fake, which notifies `callbackUrl`. The limits are those of the offered channels. */
export async function xenditSubject(callbackUrl: string): Promise<Subject> {
  const [secretKey, callbackToken] = ["xnd_development_examined", "a token for the exam"];
  const folder = mkdtempSync(join(tmpdir(), "xendit-"));
  writeFileSync(join(folder, "key"), secretKey);
  writeFileSync(join(folder, "token"), callbackToken);
  const fake = await xenditFake({ secretKey, callbackToken, callbackUrl });
  const cost = { basis_points: 70, flat_minor: 0 };
  const profile = xenditSchema.parse({
    provider: "xendit",
    code: "xendit",
    name: "Xendit",
    environment: "sandbox",
    url: fake.url,
    deadline_ms: EXAM_DEADLINE_MS,
    secret_key: { file: join(folder, "key") },
    callback_token: { file: join(folder, "token") },
    methods: [
      { method: "qris", minimum_minor: 100, maximum_minor: 1_000_000_000, cost },
      { method: "va", channels: ["bca", "bni", "bri"], minimum_minor: 1_000_000, maximum_minor: 5_000_000_000, cost },
      { method: "ewallet", channels: ["dana", "shopeepay"], minimum_minor: 10_000, maximum_minor: 2_000_000_000, cost },
      { method: "card", minimum_minor: 1_000_000, maximum_minor: 20_000_000_000, cost },
    ],
  });
  const acquirer = xenditAcquirer(profile);
  return {
    acquirer: silenceOf(fake.url).endsCallsOf(acquirer),
    control: fake.control,
    async close() {
      await acquirer.close();
      await fake.close();
      rmSync(folder, { recursive: true });
    },
  };
}
