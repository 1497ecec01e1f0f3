// Goal: what was acknowledged is true and stays true, whatever dies. Method: whole services with their own PostgreSQL under
// a small load; processes are killed, restarted and doubled; at the end every acknowledged fact is looked for again.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Answer, Client, operate } from "./kit/client.ts";
import { type Received, Receiver, makeCertificates } from "./kit/receiver.ts";
import { Service, gerbang } from "./kit/service.ts";

interface Intent {
  path: string;
  body: string;
  key: string;
}

/** What the service acknowledged, over the whole file: payments by reference, with the status last acknowledged. */
const acknowledged = new Map<string, { referenceId: string; status: "pending" | "succeeded" }>();
let receiver: Receiver;
let service: Service;
let client: Client;
let env: Record<string, string>;
let number = 0;
/** While true, receivers of the path /hang take a delivery and say nothing. */
let hanging = true;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

beforeAll(async () => {
  const certificates = await makeCertificates();
  receiver = await Receiver.start(certificates);
  receiver.answer = (delivery, response) => {
    if (delivery.path !== "/hang" || !hanging) response.writeHead(200).end("ok");
  };
  env = { NODE_EXTRA_CA_CERTS: certificates.caFile, WEBHOOK_ALLOW_HOSTS: "localhost" };
  service = await Service.start({ env });
  const { demo } = service;
  await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, { rate_limit_per_minute: 10_000_000 });
  await operate(demo, "PUT", `/merchants/${demo.merchant_id}/webhook`, { environment: "sandbox", url: receiver.url() });
  client = new Client(demo);
});

afterAll(async () => {
  await service.discard();
  await receiver.close();
});

function creation(changes: Record<string, unknown> = {}): Intent & { referenceId: string } {
  number++;
  const referenceId = `order-${number}`;
  const body = {
    amount_minor: 100_000,
    currency: "IDR",
    payment_method: "qris",
    reference_id: referenceId,
    ...changes,
  };
  return { path: "/v1/payments", body: JSON.stringify(body), key: `create-${number}`, referenceId };
}

function payer(reference: string): Intent {
  number++;
  // Spaces make each body, and so each signature, one of a kind.
  const body = `{"outcome":"succeeded"}${" ".repeat(number % 5_000)}`;
  return { path: `/v1/sandbox/payments/${reference}/simulate`, body, key: `simulate-${number}` };
}

const send = (intent: Intent, by = client): Promise<Answer> => by.post(intent.path, intent.body, { key: intent.key });

/** Repeats with the same key until the service knows the outcome. */
async function insist(intent: Intent): Promise<Answer> {
  for (const end = Date.now() + 15_000; ;) {
    const answer = await send(intent);
    const unknown = ["SERVICE_UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS", "SIGNATURE_REPLAYED"];
    if (!unknown.includes(answer.json?.error?.code as string) || Date.now() > end) return answer;
    await pause(100);
  }
}

/** Writes down what an answer acknowledged. */
function note(intent: Intent, { status, json }: Answer): void {
  if (status !== 200 && status !== 201) return;
  const before = acknowledged.get(json.reference as string);
  if (before === undefined || intent.path.endsWith("/simulate")) {
    acknowledged.set(json.reference as string, { referenceId: json.reference_id as string, status: json.status });
  }
}

interface Load {
  answers: Answer[];
  /** Sent, and no answer or one that leaves the outcome open. */
  open: Intent[];
  /** Lets each till end what it is doing. */
  end(): Promise<void>;
}

/** Four tills that create payments and have them paid, until told to end or until nobody answers. */
function load(): Load {
  const answers: Answer[] = [];
  const open: Intent[] = [];
  const told = new AbortController();
  const ask = async (intent: Intent): Promise<Answer | undefined> => {
    try {
      const answer = await send(intent);
      answers.push(answer);
      note(intent, answer);
      if (answer.status >= 500) open.push(intent);
      return answer;
    } catch {
      open.push(intent); // the connection died: whether it happened is not known
      return undefined;
    }
  };
  const till = async (): Promise<void> => {
    for (let round = 0; round < 300 && !told.signal.aborted; round++) {
      const created = await ask(creation());
      if (created?.status === 201) await ask(payer(created.json.reference as string));
      else await pause(50);
      await pause(4);
    }
  };
  const tills = Promise.all([till(), till(), till(), till()]);
  return {
    answers,
    open,
    async end() {
      told.abort();
      await tills;
    },
  };
}

