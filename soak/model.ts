// Goal: whatever a merchant, its payers, its bank and its operator do, in any order and at any time, the service answers by its interface and
// the book adds up. Method: random sequences are compared with a model of the interface, over real HTTP to two instances on one database that
// are restarted during a sequence; then the same steps run concurrently, where only invariants are checked. A failure prints its seed and path.
import fc from "fast-check";
import { sameNumbersIn } from "../gateway/test/currencies.ts";
import { expect } from "vitest";
import { type Answer, Client } from "../e2e/kit/client.ts";
import { idOf } from "../gateway/src/ground/ids.ts";
import { verifyBook } from "../gateway/src/ledger/verify.ts";
import type { OperatorHands } from "../gateway/test/kit.ts";
import {
  type Batch,
  type Method,
  Model,
  type Prediction,
  amountOf,
  fees,
  figures,
  mondayAfter,
  owed,
  remainingOf,
  batchStatusOf,
  ways,
  wrongs,
} from "../gateway/test/model.ts";
import { crowd, examples } from "./model.examples.ts";
import { AT_ALL, database, firstInstance, instance, restart, restartProcess, rowsOf } from "./instances.ts";

const CURRENCIES = ["IDR", "USD"];
const DAY = 86_400;

const change = (at: number, { merchantId }: World, settings: object): Promise<unknown> =>
  instance(at).operate("PATCH", `/merchants/${merchantId}`, settings);

/** A request of a step, or an action by the operator API (`act`). It is fixed when it is made, so that it can be sent again. */
type Request = { path: string; body: Record<string, unknown>; act?: Outside; predict(): Prediction };
type Outside = (app: OperatorHands) => Promise<Answer["json"]>;
type Sent = { key: string; request: Request; answer: Answer };

/** One merchant, its sent requests, and a counter of steps for idempotency keys and order ids. */
type World = { merchantId: string; client: Client; sent: Sent[]; count: number };

async function newWorld(): Promise<{ model: Model; real: World }> {
  const { client, merchantId } = await firstInstance().merchant({
    settings: { ...sameNumbersIn(fees, ...CURRENCIES.slice(1)), settlement: { delay_days: 1 } },
  });
  const real: World = { merchantId, client, sent: [], count: 0 };
  // Every book begins on a Monday at ten in Jakarta, and its clock moves in steps of ten minutes, so that seconds never decide what is due.
  const now = Math.floor(Date.parse((await client.get("/v1/sandbox/clock")).json.now) / 1000);
  const monday = mondayAfter(now);
  const answer = await client.post("/v1/sandbox/clock/advance", { seconds: monday + 5 - now });
  expect(answer.status, answer.text).toBe(200);
  const model = new Model(monday, CURRENCIES);
  for (const step of opening) await step.run(model, real);
  return { model, real };
}

const through = ({ client }: World, at: number): Client =>
  new Client({ ...client.credentials, base_url: `${instance(at).origin}/v1` });

/** The item at position `pick`, counted from the newest; undefined for an empty list. */
const chosen = <T>(list: readonly T[], pick: number): T | undefined => list[list.length - 1 - (pick % list.length)];

type Deed = (model: Model, real: World, pick: number, word: string) => Request | undefined;

const post = (path: string, body: Record<string, unknown>, predict: () => Prediction): Request => {
  return { path: `/v1/${path}`, body, predict };
};

/** A deed on an object of a kind; no request when there is no such object. */
const on =
  <K extends "payments" | "refunds" | "disputes" | "batches">(
    shelf: K,
    deed: (item: Model[K][number], model: Model, word: never, real: World) => Request,
  ): Deed =>
  (model, real, pick, word) => {
    const item = chosen<Model[K][number]>(model[shelf], pick);
    return item && deed(item, model, word as never, real);
  };
const bookOf = ({ merchantId }: World) => ({ merchantId, environment: "sandbox" }) as const;

