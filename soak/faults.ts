// Goal: everything that the service acknowledged stays true, whatever fails. Method: a whole service with its own PostgreSQL under a small
// load; a process is killed or connections are cut; then every acknowledged fact is checked again.
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
import { slowness, waiting } from "../gateway/test/slowness.ts";

export interface Intent {
  path: string;
  body: string;
  key: string;
}

/** Acknowledged payments by reference, with the last acknowledged status. */
export const acknowledged = new Map<string, { referenceId: string; status: "pending" | "succeeded" }>();

/** The parts that `startRig` made. */
export const rig = {} as {
  receiver: Receiver;
  service: Service;
  client: Client;
  env: Record<string, string>;
  /** How long this machine took for a service and a cluster of its own, in milliseconds. */
  startMs: number;
  /** While true, the receiver accepts deliveries at the path /hang and never answers. */
  hanging: boolean;
};
let number = 0;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts the service and a receiver, with the usual times unless `timing` changes them. */
export async function startRig(timing?: QuickTiming): Promise<void> {
  const certificates = await makeCertificates();
  const receiver = await Receiver.start(certificates);
  receiver.answer = (delivery, response) => {
    if (delivery.path !== "/hang" || !rig.hanging) response.writeHead(200).end("ok");
  };
  const env = { NODE_EXTRA_CA_CERTS: certificates.caFile, WEBHOOK_ALLOW_HOSTS: "localhost" };
  const begun = performance.now();
  const service = await Service.start({ env, ...(timing && { timing }) });
  const startMs = performance.now() - begun;
  const { demo } = service;
  await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, { rate_limit_per_minute: 10_000_000 });
  await operate(demo, "PUT", `/merchants/${demo.merchant_id}/webhook`, { environment: "sandbox", url: receiver.url() });
  acknowledged.clear();
  Object.assign(rig, { receiver, service, startMs, env, client: new Client(demo), hanging: true });
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
  // Spaces make each body, and so each signature, unique.
  const body = `{"outcome":"succeeded"}${" ".repeat(number % 5_000)}`;
  return { path: `/v1/sandbox/payments/${reference}/simulate`, body, key: `simulate-${number}` };
}

export const send = (intent: Intent, by = rig.client): Promise<Answer> =>
  by.post(intent.path, intent.body, { key: intent.key });

/** Repeats a request with the same key until the answer gives its outcome, for 30 s at most. */
async function insist(intent: Intent): Promise<Answer> {
  for (const end = Date.now() + 30_000; ;) {
    const answer = await send(intent);
    const unknown = ["SERVICE_UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS", "SIGNATURE_REPLAYED"];
    if (!unknown.includes(answer.json?.error?.code as string) || Date.now() > end) return answer;
    await pause(100);
  }
}

/** Records what an answer acknowledged. */
export function note(intent: Intent, { status, json }: Answer): void {
  if (status !== 200 && status !== 201) return;
  const before = acknowledged.get(json.reference as string);
  if (before === undefined || intent.path.endsWith("/simulate")) {
    acknowledged.set(json.reference as string, { referenceId: json.reference_id as string, status: json.status });
  }
}

interface Load {
  answers: Answer[];
  /** Requests that got no answer, or one that leaves the outcome open. */
  open: Intent[];
  /** Ends the load; resolves when each till has finished its current request. */
  end(): Promise<void>;
}

/** Starts four tills that create payments and have them paid, until `end` is called or 300 rounds are over. */
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
      open.push(intent); // the connection was lost, and the outcome is unknown
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

/** Repeats requests with an open outcome, then expects each acknowledged payment once, with its status, and clean books. */
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

/** Expects that every answer but success is the contract's SERVICE_UNAVAILABLE, as while the database is away. */
function expectOrderly(answers: Answer[]): void {
  for (const { status, json, text, headers } of answers.filter((answer) => answer.status > 201)) {
    expect(status, text).toBe(503);
    expect(json.error, text).toMatchObject({ code: "SERVICE_UNAVAILABLE", message: expect.any(String) });
    expect(headers.get("x-request-id")).toBeTruthy();
  }
}

