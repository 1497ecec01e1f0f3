// Midtrans as a subject of the provider exam: the connector, and the fake that it is examined against.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subject } from "../../../gateway/src/providers/exam/bench.ts";
import { midtransAcquirer } from "../../../gateway/src/providers/midtrans/midtrans.ts";
import { midtransSchema } from "../../../gateway/src/providers/midtrans/profile.ts";
import { midtransFake } from "./fake.ts";
import { EXAM_DEADLINE_MS, silenceOf } from "../fake.ts";

const SERVER_KEY = "SB-Mid-server-examined";

/** `callbackUrl` gets the notifications of orders that name no address. Most exam cases use only the first method. */
export async function midtransSubject(
  callbackUrl: string,
  methods = ["qris", "va", "ewallet", "card"],
): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), "gerbang-midtrans-exam-"));
  const keyFile = join(folder, "server-key");
  writeFileSync(keyFile, `${SERVER_KEY}\n`);
  const fake = await midtransFake({ serverKey: SERVER_KEY, notifyUrl: callbackUrl });
  const limits = { minimum_minor: 100, maximum_minor: 1_000_000_000, cost: { basis_points: 70, flat_minor: 0 } };
  const acquirer = midtransAcquirer(
    midtransSchema.parse({
      provider: "midtrans",
      code: "examined",
      name: "Midtrans",
      environment: "sandbox",
      url: fake.url,
      server_key: { file: keyFile },
      deadline_ms: EXAM_DEADLINE_MS,
      methods: methods.map((method) => ({ method, ...limits })),
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
}