/** The deeds by name. The number of a creation is its amount, and its word has the other fields; elsewhere the number picks the object. */
const deeds: Record<string, Deed> = {
  create(model, real, amount, word) {
    const [method, currency, expiresIn, ...rest] = word.split(" ") as [Method, string, string, ...string[]];
    const used = rest.includes("again") ? model.payments.at(-1) : undefined;
    const given = { amount, method, currency, expiresIn: Number(expiresIn), slow: rest.includes("slow") };
    const referenceId = used?.referenceId ?? `order-${real.merchantId.slice(-8)}-${real.count}`;
    const metadata = given.slow ? { metadata: { "sandbox.scenario": "slow" } } : {};
    const wire = { amount_minor: amount, currency, payment_method: method, expires_in: given.expiresIn };
    const body = { ...wire, reference_id: referenceId, ...metadata };
    return post("payments", body, () => model.create({ ...given, referenceId }));
  },
  cancel: on("payments", (one, model) => post(`payments/${one.id}/cancel`, {}, () => model.cancel(one))),
  simulate: on("payments", (one, model, outcome) =>
    post(`sandbox/payments/${one.id}/simulate`, { outcome }, () => model.simulate(one, outcome)),
  ),
  refund: on("payments", (one, model, word) => {
    const amount = amountOf(word, remainingOf(one));
    const other = word === "foreign" ? { currency: one.currency === "IDR" ? "USD" : "IDR" } : {};
    const body = { payment_reference: one.id, ...amount, ...other };
    return post("refunds", body, () => model.refund(one, amount.amount_minor, other.currency));
  }),
  late: on("refunds", (one, model, outcome) =>
    post(`sandbox/refunds/${one.id}/simulate`, { outcome }, () => model.simulateRefund(one, outcome)),
  ),
  dispute: on("payments", (one, model, word) => {
    const amount = amountOf(word, remainingOf(one));
    const body = { reason: "general", ...amount };
    return post(`sandbox/payments/${one.id}/dispute`, body, () => model.openDispute(one, amount.amount_minor));
  }),
  evidence: on("disputes", (one, model, _, real) => ({
    ...post("", {}, () => model.submitEvidence(one)),
    act: (app) => app.submitEvidence(bookOf(real), one.id, { statement: "It was delivered.", files: [] }),
  })),
  resolve: on("disputes", (one, model, outcome) =>
    post(`sandbox/disputes/${one.id}/resolve`, { outcome }, () => model.resolve(one, outcome)),
  ),
  run: (model) => post("sandbox/settlements/run", {}, () => model.runSettlements()),
  pay: on("batches", (one, model) => post(`sandbox/settlements/${one.id}/pay`, {}, () => model.pay(one))),
  return: on("batches", (one, model, _, real) => ({
    ...post("", {}, () => model.returnBatch(one)),
    act: (app) => app.returnSettlement(bookOf(real), one.id),
  })),
  advance: (model, _, __, word) =>
    post("sandbox/clock/advance", { seconds: Number(word) }, () => model.advance(Number(word))),
};

const freezing = (op: string, currency: string) => ({ wallet_frozen: { [currency]: op === "freeze" } });

/** One deed, played on the model and through one of the instances. */
class Step implements fc.AsyncCommand<Model, World> {
  readonly given: readonly [op: string, pick: number, word: string, at: number];
  constructor(...given: Step["given"]) {
    this.given = given;
  }

  readonly check = (): boolean => true;

  toString(): string {
    return this.given.join(":");
  }

  async run(model: Model, real: World): Promise<void> {
    const [op, pick, word, at] = this.given;
    real.count++;
    if (op === "restart") await restart(at, ["api"]);
    // Each instance gets the change, since the others may take a second to learn of it.
    else if (op === "freeze" || op === "thaw") {
      model.frozen[op === "freeze" ? "add" : "delete"](word);
      for (const each of AT_ALL) await change(each, real, freezing(op, word));
    } else if (op === "repeat") await this.repeat(model, real, pick, word);
    else {
      const request = deeds[op]?.(model, real, pick, word);
      if (request?.act) await this.act(request, at);
      else if (request) await this.send(model, real, request, `key-of-${real.merchantId}-${real.count}`);
    }
    const balances = await balancesOf(through(real, at));
    expect(balances, `balances after ${this.toString()}`).toEqual(Object.fromEntries(model.balances));
  }

  private async act(request: Request, at: number): Promise<void> {
    const predicted = request.predict();
    const done = await request.act?.(instance(at).app).catch(String);
    if ("refused" in predicted) expect(done, this.toString()).toContain(`"${predicted.refused.slice(4)}"`);
    else expect(done, this.toString()).toMatchObject(predicted.fields);
  }

