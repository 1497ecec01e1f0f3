// The client library as a load generator, run as its own process: callers at once, each of which creates its next payment after the answer.
import { text } from "node:stream/consumers";
import Gerbang from "../sdk/src/index.ts";

export interface SdkPlan {
  port: number;
  seconds: number;
  callers: number;
  signature: "rfc9421" | "timestamp";
}

export interface SdkRun {
  requests: number;
  errors: number;
  seconds: number;
  /** Latencies in hundredths of a millisecond, sorted. */
  latencies: number[];
  cpu_us: number;
  /** Heap in use after the run, in MiB. */
  heap_mib: number;
}

const { port, seconds, callers, signature } = JSON.parse(await text(process.stdin)) as SdkPlan;
const baseUrl = `http://127.0.0.1:${port}/v1`;
const gerbang = new Gerbang({ clientId: "ak_test_bench", secret: "sk_test_bench", baseUrl, signature });
const latencies: number[] = [];
let [made, errors] = [0, 0];

const create = async (): Promise<void> => {
  const begunAt = performance.now();
  const body = {
    amount_minor: 150_000,
    currency: "IDR",
    payment_method: "qris",
    reference_id: `order-${made++}`,
  } as const;
  await gerbang.payments.create(body).catch(() => errors++);
  latencies.push(Math.round((performance.now() - begunAt) * 100));
};
const during = async (milliseconds: number): Promise<void> => {
  const endsAt = performance.now() + milliseconds;
  const callersAtOnce = Array.from({ length: callers }, async () => {
    while (performance.now() < endsAt) await create();
  });
  await Promise.all(callersAtOnce);
};

await during(Math.min(1, seconds) * 1_000);
[latencies.length, errors] = [0, 0];
const before = process.cpuUsage();
await during(seconds * 1000);
const { user, system } = process.cpuUsage(before);
const run: SdkRun = {
  requests: latencies.length,
  errors,
  seconds,
  latencies: latencies.toSorted((a, b) => a - b),
  cpu_us: (user + system) / latencies.length,
  heap_mib: Math.round(process.memoryUsage().heapUsed / 2 ** 20),
};
process.stdout.write(JSON.stringify(run));