/** Kills the service under load, after at least `acknowledgedMin` successes: everything acknowledged must be there after the restart. */
export async function killService(lifeMs: number, acknowledgedMin = 0): Promise<Load> {
  const under = load();
  await pause(lifeMs);
  const done = (): number => under.answers.filter(({ status }) => status <= 201).length;
  await vi.waitFor(() => expect(done()).toBeGreaterThanOrEqual(acknowledgedMin), { timeout: 30_000, interval: 10 });
  await rig.service.kill("SIGKILL");
  await under.end();
  await rig.service.start();
  await expectWhole(under.open);
  return under;
}

/** Kills the service and its PostgreSQL at once: a restart within 12 s must be enough, on a machine of the usual speed. */
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
  expect(performance.now() - begun).toBeLessThan(Math.max(12_000, 4 * rig.startMs));
  expect(Number(postmaster()[0])).not.toBe(pid);
  await expectWhole(under.open);
}

/** Ends PostgreSQL alone: meanwhile answers must be orderly, and the service must recover by itself. */
export async function endDatabase(signal: NodeJS.Signals, lifeMs: number): Promise<void> {
  const process_ = rig.service.process;
  const under = load();
  await pause(lifeMs);
  // A server that an earlier fault killed may still be starting.
  const [pid] = await vi.waitFor(postmaster, 30_000);
  process.kill(Number(pid), signal);
  await vi.waitFor(() => expect(under.answers.some(({ status }) => status === 503)).toBe(true), 30_000);
  const since = under.answers.length;
  await vi.waitFor(() => expect(under.answers.slice(since).some(({ status }) => status === 201)).toBe(true), 30_000);
  await under.end();
  expect(process_?.exitCode).toBeNull();
  expect(process_?.signalCode).toBeNull();
  // A connection may outlive its killed server for a moment, and answer before the next server has begun.
  await vi.waitFor(() => expect(postmaster()[0]).not.toBe(pid), 30_000);
  expectOrderly(under.answers);
  await expectWhole(under.open);
}

/** Cuts the service's database connections three times: answers must be orderly, and the service must recover. */
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
  await vi.waitFor(() => expect(under.answers.length).toBeGreaterThan(20), 30_000);
  await under.end();
  await vi.waitFor(async () => expect((await send(creation())).status).toBe(201), 30_000);
  expect(process_?.exitCode).toBeNull();
  expectOrderly(under.answers);
  await expectWhole(under.open);
}

/** Stops the service by SIGTERM: it must end with 0 within ten seconds and lose nothing. */
export async function stopService(lifeMs: number): Promise<void> {
  const under = load();
  await pause(lifeMs);
  const took = await waiting(async () => expect(await rig.service.stop()).toBe(0));
  expect(took).toBeLessThan(10_000 * slowness());
  await under.end();
  expectOrderly(under.answers);
  const verified = await gerbang(["verify"], { GERBANG_DATA: rig.service.dataDirectory });
  expect(verified.code, verified.stderr).toBe(0); // `verify` finds the database even when no service runs
  await rig.service.start();
  // The stopping service answered every request that it had begun, so none with an open outcome has happened.
  const orders = under.open.map(({ body }) => (JSON.parse(body) as { reference_id?: string }).reference_id);
  const { rows } = await asOwner((owner) =>
    owner.query("select reference_id from payments where reference_id = any($1::text[])", [orders]),
  );
  expect(rows).toEqual([]);
  await expectWhole(under.open);
}

/** Expects that every event of every acknowledged payment arrived, with its attempt number and the same bytes each time. Gives their number. */
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

/** Plays a sequence of faults that the seed decides, then expects that every event arrived. */
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