  private async repeat(model: Model, real: World, pick: number, word: string): Promise<void> {
    const before = chosen(real.sent, pick);
    if (!before) return;
    const { key, request, answer: first } = before;
    const changed = word === "changed";
    if (!model.isKept(key)) return changed ? undefined : this.send(model, real, request, key);
    const body = changed ? { ...request.body, changed: true } : request.body;
    const answer = await through(real, this.given[3]).post(request.path, body, { key });
    if (changed) return expect(answer.json.error?.code, this.toString()).toBe("IDEMPOTENCY_CONFLICT");
    expect([answer.status, answer.text]).toEqual([first.status < 300 ? 200 : first.status, first.text]);
    expect(answer.headers.get("x-idempotent-replay")).toBe("true");
  }

  private async send(model: Model, real: World, request: Request, key: string): Promise<void> {
    const firstSeenAt = model.now;
    const predicted = request.predict();
    const client = through(real, this.given[3]);
    const answer = await client.post(request.path, request.body, { key });
    const said = `${this.toString()}: ${answer.text}`;
    expect(answer.headers.get("x-idempotent-replay"), said).toBeNull();
    if ("refused" in predicted) {
      expect(`${answer.status} ${answer.json.error?.code}`, said).toBe(predicted.refused);
      if (predicted.refused.endsWith("INVALID_AMOUNT")) return; // a field error is not stored under its key
    } else {
      expect(answer.status, said).toBe(predicted.status);
      expect(answer.json, said).toMatchObject(predicted.fields);
      if (predicted.born) predicted.born.id = (answer.json.reference ?? answer.json.uuid) as string;
      if (predicted.bornBatches?.length) await learnBatches(model, client, predicted.bornBatches);
      if (Array.isArray(answer.json.data)) expect(answer.json.data).toHaveLength(predicted.bornBatches?.length ?? 0);
    }
    // The key of a move of the clock is kept from the end of the move.
    model.keys.set(key, request.path.endsWith("/clock/advance") ? model.now : firstSeenAt);
    real.sent = [...real.sent.filter((sent) => sent.key !== key), { key, request, answer }];
  }
}

async function balancesOf(client: Client): Promise<Record<string, unknown>> {
  const balances: Record<string, unknown> = {};
  for (const entry of (await client.get("/v1/balances")).json.data) {
    const { available_minor: available, held_minor: held, pending_settlement_minor: settling } = entry;
    balances[entry.currency] = { available, held, settling };
  }
  return balances;
}

const figuresOf = (b: Answer["json"]): string =>
  JSON.stringify([b.currency, b.gross_minor, b.fee_minor, b.refund_minor, b.net_minor, b.payment_count]);

/** Expects that a request formed the batches that the model formed, and gives the model's batches their identities. */
async function learnBatches(model: Model, client: Client, born: Batch[]): Promise<void> {
  const listed: Answer["json"][] = (await client.get("/v1/settlements?limit=100")).json.data;
  const fresh = listed.filter(({ uuid }) => model.batches.every(({ id }) => id !== uuid)).toReversed();
  expect(fresh.map(figuresOf).toSorted()).toEqual(born.map(figures).toSorted());
  for (const batch of born) batch.id = fresh.splice(fresh.map(figuresOf).indexOf(figures(batch)), 1)[0].uuid;
}

const rows = (text: string, { merchantId }: World): Promise<Answer["json"][]> => rowsOf(merchantId, text);

async function expectSound(real: World): Promise<void> {
  for (const [name, text] of Object.entries(wrongs)) expect(await rows(text, real), name).toEqual([]);
  const sums: Record<string, unknown> = Object.fromEntries(new Model(0, CURRENCIES).balances);
  for (const { currency, ...sum } of await rows(owed, real)) sums[currency] = sum;
  for (const at of AT_ALL) expect(await balancesOf(through(real, at))).toEqual(sums);
  expect((await verifyBook(database(), bookOf(real))).wrong).toBeUndefined();
}