/** Everything acknowledged is there, once, as acknowledged; what was left open is asked again; the books are clean. */
async function expectWhole(open: Intent[] = []): Promise<void> {
  for (const intent of open) {
    const answer = await insist(intent);
    expect(answer.status, answer.text).toBeLessThan(300);
    note(intent, answer);
    const again = await insist(intent);
    expect(again.json.reference).toBe(answer.json.reference);
  }
  const { rows } = await asOwner((owner) =>
    owner.query<{ reference_id: string; status: string; captures: number }>(
      `select p.reference_id, p.status, (select count(*) from journals j where j.merchant_id = p.merchant_id
  and j.environment = p.environment and j.group_id = p.payment_id)::integer as captures
from payments p`,
    ),
  );
  const kept = Map.groupBy(rows, (row) => row.reference_id);
  for (const [reference, { referenceId, status }] of acknowledged) {
    const found = kept.get(referenceId) ?? [];
    expect(found, reference).toHaveLength(1);
    if (status === "succeeded") expect(found[0]?.status, reference).toBe("succeeded");
  }
  for (const { reference_id, status, captures } of rows) {
    expect(captures, reference_id).toBe(status === "succeeded" ? 1 : 0);
  }
  const verified = await gerbang(["verify"], { GERBANG_DATA: service.dataDirectory });
  expect(verified.code, verified.stdout + verified.stderr).toBe(0);
}

const cluster = (): string => join(service.dataDirectory, "postgres", "cluster");
const postmaster = (): string[] => readFileSync(join(cluster(), "postmaster.pid"), "utf8").split("\n");
const passwords = (): { owner: string; service: string } =>
  JSON.parse(readFileSync(join(cluster(), "gerbang.json"), "utf8")) as { owner: string; service: string };

async function asOwner<T>(work: (owner: pg.Client) => Promise<T>): Promise<T> {
  const owner = new pg.Client({
    connectionString: `postgres://postgres:${passwords().owner}@127.0.0.1:${postmaster()[3]}/gerbang`,
  });
  await owner.connect();
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}

/** While the database is away the answers are those of the contract, each one. */
function expectOrderly(answers: Answer[]): void {
  for (const { status, json, text, headers } of answers.filter((answer) => answer.status > 201)) {
    expect(status, text).toBe(503);
    expect(json.error, text).toMatchObject({ code: "SERVICE_UNAVAILABLE", message: expect.any(String) });
    expect(headers.get("x-request-id")).toBeTruthy();
  }
}

test("the service is killed under load: whatever it acknowledged is whole after the restart", async () => {
  for (const lifeMs of [1_200, 700]) {
    const under = load();
    await pause(lifeMs);
    await service.kill("SIGKILL");
    await under.end();
    expect(under.answers.filter(({ status }) => status <= 201).length).toBeGreaterThan(20);
    expect(under.open.length).toBeGreaterThan(0);
    await service.start();
    expect(service.demo.client_id).toBe(client.credentials.client_id);
    await expectWhole(under.open);
  }
});

test("the service and its PostgreSQL are killed at once: a restart is enough", async () => {
  const under = load();
  await pause(1_200);
  const pid = Number(postmaster()[0]);
  const killed = service.kill("SIGKILL");
  process.kill(pid, "SIGKILL");
  await killed;
  await under.end();
  const begun = performance.now();
  await service.start();
  expect(performance.now() - begun).toBeLessThan(12_000);
  expect(Number(postmaster()[0])).not.toBe(pid);
  await expectWhole(under.open);
});

test("a signature that had an effect stays used after service and PostgreSQL were killed", async () => {
  const intent = creation();
  const headers = {
    ...client.headers(intent.body),
    "content-type": "application/json",
    "idempotency-key": intent.key,
  };
  const first = await client.send("POST", intent.path, intent.body, headers);
  expect(first.status).toBe(201);
  acknowledged.set(first.json.reference, { referenceId: intent.referenceId, status: "pending" });
  const killed = service.kill("SIGKILL");
  process.kill(Number(postmaster()[0]), "SIGKILL");
  await killed;
  await service.start();
  const again = await client.send("POST", intent.path, intent.body, headers);
  expect([again.status, again.json.error.code]).toEqual([401, "SIGNATURE_REPLAYED"]);
});

test.each<NodeJS.Signals>(["SIGINT", "SIGKILL"])(
  "PostgreSQL alone ends by %s: orderly answers meanwhile, and the service goes on by itself",
  async (signal) => {
    const process_ = service.process;
    const under = load();
    await pause(500);
    const [pid] = postmaster();
    process.kill(Number(pid), signal);
    await vi.waitFor(() => expect(under.answers.some(({ status }) => status === 503)).toBe(true), 5_000);
    const since = under.answers.length;
    await vi.waitFor(() => expect(under.answers.slice(since).some(({ status }) => status === 201)).toBe(true), 15_000);
    await under.end();
    expect(process_?.exitCode).toBeNull();
    expect(process_?.signalCode).toBeNull();
    expect(postmaster()[0]).not.toBe(pid);
    expectOrderly(under.answers);
    await expectWhole(under.open);
  },
);

