// Goal: no request fails while the processes behind a reverse proxy are restarted one after the other under load, signed writes included.
// Method: two processes on one database, a proxy that retries as nginx does by default, clients that pay and read all the time.
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type TestDatabase,
  type TestProcess,
  cloneDatabase,
  paymentBody,
  startProcess,
  startService,
} from "../gateway/test/kit.ts";
import { Client } from "./kit/client.ts";
import { type Proxy, hasNginx, startNginx, startProxy } from "./kit/proxy.ts";

const CLIENTS = 4;
/** Between two payments of a client: whoever uses up the whole processor tests the machine rather than the restart. */
const BETWEEN_MS = 75;

let database: TestDatabase;
let processes: [TestProcess, TestProcess];
let merchant: Client;

beforeAll(async () => {
  database = await cloneDatabase();
  const own = await startService({ database, roles: ["api"] });
  merchant = (await own.merchant()).client;
  await own.stop();
  const env = { DRAIN_SECONDS: "2", TRUST_PROXY: "1" };
  processes = [await startProcess(database, env), await startProcess(database, env)];
});
afterAll(() => Promise.all(processes.map((process) => process.stop())));

/** Pays and reads again and again until it is told to stop. Gives how often it was answered how. */
async function keepBusy(client: Client, over: AbortSignal): Promise<Map<string, number>> {
  const answers = new Map<string, number>();
  const one = async (): Promise<void> => {
    while (!over.aborted) {
      const made = await client.post("/v1/payments", paymentBody());
      const read = await client.get(`/v1/payments/${made.json?.reference ?? "none"}`);
      for (const name of [`POST ${made.status}`, `GET ${read.status}`]) answers.set(name, (answers.get(name) ?? 0) + 1);
      await pause(BETWEEN_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, one));
  return answers;
}

/** What /readyz of a process answers, and the reasons. */
async function readiness(process: TestProcess): Promise<string> {
  const answer = await fetch(`${process.origin}/readyz`);
  const { reasons = [] } = (await answer.json()) as { reasons?: string[] };
  return [answer.status, ...reasons].join(" ");
}

describe.each([
  ["a proxy with the retries of nginx", true, startProxy],
  ["nginx itself", hasNginx, startNginx],
] as const)("behind %s", (_name, isHere, start) => {
  const proxies: Proxy[] = []; // one for each try
  afterAll(() => Promise.all(proxies.map((proxy) => proxy.close())));

  test.skipIf(!isHere)(
    "a rolling restart of two processes under load fails no request",
    { timeout: 90_000 },
    async () => {
      const proxy = await start(processes.map(({ service }) => service.port));
      proxies.push(proxy);
      const client = new Client({ ...merchant.credentials, base_url: `${proxy.origin}/v1` });
      const over = new AbortController();
      const busy = keepBusy(client, over.signal);
      busy.catch(() => {}); // thrown where it is awaited, below
      try {
        for (const process of processes) {
          await pause(300);
          expect(await readiness(process)).toBe("200");
          const stopped = process.service.stop();
          await expect.poll(() => readiness(process), { interval: 20, timeout: 30_000 }).toBe("503 draining");
          expect(await stopped).toBe(0);
          await process.service.start();
          await pause(2_000); // the proxy has forgotten that it did not answer, on a busy machine, too
        }
      } finally {
        over.abort();
      }
      const answers = await busy;
      expect([...answers.keys()].sort()).toEqual(["GET 200", "POST 201"]);
      expect(answers.get("POST 201")).toBeGreaterThan(100);
    },
  );
});
