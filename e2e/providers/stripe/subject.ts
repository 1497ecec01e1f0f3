// Stripe as a subject of the provider exam: the connector, and the fake that it is examined against.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subject } from "../../../gateway/src/providers/exam/bench.ts";
import { stripe } from "../../../gateway/src/providers/stripe/stripe.ts";
import { stripeFake } from "./fake.ts";
import { EXAM_DEADLINE_MS, silenceOf } from "../fake.ts";

/** Opens the connector and the fake, which notifies `callbackUrl`. */
export async function stripeSubject(callbackUrl: string): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), "stripe-"));
  writeFileSync(join(folder, "key"), "sk_test_examined");
  writeFileSync(join(folder, "webhook"), "whsec_examined");
  const fake = await stripeFake({
    secretKey: "sk_test_examined",
    webhookSecrets: ["whsec_examined"],
    webhookUrl: callbackUrl,
  });
  const acquirer = stripe.open({
    provider: "stripe",
    code: "stripe",
    name: "Stripe",
    environment: "sandbox",
    url: fake.url,
    deadline_ms: EXAM_DEADLINE_MS,
    secret_key: { file: join(folder, "key") },
    webhook_secret: { file: join(folder, "webhook") },
    methods: [
      {
        method: "card",
        currencies: ["IDR"],
        minimum_minor: 1_000_000,
        maximum_minor: 5_000_000_000,
        cost: { basis_points: 340, flat_minor: 0 },
      },
    ],
  });
  const { calls } = acquirer;
  if (!calls) throw new Error("it makes no calls");
  return {
    acquirer: silenceOf(fake.url).endsCallsOf({ ...acquirer, calls }),
    control: fake.control,
    async close() {
      await acquirer.close();
      await fake.close();
      rmSync(folder, { recursive: true });
    },
  };
}
