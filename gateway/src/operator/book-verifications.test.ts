// Goal: a replay that an operator starts goes on by itself, tells every process how far it is, ends when it is told to, and never counts as clean
// unless it came to its end; there is one at a time in a process. Method: rooms on one database that stand for processes; a table that is locked
// holds a replay where it is; then the endpoints on a real socket.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import pg from "pg";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { BookReplays } from "./book-replays.ts";
import { VERIFICATIONS_KEPT } from "./book-verifications.sql.ts";
import { bookVerificationEndpoints } from "./book-verifications.routes.ts";
import { bookEndpoints } from "./books.routes.ts";

let service: TestService;
let database: Database;
let book: Book;
let other: Book;
const endpoints = [...bookVerificationEndpoints({} as never, {} as never), ...bookEndpoints({} as never, {} as never)];
const ask = operatorCaller(() => service, endpoints);
let support: string;

beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { operatorViewerToken: VIEWER_TOKEN } });
  database = openDatabase(service.database, 6);
  [book, other] = [await bookWithPayment(), await bookWithPayment()];
  support = (await service.operate("POST", "/tokens", { name: "sita", role: "support" })).token as string;
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

async function bookWithPayment(): Promise<Book> {
  const { client, merchantId } = await service.merchant();
  const { reference } = (await client.post("/v1/payments", paymentBody())).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return { merchantId, environment: "sandbox" };
}

const processes: BookReplays[] = [];
/** A process that tells at once how far it is. */
function aProcess(): BookReplays {
  const made = new BookReplays({ database, clock: systemClock, log: createLog("silent"), saveEveryMs: 5 });
  processes.push(made);
  return made;
}
afterEach(async () => {
  await Promise.all(processes.splice(0).map((one) => one.stop()));
});

/** Nobody reads journals before `release`. */
async function held(): Promise<{ release(): Promise<void> }> {
  const owner = new pg.Client({ connectionString: service.database.ownerUrl });
  await owner.connect();
  await owner.query("begin; lock table journals in access exclusive mode");
  return {
    async release() {
      await owner.query("rollback");
      await owner.end();
    },
  };
}

const seenAt = (id: string): Promise<string> =>
  asOwner(service.database, async (owner) => {
    const { rows } = await owner.query("select seen_at::text from book_verifications where verification_id = $1", [
      uuidOf(id),
    ]);
    return (rows as { seen_at: string }[])[0]?.seen_at ?? "";
  });

const ended = (replays: BookReplays, of: Book, id: string) =>
  expect
    .poll(async () => (await replays.read(of, id))?.status, { timeout: 30_000, interval: 5 })
    .not.toBe("running")
    .then(() => replays.read(of, id));

test("a replay goes on by itself, and tells the end of the chain", async () => {
  const replays = aProcess();
  const begun = await replays.start(book, "sita");
  expect(begun).toMatchObject({ status: "running", startedBy: "sita", journals: 0n, endedAt: undefined });
  const done = await ended(replays, book, begun.id);
  expect(done).toMatchObject({ status: "clean", wrong: undefined, journals: 1n, journalsInAll: 1n });
  expect(done?.checks).toBe(done?.checksInAll);
  expect(done?.rows).toBeGreaterThan(0n);
  const { head_hash: head } = (
    await ask("GET", `/merchants/${book.merchantId}/books/sandbox/verifications/${begun.id}`)
  ).json;
  expect(head).toBe(done?.head);
  expect(head).toBe((await service.askOperator(`/merchants/${book.merchantId}/books/sandbox`)).json.head_hash);
});

test("a book that is not clean is told so, with what is wrong", async () => {
  const spoiled = await bookWithPayment();
  await asOwner(service.database, (owner) =>
    owner.query(
      "update balances set debit_minor = debit_minor + 1 where merchant_id = $1 and account = 'platform:fees'",
      [uuidOf(spoiled.merchantId)],
    ),
  );
  const replays = aProcess();
  const { id } = await replays.start(spoiled, "sita");
  const done = await ended(replays, spoiled, id);
  expect(done?.status).toBe("wrong");
  expect(done?.wrong).toMatch(/^the balance of platform:fees IDR is kept as/);
});

