// Goal: what was acknowledged is true and stays true, whatever dies. Method: a whole service with its own PostgreSQL under a small
// load; something dies or is cut off; then every acknowledged fact is looked for again.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import fc from "fast-check";
import { expect, vi } from "vitest";
import { type Answer, Client, operate } from "../e2e/kit/client.ts";
import { gerbangHere } from "../e2e/kit/command-here.ts";
import { Receiver, makeCertificates } from "../e2e/kit/receiver.ts";
import type { QuickTiming } from "../e2e/kit/quick-service.ts";
import { Service, gerbang } from "../e2e/kit/service.ts";

export interface Intent {
  path: string;
  body: string;
  key: string;
}

/** What the service acknowledged: payments by reference, with the status last acknowledged. */
export const acknowledged = new Map<string, { referenceId: string; status: "pending" | "succeeded" }>();

/** What `startRig` made. */
export const rig = {} as {
  receiver: Receiver;
  service: Service;
  client: Client;
  env: Record<string, string>;
  /** While true, receivers of the path /hang take a delivery and say nothing. */
  hanging: boolean;
};
let number = 0;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** With the usual times unless others are given. */
export async function startRig(timing?: QuickTiming): Promise<void> {
  const certificates = await makeCertificates();
  const receiver = await Receiver.start(certificates);
  receiver.answer = (delivery, response) => {
    if (delivery.path !== "/hang" || !rig.hanging) response.writeHead(200).end("ok");
  };
  const env = { NODE_EXTRA_CA_CERTS: certificates.caFile, WEBHOOK_ALLOW_HOSTS: "localhost" };
  const service = await Service.start({ env, ...(timing && { timing }) });
  const { demo } = service;
  await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, { rate_limit_per_minute: 10_000_000 });
  await operate(demo, "PUT", `/merchants/${demo.merchant_id}/webhook`, { environment: "sandbox", url: receiver.url() });
  acknowledged.clear();
  Object.assign(rig, { receiver, service, env, client: new Client(demo), hanging: true });
}

export async function stopRig(): Promise<void> {
  await rig.service.discard();
  await rig.receiver.close();
}

