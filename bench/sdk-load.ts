// The client library as a load generator, or the platform's `fetch` alone with the same request, run as its own process: callers at once, each of
// which creates its next payment after the answer.
import { text } from "node:stream/consumers";
import Gerbang from "../sdk/src/index.ts";

export interface SdkPlan {
  port: number;
  seconds: number;
  callers: number;
  /** How requests are signed; "none": `fetch` alone, with headers of the same size that are made once. */
  signature: "rfc9421" | "timestamp" | "none";
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
const credentials = { clientId: "ak_test_bench", secret: "sk_test_bench", baseUrl };
const gerbang = new Gerbang({ ...credentials, signature: signature === "none" ? "rfc9421" : signature });
/** What a signed creation carries. */
const headers: Record<string, string> = {
  authorization: `Bearer ${credentials.clientId}`,
  accept: "application/json",
  "user-agent": "fetch",
  "content-type": "application/json",
  "idempotency-key": "k".repeat(36),
  "content-digest": `sha-256=:${"a".repeat(43)}=:`,
  "signature-input": "s".repeat(180),
  signature: `sig1=:${"a".repeat(43)}=:`,
};
const fetchAlone = async (body: object): Promise<void> => {
  const answer = await fetch(`${baseUrl}/payments`, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(`answered ${answer.status}`);
  await answer.json();
};
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
  await (signature === "none" ? fetchAlone(body) : gerbang.payments.create(body)).catch(() => errors++);
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