/** Expects that all objects, events (in order) and keys are the model's, and that there are no others. */
async function expectSame(model: Model, real: World): Promise<void> {
  const client = through(real, 0);
  const listed = async (path: string, view: (json: Answer["json"]) => unknown): Promise<unknown> => {
    const { data } = (await client.get(`/v1/${path}?limit=100`)).json;
    return Object.fromEntries((data as Answer["json"][]).map((json) => [json.reference ?? json.uuid, view(json)]));
  };
  const shown = <T extends { id: string }>(list: readonly T[], view: (item: T) => unknown): unknown =>
    Object.fromEntries(list.map((item) => [item.id, view(item)]));
  expect(await listed("payments", (p) => [p.status, p.fee_minor, p.refunded_minor, p.settlement?.status])).toEqual(
    shown(model.payments, (p) => [p.status, p.fee, p.refunded, batchStatusOf(p)]),
  );
  expect(await listed("disputes", (d) => [d.status, d.amount_minor])).toEqual(
    shown(model.disputes, (d) => [d.status, d.amount]),
  );
  expect(await listed("settlements", (b) => [b.status, figuresOf(b)])).toEqual(
    shown(model.batches, (b) => [b.status, figures(b)]),
  );
  for (const { id, status, amount } of model.refunds)
    expect((await client.get(`/v1/refunds/${id}`)).json).toMatchObject({ status, amount_minor: amount });
  const told = await rows(ways, real);
  expect(Object.fromEntries(told.map((way) => [idOf(way.types.split(".")[0], way.subject), way.types]))).toEqual(
    Object.fromEntries([...model.events].map(([subject, types]) => [(subject as Batch).id, types.join(" ")])),
  );
  const [keys] = await rows("select count(*)::int as count from idempotency_keys where $book", real);
  expect(keys?.count).toBe(model.keys.size + 1); // plus the key of the first move of the clock
}

/** The words of each deed. Words in the list more than once are drawn more often. */
const words: Record<string, readonly string[]> = {
  create: [
    ..."qris IDR 1800,qris IDR 7200 slow,qris IDR 86400,qris IDR 1800 slow,va IDR 7200,va IDR 1800 slow".split(","),
    ..."card USD 1800,card USD 7200 slow,card IDR 86400,card IDR 1800 slow,qris IDR 1800 again".split(","),
  ],
  simulate: ["succeeded", "succeeded", "processing", "failed"],
  refund: ["all", "half", "one", "over", "foreign"],
  dispute: ["all", "half", "one", "over"],
  advance: [600, 1800, 3600, 7200, 50_400, DAY, 3 * DAY, 7 * DAY].map(String),
  repeat: ["same", "changed"],
  late: ["succeeded", "failed"],
  resolve: ["won", "lost", "withdrawn"],
  freeze: CURRENCIES,
  thaw: CURRENCIES,
};
const often = { create: 5, simulate: 6, refund: 8, dispute: 4, advance: 4, repeat: 4, late: 4, resolve: 3 };
const seldom = { run: 3, cancel: 2, evidence: 2, pay: 2, return: 2, freeze: 1, thaw: 1 };
const amount = fc.oneof(fc.constantFrom(1, 4_000, 4_001), fc.integer({ min: 1, max: 3_000_000 }));
const steps = fc.oneof(
  ...Object.entries({ ...often, ...seldom }).map(([op, weight]) => ({
    weight,
    arbitrary: fc
      .tuple(op === "create" ? amount : fc.nat({ max: 6 }), fc.constantFrom(...(words[op] ?? [""])), fc.nat({ max: 1 }))
      .map(([pick, word, at]) => new Step(op, pick, word, at)),
  })),
);

/** Reads the steps that a failure printed. */
const stepsOf = (printed: string): Step[] =>
  printed.split(",").map((step) => {
    const [op = "", pick, word = "", at] = step.trim().split(":");
    return new Step(op, Number(pick), word, Number(at));
  });
/** Every sequence begins with these paid payments, so that its steps have money to move. */
const opening =
  stepsOf(`create:900000:qris IDR 1800:0,simulate:0:succeeded:1,create:500000:qris IDR 1800 slow:1,simulate:0:succeeded:0,
  create:2000000:card USD 7200:0,simulate:0:succeeded:0,create:700000:va IDR 7200:1,simulate:0:succeeded:1`);
/** The number of sequences, and their seed; a random seed when absent. */
type Budget = { runs: number; seed?: number };
const parameters = ({ runs, seed }: Budget): { numRuns: number; seed?: number } => ({
  numRuns: runs,
  ...(seed !== undefined && { seed }),
});

/** Plays steps one after another: every answer, balance, object and event must be the model's. */
export async function inTurn(budget: Budget): Promise<void> {
  const restarting = fc.constant(new Step("restart", 0, "", 0));
  const often = Array.from({ length: 60 }, () => steps);
  const commands = fc.commands([...often, restarting], { maxCommands: 60, size: "max" });
  const property = fc.asyncProperty(commands, async (commands) => {
    const setup = await newWorld();
    await fc.asyncModelRun(() => setup, commands);
    await expectSame(setup.model, setup.real);
    await expectSound(setup.real);
  });
  await fc.assert(property, { ...parameters(budget), examples: examples.map((steps) => [stepsOf(steps)]) });
}