export function creation(changes: Record<string, unknown> = {}): Intent & { referenceId: string } {
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

export function payer(reference: string): Intent {
  number++;
  // Spaces make each body, and so each signature, one of a kind.
  const body = `{"outcome":"succeeded"}${" ".repeat(number % 5_000)}`;
  return { path: `/v1/sandbox/payments/${reference}/simulate`, body, key: `simulate-${number}` };
}

export const send = (intent: Intent, by = rig.client): Promise<Answer> =>
  by.post(intent.path, intent.body, { key: intent.key });

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
export function note(intent: Intent, { status, json }: Answer): void {
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
export function load(): Load {
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
export async function expectWhole(open: Intent[] = []): Promise<void> {
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
  const verified = await gerbangHere(["verify"], { GERBANG_DATA: rig.service.dataDirectory });
  expect(verified.code, verified.stdout + verified.stderr).toBe(0);
}

const cluster = (): string => join(rig.service.dataDirectory, "postgres", "cluster");
export const postmaster = (): string[] => readFileSync(join(cluster(), "postmaster.pid"), "utf8").split("\n");
export const passwords = (): { owner: string; service: string } =>
  JSON.parse(readFileSync(join(cluster(), "gerbang.json"), "utf8")) as { owner: string; service: string };

export async function asOwner<T>(work: (owner: pg.Client) => Promise<T>): Promise<T> {
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
export function expectOrderly(answers: Answer[]): void {
  for (const { status, json, text, headers } of answers.filter((answer) => answer.status > 201)) {
    expect(status, text).toBe(503);
    expect(json.error, text).toMatchObject({ code: "SERVICE_UNAVAILABLE", message: expect.any(String) });
    expect(headers.get("x-request-id")).toBeTruthy();
  }
}

/** The service is killed, not before it has acknowledged so much: whatever it acknowledged is whole after the restart. */
export async function killService(lifeMs: number, acknowledgedMin = 0): Promise<Load> {
  const under = load();
  await pause(lifeMs);
  const done = (): number => under.answers.filter(({ status }) => status <= 201).length;
  await vi.waitFor(() => expect(done()).toBeGreaterThanOrEqual(acknowledgedMin), { timeout: 10_000, interval: 10 });
  await rig.service.kill("SIGKILL");
  await under.end();
  await rig.service.start();
  await expectWhole(under.open);
  return under;
}

/** The service and its PostgreSQL are killed at once: a restart is enough. */
export async function killBoth(lifeMs: number): Promise<void> {
  const under = load();
  await pause(lifeMs);
  const pid = Number(postmaster()[0]);
  const killed = rig.service.kill("SIGKILL");
  process.kill(pid, "SIGKILL");
  await killed;
  await under.end();
  const begun = performance.now();
  await rig.service.start();
  expect(performance.now() - begun).toBeLessThan(12_000);
  expect(Number(postmaster()[0])).not.toBe(pid);
  await expectWhole(under.open);
}

/** PostgreSQL alone ends: orderly answers meanwhile, and the service goes on by itself. */
export async function endDatabase(signal: NodeJS.Signals, lifeMs: number): Promise<void> {
  const process_ = rig.service.process;
  const under = load();
  await pause(lifeMs);
  // One that was killed just now may still be on its way up.
  const [pid] = await vi.waitFor(postmaster, 10_000);
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
}

/** The database cuts off connections, three times: that costs an answer at most. */
export async function cutConnections(lifeMs: number): Promise<void> {
  const process_ = rig.service.process;
  const under = load();
  for (let cut = 0; cut < 3; cut++) {
    await pause(lifeMs);
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
}

/** Told to stop, it ends with 0 within ten seconds and loses nothing. */
export async function stopService(lifeMs: number): Promise<void> {
  const under = load();
  await pause(lifeMs);
  const begun = performance.now();
  expect(await rig.service.stop()).toBe(0);
  expect(performance.now() - begun).toBeLessThan(10_000);
  await under.end();
  expectOrderly(under.answers);
  const verified = await gerbang(["verify"], { GERBANG_DATA: rig.service.dataDirectory });
  expect(verified.code, verified.stderr).toBe(0); // it finds the database when nothing runs, too
  await rig.service.start();
  // What was begun was also answered: nothing that was left open has happened.
  const orders = under.open.map(({ body }) => (JSON.parse(body) as { reference_id?: string }).reference_id);
  const { rows } = await asOwner((owner) =>
    owner.query("select reference_id from payments where reference_id = any($1::text[])", [orders]),
  );
  expect(rows).toEqual([]);
  await expectWhole(under.open);
}

/** Every event of every acknowledged payment arrived, numbered and with the same bytes each time. Gives how many there are. */
export async function expectArrived(): Promise<number> {
  const arrived = (): Set<string> =>
    new Set(rig.receiver.received.map(({ event }) => `${event.type} ${event.data.reference}`));
  const wanted = [...acknowledged].flatMap(([reference, { status }]) => [
    `payment.created ${reference}`,
    ...(status === "succeeded" ? [`payment.succeeded ${reference}`] : []),
  ]);
  await vi.waitFor(
    () => {
      const got = arrived();
      expect(wanted.filter((event) => !got.has(event))).toEqual([]);
    },
    { timeout: 45_000, interval: 200 },
  );
  for (const [eventId, deliveries] of Map.groupBy(rig.receiver.received, ({ event }) => event.id as string)) {
    expect(new Set(deliveries.map(({ body }) => body)).size, eventId).toBe(1);
    for (const { headers } of deliveries) {
      expect(headers["x-svc-event-id"]).toBe(eventId);
      expect(headers["x-svc-delivery-attempt"]).toMatch(/^[1-8]$/);
    }
  }
  return wanted.length;
}

type Fault = [name: string, lifeMs: number];
const faults: Record<string, (lifeMs: number) => Promise<unknown>> = {
  killService: (lifeMs) => killService(lifeMs),
  killBoth,
  interruptDatabase: (lifeMs) => endDatabase("SIGINT", lifeMs),
  killDatabase: (lifeMs) => endDatabase("SIGKILL", lifeMs),
  cutConnections,
  stopService,
};
const lives = fc.array(fc.tuple(fc.constantFrom(...Object.keys(faults)), fc.integer({ min: 300, max: 1_500 })), {
  minLength: 4,
  maxLength: 8,
});

/** Faults in any order and at any time, and that everything arrived after them: the seed decides which. */
export async function faultsOf({ seed }: { seed: number }): Promise<void> {
  const [sequence = []] = fc.sample<Fault[]>(lives, { seed, numRuns: 1 });
  const done: string[] = [];
  try {
    for (const [name, lifeMs] of sequence) {
      done.push(`${name} after ${lifeMs} ms`);
      await faults[name]?.(lifeMs);
    }
    await expectArrived();
  } catch (error) {
    throw new Error(`wrong after: ${done.join(", ")}`, { cause: error });
  }
}