test("connections that the database cuts off under load cost an answer at most", async () => {
  const process_ = service.process;
  const under = load();
  for (let cut = 0; cut < 3; cut++) {
    await pause(300);
    const { rowCount } = await asOwner((owner) =>
      owner.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'gerbang_service'"),
    );
    expect(rowCount).toBeGreaterThan(0);
  }
  await pause(500);
  const since = under.answers.length;
  await under.end();
  await vi.waitFor(async () => expect((await send(creation())).status).toBe(201), 5_000);
  expect(since).toBeGreaterThan(20);
  expect(process_?.exitCode).toBeNull();
  expectOrderly(under.answers);
  await expectWhole(under.open);
});

test("told to stop under load, it ends with 0 within ten seconds and loses nothing", async () => {
  const under = load();
  await pause(800);
  const begun = performance.now();
  expect(await service.stop()).toBe(0);
  expect(performance.now() - begun).toBeLessThan(10_000);
  await under.end();
  expectOrderly(under.answers);
  const verified = await gerbang(["verify"], { GERBANG_DATA: service.dataDirectory });
  expect(verified.code, verified.stderr).toBe(0); // it finds the database when nothing runs, too
  await service.start();
  // What was begun was also answered: nothing that was left open has happened.
  const orders = under.open.map(({ body }) => (JSON.parse(body) as { reference_id?: string }).reference_id);
  const { rows } = await asOwner((owner) =>
    owner.query("select reference_id from payments where reference_id = any($1::text[])", [orders]),
  );
  expect(rows).toEqual([]);
  await expectWhole(under.open);
});

test("told to stop while a receiver hangs, it ends in time and makes the delivery later, the attempt not used up", async () => {
  const intent = creation({ callback_url: receiver.url("/hang") });
  const { json } = await send(intent);
  acknowledged.set(json.reference as string, { referenceId: intent.referenceId, status: "pending" });
  await receiver.waitFor(({ path }) => path === "/hang");
  const begun = performance.now();
  expect(await service.stop()).toBe(0);
  expect(performance.now() - begun).toBeLessThan(10_000);
  hanging = false;
  const tried = receiver.received.filter(({ path }) => path === "/hang").length;
  await service.start();
  await vi.waitFor(
    () => expect(receiver.received.filter(({ path }) => path === "/hang").length).toBeGreaterThan(tried),
    { timeout: 45_000, interval: 100 },
  );
  const [first, last] = receiver.received.filter(({ path }) => path === "/hang") as [Received, Received];
  expect(last.headers["x-svc-delivery-attempt"]).toBe("1");
  expect(last.headers["x-svc-event-id"]).toBe(first.headers["x-svc-event-id"]);
  expect(last.body).toBe(first.body);
}, 70_000);

test("two processes on one database: same keys, same orders and same payments meet as one", async () => {
  const directory = mkdtempSync(join(tmpdir(), "gerbang-second-"));
  copyFileSync(join(service.dataDirectory, "demo.json"), join(directory, "demo.json"));
  const secrets = JSON.parse(readFileSync(join(service.dataDirectory, "secrets.json"), "utf8"));
  const second = await Service.start({
    dataDirectory: directory,
    env: {
      ...env,
      DATABASE_URL: `postgres://gerbang_service:${passwords().service}@127.0.0.1:${postmaster()[3]}/gerbang`,
      MASTER_KEY: secrets.masterKey,
      OPERATOR_TOKEN: secrets.operatorToken,
    },
  });
  try {
    const clients = [client, new Client(second.demo)];
    const both = (intentOf: (index: number) => Intent): Promise<Answer[]> =>
      Promise.all(Array.from({ length: 20 }, (_, index) => send(intentOf(index), clients[index % 2])));
    const codes = (answers: Answer[]): unknown[] => answers.map(({ json }) => json.error?.code).filter(Boolean);
    const of = (answers: Answer[], status: number): Answer[] => answers.filter((answer) => answer.status === status);

    const once = creation();
    const headers = {
      ...client.headers(once.body),
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
        (await client.get("/v1/balances")).json.data.find((entry: { currency: string }) => entry.currency === "IDR")
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
  const arrived = (): Set<string> =>
    new Set(receiver.received.map(({ event }) => `${event.type} ${event.data.reference}`));
  const wanted = [...acknowledged].flatMap(([reference, { status }]) => [
    `payment.created ${reference}`,
    ...(status === "succeeded" ? [`payment.succeeded ${reference}`] : []),
  ]);
  expect(wanted.length).toBeGreaterThan(200);
  await vi.waitFor(
    () => {
      const got = arrived();
      expect(wanted.filter((event) => !got.has(event))).toEqual([]);
    },
    { timeout: 45_000, interval: 200 },
  );
  for (const [eventId, deliveries] of Map.groupBy(receiver.received, ({ event }) => event.id as string)) {
    expect(new Set(deliveries.map(({ body }) => body)).size, eventId).toBe(1);
    for (const { headers } of deliveries) {
      expect(headers["x-svc-event-id"]).toBe(eventId);
      expect(headers["x-svc-delivery-attempt"]).toMatch(/^[1-8]$/);
    }
  }
}, 60_000);