/** Fills the model with the book's objects, so that steps can pick from them. They are not used for predictions. */
async function look(model: Model, real: World): Promise<void> {
  const shelves = { payments: "payment", refunds: "refund", disputes: "dispute", batches: "settlement" } as const;
  for (const [shelf, kind] of Object.entries(shelves) as [keyof typeof shelves, "payment"][]) {
    const found = await rows(`select * from ${kind}s where $book order by ${kind}_id`, real);
    const items = found.map((row) => ({
      id: idOf(kind, row[`${kind}_id`]),
      referenceId: row.reference_id,
      currency: row.currency,
      amount: Number(row.amount_minor),
      refunded: Number(row.refunded_minor),
      pending: Number(row.refund_pending_minor),
    }));
    model[shelf].splice(0, Infinity, ...(items as never[]));
  }
}

/** Plays several steps at once. A step "repeat" sends the first request of the group again, with the same key. Gives the first answers. */
async function together(model: Model, real: World, group: readonly Step[]): Promise<Answer[]> {
  await look(model, real);
  const keyed: { at: number; key: string; request: Request }[] = [];
  const asides: Promise<unknown>[] = [];
  for (const {
    given: [op, pick, word, at],
  } of group) {
    real.count++;
    const request = deeds[op]?.(model, real, pick, word);
    if (op === "freeze" || op === "thaw") asides.push(change(at, real, freezing(op, word)));
    else if (request?.act) asides.push(request.act(instance(at).app).catch(String));
    else if (request) keyed.push({ at, key: `key-of-${real.merchantId}-${real.count}`, request });
    else if (op === "repeat" && keyed[0]) keyed.push({ ...keyed[0], at });
  }
  const send = keyed.map(({ at, key, request: { path, body } }) => through(real, at).post(path, body, { key }));
  const answers = await Promise.all(send);
  for (const aside of await Promise.all(asides)) expect(String(aside)).not.toMatch(/answered 5/);
  return [...Map.groupBy(answers, (_, index) => keyed[index]?.key).values()].flatMap((same) => {
    for (const { status, text } of same) expect(status, text).toBeLessThan(500);
    const replayed = same.filter(({ headers }) => headers.get("x-idempotent-replay") !== null);
    const refusedForNow = ["IDEMPOTENCY_IN_PROGRESS", "INVALID_AMOUNT"];
    const first = same.filter((one) => !replayed.includes(one) && !refusedForNow.includes(one.json.error?.code));
    expect(first.length, "first answers of one key").toBeLessThanOrEqual(1);
    for (const { text } of replayed) expect(text).toBe(first[0]?.text);
    return first;
  });
}

/** Plays groups of steps at once through two processes, one of which is killed: the book must stay sound. */
export async function atOnce(budget: Budget): Promise<void> {
  await Promise.all([restart(0, ["api", "worker"]), restartProcess()]);
  // Long moves of the clock are left out, so that no idempotency key expires within a group.
  const short = steps.filter(({ given: [op, , word] }) => op !== "advance" || Number(word) <= 7200);
  const groups = fc.array(
    fc.record({
      steps: fc.array(short, { minLength: 1, maxLength: 10, size: "max" }),
      restarted: fc.integer({ min: 0, max: 9 }),
      seconds: fc.constantFrom(600, 600, 7200, DAY, 3 * DAY, 7 * DAY),
    }),
    { minLength: 1, maxLength: 8, size: "max" },
  );
  const property = fc.asyncProperty(groups, async (groups) => {
    const { model, real } = await newWorld();
    const created = real.sent.map(({ answer }) => answer).filter(({ status }) => status === 201);
    for (const { steps, restarted, seconds } of groups) {
      if (restarted === 0) await restart(0, ["api", "worker"]);
      if (restarted === 1) await restartProcess();
      created.push(...(await together(model, real, steps)).filter(({ status }) => status === 201));
      const advanced = await through(real, restarted % 2).post("/v1/sandbox/clock/advance", { seconds });
      expect(advanced.status, advanced.text).toBe(200);
    }
    await expectSound(real);
    await look(model, real);
    const ids = [...model.payments, ...model.refunds, ...model.disputes].map(({ id }) => id);
    expect(created.map(({ json }) => (json.reference ?? json.uuid) as string).toSorted()).toEqual(ids.toSorted());
  });
  const example = crowd.map(([steps, restarted]) => ({ steps: stepsOf(steps), restarted, seconds: DAY }));
  await fc.assert(property, { ...parameters(budget), examples: [[example]] });
}
