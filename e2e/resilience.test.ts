// Goal: what was acknowledged is true and stays true, whatever dies. Method: whole services with their own PostgreSQL under
// a small load; processes are killed, restarted and doubled; at the end every acknowledged fact is looked for again. The faults are
// those of soak/faults.ts, one of each.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  type Intent,
  acknowledged,
  creation,
  cutConnections,
  endDatabase,
  expectArrived,
  expectWhole,
  killBoth,
  killService,
  note,
  passwords,
  payer,
  postmaster,
  rig,
  send,
  startRig,
  stopRig,
  stopService,
} from "../soak/faults.ts";
import { deliveryTiming } from "../gateway/src/webhooks/timing.ts";
import { type Answer, Client } from "./kit/client.ts";
import type { Received } from "./kit/receiver.ts";
import { Service } from "./kit/service.ts";
import { slowness, waiting } from "../gateway/test/slowness.ts";

/** How long a stop waits for calls in flight, and what else it may take. The usual times together are the ten seconds that are promised. */
const STOP_MS = 1_500;
const STOP_SLACK_MS = 10_000 - deliveryTiming.stopMs;

beforeAll(() => startRig({ guardMs: 300, delivery: { stopMs: STOP_MS } }));
afterAll(stopRig);

test("the service is killed under load: whatever it acknowledged is whole after the restart", async () => {
  const { answers, open } = await killService(700, 30);
  expect(answers.filter(({ status }) => status <= 201).length).toBeGreaterThan(20);
  expect(open.length).toBeGreaterThan(0);
  expect(rig.service.demo.client_id).toBe(rig.client.credentials.client_id);
});

test("the service and its PostgreSQL are killed at once: a restart is enough", () => killBoth(700));

test("a signature that had an effect stays used after service and PostgreSQL were killed", async () => {
  const intent = creation();
  const headers = {
    ...rig.client.headers(intent.body),
    "content-type": "application/json",
    "idempotency-key": intent.key,
  };
  const first = await rig.client.send("POST", intent.path, intent.body, headers);
  expect(first.status).toBe(201);
  acknowledged.set(first.json.reference, { referenceId: intent.referenceId, status: "pending" });
  const killed = rig.service.kill("SIGKILL");
  process.kill(Number(postmaster()[0]), "SIGKILL");
  await killed;
  await rig.service.start();
  const again = await rig.client.send("POST", intent.path, intent.body, headers);
  expect([again.status, again.json.error.code]).toEqual([401, "SIGNATURE_REPLAYED"]);
});

test.each<NodeJS.Signals>(["SIGINT", "SIGKILL"])(
  "PostgreSQL alone ends by %s: orderly answers meanwhile, and the service goes on by itself",
  (signal) => endDatabase(signal, 500),
);

test("connections that the database cuts off under load cost an answer at most", () => cutConnections(300));

test("told to stop under load, it ends with 0 within ten seconds and loses nothing", () => stopService(800));

test("told to stop while a receiver hangs, it ends in time and makes the delivery later, the attempt not used up", async () => {
  const intent = creation({ callback_url: rig.receiver.url("/hang") });
  const { json } = await send(intent);
  acknowledged.set(json.reference as string, { referenceId: intent.referenceId, status: "pending" });
  await rig.receiver.waitFor(({ path }) => path === "/hang");
  const took = await waiting(async () => expect(await rig.service.stop()).toBe(0));
  expect(took).toBeLessThan((STOP_MS + STOP_SLACK_MS) * slowness());
  rig.hanging = false;
  const tried = rig.receiver.received.filter(({ path }) => path === "/hang").length;
  await rig.service.start();
  await vi.waitFor(
    () => expect(rig.receiver.received.filter(({ path }) => path === "/hang").length).toBeGreaterThan(tried),
    { timeout: 45_000, interval: 100 },
  );
  const [first, last] = rig.receiver.received.filter(({ path }) => path === "/hang") as [Received, Received];
  expect(last.headers["x-svc-delivery-attempt"]).toBe("1");
  expect(last.headers["x-svc-event-id"]).toBe(first.headers["x-svc-event-id"]);
  expect(last.body).toBe(first.body);
});

test("two processes on one database: same keys, same orders and same payments meet as one", async () => {
  const directory = mkdtempSync(join(tmpdir(), "gerbang-second-"));
  copyFileSync(join(rig.service.dataDirectory, "demo.json"), join(directory, "demo.json"));
  const secrets = JSON.parse(readFileSync(join(rig.service.dataDirectory, "secrets.json"), "utf8"));
  const second = await Service.start({
    dataDirectory: directory,
    env: {
      ...rig.env,
      DATABASE_URL: `postgres://gerbang_service:${passwords().service}@127.0.0.1:${postmaster()[3]}/gerbang`,
      MASTER_KEY: secrets.masterKey,
      OPERATOR_TOKEN: secrets.operatorToken,
    },
  });
  try {
    const clients = [rig.client, new Client(second.demo)];
    const both = (intentOf: (index: number) => Intent): Promise<Answer[]> =>
      Promise.all(Array.from({ length: 20 }, (_, index) => send(intentOf(index), clients[index % 2])));
    const codes = (answers: Answer[]): unknown[] => answers.map(({ json }) => json.error?.code).filter(Boolean);
    const of = (answers: Answer[], status: number): Answer[] => answers.filter((answer) => answer.status === status);

    const once = creation();
    const headers = {
      ...rig.client.headers(once.body),
      "content-type": "application/json",
      "idempotency-key": once.key,
    };
    const twins = await Promise.all(clients.map((by) => by.send("POST", once.path, once.body, headers)));
    expect(of(twins, 201)).toHaveLength(1);
    expect(codes(twins)).toEqual(["SIGNATURE_REPLAYED"]);

    for (let round = 0; round < 3; round++) {
      const intent = creation();
      const sameKey = await both(() => intent);
      expect(of(sameKey, 201)).toHaveLength(1);
      expect(new Set(codes(sameKey))).toBeOneOf([new Set(), new Set(["IDEMPOTENCY_IN_PROGRESS"])]);
      const good = sameKey.filter(({ status }) => status <= 201);
      expect(new Set(good.map(({ json }) => json.reference)).size).toBe(1);
      for (const answer of good) note(intent, answer);

      const order = creation();
      const sameOrder = await both((index) => ({ ...order, key: `${order.key}-${index}` }));
      expect(of(sameOrder, 201)).toHaveLength(1);
      expect(new Set(codes(sameOrder))).toEqual(new Set(["REFERENCE_ID_DUPLICATE"]));
      for (const answer of of(sameOrder, 201)) note(order, answer);

      const [{ json: placed }] = of(sameOrder, 201) as [Answer];
      const reference = placed.reference as string;
      const available = async (): Promise<number> =>
        (await rig.client.get("/v1/balances")).json.data.find((entry: { currency: string }) => entry.currency === "IDR")
          .available_minor as number;
      const before = await available();
      const paid = await both(() => payer(reference));
      expect(of(paid, 200)).toHaveLength(1);
      expect(new Set(codes(paid))).toEqual(new Set(["PAYMENT_NOT_PAYABLE"]));
      const status = of(paid, 200)[0] as Answer;
      note(payer(reference), status);
      expect((await available()) - before).toBe(status.json.net_minor);
    }
    await expectWhole();
  } finally {
    expect(await second.stop()).toBe(0);
    rmSync(directory, { recursive: true, force: true });
  }
  expect((await send(creation())).status).toBe(201);
});

test("every event of every acknowledged payment arrived, numbered and with the same bytes each time", async () => {
  expect(await expectArrived()).toBeGreaterThan(50);
});