describe("while a replay runs", () => {
  test("another book waits, the same one is that replay in every process, and stopping it ends it", async () => {
    const [here, there] = [aProcess(), aProcess()];
    const lock = await held();
    const begun = await here.start(book, "sita");
    try {
      await expect(here.start(other, "sinta")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
      expect(() => here.verify(other)).toThrow(expect.objectContaining({ code: "SERVICE_UNAVAILABLE" }));
      for (const one of [here, there])
        expect(await one.start(book, "sinta")).toMatchObject({ id: begun.id, status: "running", startedBy: "sita" });
      // From the process that does not run it.
      expect(await there.end(book, begun.id, "budi")).toMatchObject({ status: "running", stoppedBy: "budi" });
      await expect.poll(async () => (await there.read(book, begun.id))?.stoppedBy).toBe("budi");
      // It hears while it tells how far it is, which nothing holds: the second time it has heard, or it has ended before it met the lock.
      for (const _ of ["tells", "has told"]) {
        const before = await seenAt(begun.id);
        const isOver = async () => (await there.read(book, begun.id))?.status !== "running";
        await expect.poll(async () => (await seenAt(begun.id)) !== before || (await isOver())).toBe(true);
      }
    } finally {
      await lock.release();
    }
    expect(await ended(there, book, begun.id)).toMatchObject({ status: "stopped", stoppedBy: "budi", head: undefined });
    // Ended is ended, for whoever comes later.
    expect(await here.end(book, begun.id, "wati")).toMatchObject({ status: "stopped", stoppedBy: "budi" });
    await expect.poll(async () => (await here.start(other, "sita")).book).toEqual(other);
  });

  test("a process that stops leaves it interrupted, and not clean", async () => {
    const lock = await held();
    const replays = aProcess();
    const { id } = await replays.start(book, "sita");
    const stopped = replays.stop();
    await lock.release();
    await stopped;
    expect(await replays.read(book, id)).toMatchObject({ status: "interrupted", head: undefined });
    await expect(replays.start(book, "sita")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  });

  test("asked for at one moment, in two processes and twice in one, the book is replayed once", async () => {
    const lock = await held();
    const [here, there] = [aProcess(), aProcess()];
    // Whatever comes of it, nothing stays locked: an open transaction holds up the watermarks of the whole server.
    const asked = Promise.all([here, here, there].map((replays) => replays.start(book, "sita")));
    await Promise.allSettled([asked]);
    await lock.release();
    const begun = await asked;
    expect(new Set(begun.map(({ id }) => id)).size).toBe(1);
  });
});

test("whoever waits for an answer stands in a line, and too many are told to come back", async () => {
  const replays = aProcess();
  const lock = await held();
  const waiting = Array.from({ length: 8 }, () => replays.verify(book));
  try {
    expect(() => replays.verify(book)).toThrow(expect.objectContaining({ code: "SERVICE_UNAVAILABLE" }));
    await expect(replays.start(other, "sita")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  } finally {
    await lock.release();
  }
  expect((await Promise.all(waiting)).map(({ wrong }) => wrong)).toEqual(waiting.map(() => undefined));
  expect((await replays.verify(other)).wrong).toBeUndefined();
});

test("a replay whose process has gone counts as interrupted, and another one can be started", async () => {
  const fresh = await bookWithPayment();
  const replays = aProcess();
  await asOwner(service.database, (owner) =>
    owner.query(
      `insert into book_verifications (merchant_id, environment, verification_id, status, started_by, started_at, seen_at)
values ($1, 'sandbox', '00000000-0000-7000-8000-000000000001', 'running', 'sita', now() - interval '5 minutes', now() - interval '31 seconds')`,
      [uuidOf(fresh.merchantId)],
    ),
  );
  const [gone] = await replays.list(fresh);
  expect(gone?.status).toBe("interrupted");
  expect(gone?.endedAt).toBeDefined();
  const { id } = await replays.start(fresh, "sinta");
  expect(await ended(replays, fresh, id)).toMatchObject({ status: "clean" });
  expect((await replays.list(fresh)).map(({ status }) => status)).toEqual(["clean", "interrupted"]);
});

test("the newest replays of a book are kept, and no more", async () => {
  const fresh = await bookWithPayment();
  await asOwner(service.database, (owner) =>
    owner.query(
      `insert into book_verifications (merchant_id, environment, verification_id, status, started_by, ended_at)
select $1, 'sandbox', ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'clean', 'sita', now() from generate_series(1, 30) n`,
      [uuidOf(fresh.merchantId)],
    ),
  );
  const replays = aProcess();
  const { id } = await replays.start(fresh, "sita");
  const kept = await replays.list(fresh);
  expect([kept.length, kept[0]?.id]).toEqual([VERIFICATIONS_KEPT, id]);
  const [count] = await asOwner(service.database, async (owner) => {
    const { rows } = await owner.query("select count(*)::integer as n from book_verifications where merchant_id = $1", [
      uuidOf(fresh.merchantId),
    ]);
    return rows as { n: number }[];
  });
  expect(count?.n).toBe(VERIFICATIONS_KEPT);
});

describe("over HTTP", () => {
  const path = (of = book): string => `/merchants/${of.merchantId}/books/sandbox`;

  test("support starts, watches and stops; a viewer watches; who did it is in the audit", async () => {
    const fresh = await bookWithPayment();
    expect(outcomeOf(await ask("POST", `${path(fresh)}/verifications`, { token: VIEWER_TOKEN }))).toBe("403 FORBIDDEN");
    const { status, json } = await ask("POST", `${path(fresh)}/verifications`, { token: support });
    expect([status, json.started_by]).toEqual([201, "sita"]);
    const one = `${path(fresh)}/verifications/${json.verification_id}`;
    await expect.poll(async () => (await ask("GET", one, { token: VIEWER_TOKEN })).json.status).toBe("clean");
    const stopped = await ask("POST", `${one}/stop`, { token: support });
    expect([stopped.status, stopped.json.status, stopped.json.stopped_by]).toEqual([200, "clean", null]);
    const { data } = (await ask("GET", `${path(fresh)}/verifications`, { token: VIEWER_TOKEN })).json;
    expect(data).toMatchObject([{ status: "clean", journals: 1, journals_in_all: 1, wrong: null }]);
    const audit = (await service.askOperator(`/audit?actor=sita&merchant_id=${fresh.merchantId}`)).json.data;
    expect(audit.map((row: { path: string }) => row.path.replace(/^.*\/sandbox/, ""))).toEqual([
      `/verifications/${json.verification_id}/stop`,
      "/verifications",
    ]);
  });

  test.each(["vrf_nobody", "vrf_01kan6d4n2x8zq5tw9c3m7bhye", "%00", "jrn_01kan4r8f5w3xt9qm2c6hy7bzd"])(
    "there is no replay %s, and none of another book is found",
    async (id) => {
      const replays = aProcess();
      const { id: foreign } = await replays.start(other, "sita");
      await ended(replays, other, foreign);
      for (const wrong of [id, foreign]) {
        expect(outcomeOf(await ask("GET", `${path()}/verifications/${wrong}`))).toBe("404 OBJECT_NOT_FOUND");
        expect(outcomeOf(await ask("POST", `${path()}/verifications/${wrong}/stop`))).toBe("404 OBJECT_NOT_FOUND");
      }
    },
  );

  test.each([
    ["hledger", /^; mer_\w+\/sandbox: debits are positive[^]*; end of .*: 1 journals\n$/],
    ["beancount", /^; mer_\w+\/sandbox: debits are positive[^]*; end of .*: 1 journals\n$/],
    ["jsonl", /^\{"seq":"1".*\}\n$/],
  ])("a whole book goes along as %s, and the audit says who took it", async (format, text) => {
    const answer = await ask("POST", `${path()}/export`, { token: support, body: { format } });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="book-sandbox\.\w+"$/);
    expect(answer.text).toMatch(text);
    const [newest] = (await service.askOperator("/audit?actor=sita&limit=1")).json.data;
    expect(newest).toMatchObject({ path: `/ops/v1${path()}/export`, merchant_id: book.merchantId, status: 200 });
    expect(newest.body).toEqual({ format });
  });

  test.each<[string, unknown, string]>([
    ["no format", {}, "422 VALIDATION_ERROR format"],
    ["a format that there is not", { format: "ods" }, "422 VALIDATION_ERROR format"],
    ["no object", "[]", "400 MALFORMED_JSON"],
    ["a field too many", { format: "jsonl", merchant_id: "x" }, "422 VALIDATION_ERROR merchant_id"],
  ])("an export with %s is refused", async (_, body, outcome) => {
    expect(outcomeOf(await ask("POST", `${path()}/export`, { token: support, body }))).toMatch(outcome);
  });

  test("an export of nobody's book is not found, and a viewer takes none", async () => {
    const body = { format: "jsonl" };
    expect(outcomeOf(await ask("POST", "/merchants/mer_nobody/books/sandbox/export", { body }))).toBe(
      "404 OBJECT_NOT_FOUND",
    );
    expect(outcomeOf(await ask("POST", `${path()}/export`, { token: VIEWER_TOKEN, body }))).toBe("403 FORBIDDEN");
  });
});
