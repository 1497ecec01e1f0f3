// The case `refund`: partial refunds on one hot merchant over 64 connections, beside creations in the same run.
import { Client, operate } from "../e2e/kit/client.ts";
import { Service, gerbang } from "../e2e/kit/service.ts";
import { type BenchResult, batches, load, residentMib } from "./create.ts";

/** Payments that the refunds are spread over. */
const PAYMENTS = 64;

export async function refundCase({ seconds }: { seconds: number }): Promise<BenchResult> {
  const service = await Service.start();
  try {
    const { demo } = service;
    await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, { rate_limit_per_minute: 100_000_000 });
    const client = new Client(demo);
    const references: string[] = [];
    for (let count = 0; count < PAYMENTS; count++) {
      const body = {
        amount_minor: 1_000_000_000,
        currency: "IDR",
        payment_method: "qris",
        reference_id: `hot-${count}`,
      };
      const { json } = await client.post("/v1/payments", body);
      await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" });
      references.push(json.reference as string);
    }
    await load(service, 2, "warm", references);
    const before = await batches(service, "money");
    const report = await load(service, seconds, "run", references);
    const after = await batches(service, "money");
    const memory = residentMib(service.process?.pid);
    const creations = await load(service, seconds, "create");
    const verify = await gerbang(["verify"], { GERBANG_DATA: service.dataDirectory });
    process.stderr.write(verify.stderr);
    const rate = report.requests / report.seconds;
    const baseline = creations.requests / creations.seconds;
    return {
      case: "refund",
      rate_per_s: Math.round(rate),
      baseline_per_s: Math.round(baseline),
      ratio: Math.round((rate / baseline) * 100) / 100,
      p50_ms: report.p50_ms,
      p99_ms: report.p99_ms,
      errors: report.errors + creations.errors,
      requests: report.requests,
      seconds: Math.round(report.seconds * 10) / 10,
      batch_average: Math.round(((after.sum - before.sum) / Math.max(1, after.count - before.count)) * 10) / 10,
      memory_mib: memory,
      verified: verify.code === 0,
    };
  } finally {
    await service.discard();
  }
}
