// Goal: a merchant answers a dispute with files, once and in time, and nobody else's files are ever theirs. Method: real uploads over real HTTP.
import { createHash } from "node:crypto";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, type Client } from "../../../e2e/kit/client.ts";
import { jpegOf, pdfOf, pngOf } from "../../test/files.ts";
import {
  OPERATOR_TOKEN,
  type TestService,
  asOwner,
  lanesOn,
  openDatabase,
  paymentBody,
  startService,
} from "../../test/kit.ts";
import { Browser, PASSWORD, joins } from "../../test/portal.ts";
import { merchantWith } from "../../test/given.ts";
import { forgottenFiles, forgottenPieces } from "../disputes/evidence.sql.ts";
import { EvidenceFiles, PIECE_BYTES } from "../disputes/evidence-files.ts";
import { uuidOf } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import type { Statement } from "../store/database.ts";
import { evidenceEndpoints } from "./evidence.routes.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const schemas = new Map(
  evidenceEndpoints({} as never).map(({ operationId, success }) => [operationId, success.schema]),
);

interface Case {
  browser: Browser;
  client: Client;
  merchantId: string;
  uuid: string;
  /** Of its evidence. */
  path: string;
}

/** A contested payment of a merchant, and its owner at the portal. */
async function disputed(): Promise<Case> {
  const { client, merchantId } = await service.merchant();
  const browser = await joins(service, merchantId);
  return { browser, client, merchantId, ...(await another(client)) };
}

async function another(client: Client): Promise<{ uuid: string; path: string }> {
  const { reference } = (await client.post("/v1/payments", paymentBody())).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const { json } = await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "product_not_received" });
  return { uuid: json.uuid as string, path: `/portal/v1/disputes/${json.uuid}/evidence` };
}

function upload({ browser, path }: Pick<Case, "browser" | "path">, bytes: Buffer, name = "resi.pdf"): Promise<Answer> {
  return browser.send("POST", `${path}/files`, bytes, { "x-file-name": encodeURIComponent(name) });
}

async function download({ browser }: Case, path: string): Promise<{ response: Response; bytes: Buffer }> {
  const headers = {
    cookie: browser.cookie ?? "",
    "x-merchant-id": browser.merchantId,
    "x-environment": browser.environment,
  };
  const response = await fetch(service.origin + path, { headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** A PDF of exactly so many bytes. */
function pdfOfSize(size: number): Buffer {
  const tail = Buffer.from("\n%%EOF\n");
  return Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(size - 9 - tail.length, 0x20), tail]);
}

const outcome = ({ status, json }: Answer): string => `${status} ${json.error?.code}`;
const statement = "Sudah diterima.\n<img src=x onerror=alert(1)> 🙏";

/** How many rows the files of a merchant have. */
async function rowsOf(merchantId: string): Promise<{ files: number; pieces: number }> {
  return asOwner(service.database, async (owner) => {
    const { rows } = await owner.query<{ files: number; pieces: number }>(
      `select (select count(*)::integer from evidence_files where merchant_id = $1 and state <> 'removed') as files,
  (select count(*)::integer from evidence_pieces where merchant_id = $1) as pieces`,
      [uuidOf(merchantId)],
    );
    return rows[0] as { files: number; pieces: number };
  });
}

test("a dispute is answered with a PDF and a photo; whoever decides reads them to the byte", async () => {
  const it = await disputed();
  const { browser, path, uuid, merchantId, client } = it;
  const before = (await browser.get(path)).json;
  schemas.get("getEvidence")?.parse(before);
  expect(before).toMatchObject({ can_change: true, statement: "", saved_at: null, submitted_at: null, files: [] });
  expect(before.asked.helpful.length).toBeGreaterThan(0);

  const text = { statement, carrier: "JNE", tracking_number: "JB1", delivered_on: "2026-11-20" };
  expect((await browser.send("PUT", path, text)).json).toMatchObject(text);
  const pdf = Buffer.concat([pdfOfSize(600_000)]);
  const photo = jpegOf(4000, 3000, 300_000);
  const name = '../resi "1042" <script>🧾.PDF';
  const first = await upload(it, pdf, name);
  expect([first.status, first.json]).toMatchObject([
    201,
    { number: 1, name, media_type: "application/pdf", size_bytes: 600_000 },
  ]);
  schemas.get("addEvidenceFile")?.parse(first.json);
  expect((await upload(it, photo, "foto\u202Egpj.exe")).json).toMatchObject({
    number: 2,
    name: "foto_gpj.exe",
    media_type: "image/jpeg",
  });

  const submitted = await browser.post(`${path}/submit`);
  expect([submitted.status, submitted.json.status]).toEqual([200, "under_review"]);
  const after = (await browser.get(path)).json;
  schemas.get("getEvidence")?.parse(after);
  expect(after).toMatchObject({ ...text, can_change: false, files: [{ name }, { number: 2 }] });
  expect(after.submitted_at).not.toBeNull();

  const { response, bytes } = await download(it, `${path}/files/${first.json.file_id}`);
  expect([response.status, bytes.equals(pdf)]).toEqual([200, true]);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-length": "600000",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="[\w. -]+"; /);

  const operators = `/merchants/${merchantId}/books/sandbox/disputes/${uuid}`;
  const seen = (await service.askOperator(`${operators}/evidence`)).json;
  expect(seen).toMatchObject({
    ...text,
    files: [
      { number: 1, name },
      { number: 2, media_type: "image/jpeg" },
    ],
  });
  const theirs = await fetch(`${service.operatorOrigin}/ops/v1${operators}/evidence/files/2`, {
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
  });
  expect(Buffer.from(await theirs.arrayBuffer()).equals(photo)).toBe(true);
  // Whatever it is called, it is saved as what it is.
  expect(theirs.headers.get("content-disposition")).toContain('filename="foto_gpj.exe.jpg"');

  await service.operate("POST", `${operators}/resolve`, { outcome: "won" });
  expect((await client.get(`/v1/disputes/${uuid}`)).json.outcome).toBe("won");
  expect((await browser.get(path)).json).toEqual({ ...after, now: expect.any(String) });
  const { rows } = await asOwner(service.database, (owner) =>
    owner.query<{ sha256: Buffer }>("select sha256 from evidence_files where merchant_id = $1 and slot = 1", [
      uuidOf(merchantId),
    ]),
  );
  expect(rows[0]?.sha256.equals(createHash("sha256").update(pdf).digest())).toBe(true);
});

test.each([
  ["empty", Buffer.alloc(0), "422 VALIDATION_ERROR", /is empty/],
  [
    "a program called .pdf",
    Buffer.from("MZ\x90\0program"),
    "422 VALIDATION_ERROR",
    /Windows program, whatever its name says/,
  ],
  ["a PNG bomb", pngOf(50_000, 50_000, { pixels: Buffer.alloc(9) }), "422 VALIDATION_ERROR", /50000 × 50000/],
  ["10 MiB and a byte", pdfOfSize(10 * 1024 * 1024 + 1), "413 PAYLOAD_TOO_LARGE", /10,485,761 bytes/],
  ["a web page", Buffer.from("<html><script>alert(1)</script>"), "422 VALIDATION_ERROR", /web page/],
  [
    "a PDF that breaks off in its second piece",
    pdfOfSize(300_000).subarray(0, 290_000),
    "422 VALIDATION_ERROR",
    /breaks off/,
  ],
])("a file that is %s is refused in a sentence, and nothing of it stays", async (_what, bytes, code, message) => {
  const it = await disputed();
  const answer = await upload(it, bytes);
  expect(outcome(answer)).toBe(code);
  expect(answer.json.error.message).toMatch(message);
  expect((await it.browser.get(it.path)).json.files).toEqual([]);
  expect(await rowsOf(it.merchantId)).toEqual({ files: 0, pieces: 0 });
});

test("10 MiB is taken, and comes back", async () => {
  const it = await disputed();
  const bytes = pdfOfSize(10 * 1024 * 1024);
  const kept = await upload(it, bytes);
  expect(kept.status).toBe(201);
  expect(await rowsOf(it.merchantId)).toEqual({ files: 1, pieces: 40 });
  expect((await download(it, `${it.path}/files/${kept.json.file_id}`)).bytes.equals(bytes)).toBe(true);
  expect((await it.browser.send("DELETE", `${it.path}/files/${kept.json.file_id}`)).status).toBe(200);
  expect(await rowsOf(it.merchantId)).toEqual({ files: 0, pieces: 0 });
});

test("ten files are taken and no more, all at once or one by one", async () => {
  const it = await disputed();
  const all = await Promise.all(
    Array.from({ length: 12 }, (_, index) => upload(it, pdfOf(`file ${index}`), `${index}.pdf`)),
  );
  const codes = all.map(({ status }) => status);
  expect(codes.filter((code) => code === 201).length).toBeGreaterThanOrEqual(8);
  expect(codes.filter((code) => code !== 201 && code !== 422 && code !== 429)).toEqual([]);
  for (let left = 10 - codes.filter((code) => code === 201).length; left > 0; left--)
    expect((await upload(it, pdfOf("more"))).status).toBe(201);
  const more = await upload(it, pdfOf("one more"));
  expect([outcome(more), more.json.error.message]).toEqual([
    "422 VALIDATION_ERROR",
    expect.stringMatching(/10 files already/),
  ]);
  const { files } = (await it.browser.get(it.path)).json;
  expect(files.map(({ number }: { number: number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test.each([
  ["before the first byte", 0],
  ["after the first byte", 1],
  ["at the end of a piece", PIECE_BYTES],
  ["in the middle", 400_000],
  ["before the last byte", 999_999],
])(
  "a client that goes away %s leaves nothing that anybody sees, and the next upload has its slot",
  async (_when, sent) => {
    const it = await disputed();
    const { browser, path, merchantId } = it;
    const sending = httpRequest(service.origin + `${path}/files`, {
      method: "POST",
      headers: {
        cookie: browser.cookie,
        "x-merchant-id": merchantId,
        "x-environment": "sandbox",
        "sec-fetch-site": "same-origin",
        origin: browser.origin,
        "x-file-name": "half.pdf",
        "content-length": "1000000",
      },
    });
    sending.on("error", () => undefined);
    sending.flushHeaders();
    sending.write(pdfOfSize(1_000_000).subarray(0, sent));
    await expect.poll(() => rowsOf(merchantId)).toEqual({ files: 1, pieces: Math.floor(sent / PIECE_BYTES) });
    sending.destroy();
    await expect.poll(() => rowsOf(merchantId), { timeout: 30_000 }).toEqual({ files: 0, pieces: 0 });
    expect((await upload(it, pdfOf("whole"))).status).toBe(201);
  },
);

/** A file that is sent in part. `rest` sends what is left, and gives the answer's status. */
interface Held {
  rest(): Promise<number>;
  /** True when the service has answered before the rest came. */
  isOver(): boolean;
}

async function slowly(by: Pick<Case, "browser" | "path">): Promise<Held> {
  const [held] = await manySlowly(by, 1);
  return held ?? expect.unreachable();
}

/** Begins uploads, all at once, and waits until each has its place. */
async function manySlowly(by: Pick<Case, "browser" | "path">, count: number): Promise<Held[]> {
  const files = async (): Promise<number> => (await rowsOf(by.browser.merchantId)).files;
  const before = await files();
  const held = Array.from({ length: count }, () => beginSlowly(by));
  const kept = async (): Promise<number> => {
    // A service that has too much to do sends some away: they come again.
    for (const [place, one] of held.entries()) if (one.isOver()) held[place] = beginSlowly(by);
    return files();
  };
  await expect.poll(kept).toBe(before + count);
  return held;
}

function beginSlowly({ browser, path }: Pick<Case, "browser" | "path">): Held {
  const bytes = pdfOfSize(400_000);
  const sending = httpRequest(`${service.origin}${path}/files`, {
    method: "POST",
    agent: false,
    headers: {
      cookie: browser.cookie,
      "x-merchant-id": browser.merchantId,
      "x-environment": "sandbox",
      "sec-fetch-site": "same-origin",
      origin: browser.origin,
      "x-file-name": "slow.pdf",
      "content-length": String(bytes.length),
    },
  });
  let isOver = false;
  const status = new Promise<number>((resolve, reject) => {
    sending.on("response", (response) => resolve(response.resume().statusCode ?? 0)).on("error", reject);
  }).finally(() => (isOver = true));
  status.catch(() => undefined); // for who awaits it
  sending.write(bytes.subarray(0, 200_000));
  return {
    isOver: () => isOver,
    rest: () => {
      sending.end(bytes.subarray(200_000));
      return status;
    },
  };
}

test("who loses the right while a file arrives has sent it for nothing", async () => {
  const it = await disputed();
  const helper = await joins(service, it.merchantId, "support");
  const { person_id: helperId } = (await helper.get("/portal/v1/session")).json.person;
  const first = await slowly({ browser: helper, path: it.path });
  const second = await slowly({ browser: helper, path: it.path });
  await it.browser.send("PATCH", `/portal/v1/team/${helperId}`, { role: "viewer" });
  expect(await first.rest()).toBe(403);
  await it.browser.send("DELETE", `/portal/v1/team/${helperId}`);
  expect(await second.rest()).toBe(404);
  expect((await it.browser.get(it.path)).json.files).toEqual([]);
  await expect.poll(() => rowsOf(it.merchantId), { timeout: 30_000 }).toEqual({ files: 0, pieces: 0 });
});

test("who proves who they are again while a file arrives has sent it all the same; who is signed out has not", async () => {
  const it = await disputed();
  const { browser } = it;
  const first = await slowly(it);
  const before = browser.cookie;
  expect((await browser.post("/portal/v1/session/proof", { password: PASSWORD })).status).toBe(200);
  expect(browser.cookie).not.toBe(before);
  expect(await first.rest()).toBe(201);
  const second = await slowly(it);
  const other = Object.assign(new Browser(browser.origin, browser.merchantId), { cookie: before });
  expect((await other.get("/portal/v1/session")).status).toBe(401);
  await browser.send("DELETE", "/portal/v1/session");
  expect(await second.rest()).toBe(401);
  await expect.poll(() => rowsOf(it.merchantId), { timeout: 30_000 }).toMatchObject({ files: 1 });
});

test("two who send slowly leave room for the others", async () => {
  const [first, second] = [await disputed(), await disputed()];
  const held = [...(await manySlowly(first, 9)), ...(await manySlowly(second, 7))];
  const third = await disputed();
  expect((await upload(third, pdfOf("there is room"))).status).toBe(201);
  expect(outcome(await upload(second, pdfOf("too many")))).toBe("429 RATE_LIMITED");
  expect(new Set(await Promise.all(held.map((one) => one.rest())))).toEqual(new Set([201]));
});

test("a sandbox takes 200 MiB of files within a day, whoever uploads and for whichever dispute, and goes on the next day", async () => {
  const it = await disputed();
  const taken = async (mebibytes: number, since: string): Promise<void> => {
    const { uuid } = await another(it.client);
    await asOwner(service.database, (owner) =>
      owner.query(
        `insert into evidence_files (merchant_id, environment, dispute_id, file_id, slot, state, name, size_bytes, arriving_since)
select $1, 'sandbox', $2, gen_random_uuid(), slot, 'arriving', 'a.pdf', 10485760, now() - $4::interval
from generate_series(1, $3::integer / 10) as slot`,
        [uuidOf(it.merchantId), uuidOf(uuid), mebibytes, since],
      ),
    );
  };
  await taken(50, "25 hours");
  for (const since of ["23 hours", "1 hour", "1 minute"]) await taken(50, since);
  await taken(40, "1 minute");
  expect((await upload(it, pdfOfSize(10 * 1024 * 1024 - 1))).status).toBe(201);
  const colleague = await joins(service, it.merchantId, "support");
  const { path } = await another(it.client);
  const refused = await upload({ browser: colleague, path }, pdfOf("too much"));
  expect([outcome(refused), refused.headers.get("retry-after")]).toEqual(["429 RATE_LIMITED", "3600"]);
  expect((await upload(await disputed(), pdfOf("of another merchant"))).status).toBe(201);
  // Other tests sweep what nobody finished, and count it.
  await asOwner(service.database, (owner) => owner.query("delete from evidence_files where name = 'a.pdf'"));
});

/** Four readers who stop after the headers. */
async function fourHeld(url: string, headers: Record<string, string>): Promise<IncomingMessage[]> {
  const held = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      httpRequest(url, { headers, agent: false }, resolve).on("error", reject).end();
    });
  const readers = await Promise.all([held(), held(), held(), held()]);
  expect(readers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  return readers;
}

test("an operator downloads four files at once, and leaves the places", async () => {
  const it = await disputed();
  await upload(it, pdfOfSize(10 * 1024 * 1024));
  await it.browser.send("PUT", it.path, { statement });
  expect((await it.browser.post(`${it.path}/submit`)).status).toBe(200);
  const path = `/merchants/${it.merchantId}/books/sandbox/disputes/${it.uuid}/evidence/files/1`;
  const authorization = `Bearer ${OPERATOR_TOKEN}`;
  const readers = await fourHeld(`${service.operatorOrigin}/ops/v1${path}`, { authorization });
  expect(outcome(await service.askOperator(path))).toBe("429 RATE_LIMITED");
  for (const reader of readers) reader.destroy();
  await expect.poll(async () => (await service.askOperator(path)).status, { timeout: 30_000 }).toBe(200);
});

test("a merchant's people download four files at once, others download meanwhile, and whoever goes leaves their place", async () => {
  const [it, other] = [await disputed(), await disputed()];
  const { file_id: id } = (await upload(it, pdfOfSize(10 * 1024 * 1024))).json;
  const { file_id: others } = (await upload(other, pdfOf("of another merchant"))).json;
  const path = `${it.path}/files/${id}`;
  const { cookie = "", merchantId } = it.browser;
  const headers = { cookie, "x-merchant-id": merchantId, "x-environment": "sandbox" };
  const readers = await fourHeld(service.origin + path, headers);
  expect(outcome(await it.browser.get(path))).toBe("429 RATE_LIMITED");
  expect((await download(other, `${other.path}/files/${others}`)).response.status).toBe(200);
  for (const reader of readers) reader.destroy();
  await expect.poll(async () => (await download(it, path)).response.status, { timeout: 30_000 }).toBe(200);
  for (let n = 0; n < 5; n++) expect((await download(it, path)).bytes).toHaveLength(10 * 1024 * 1024);
});

test("what nobody finished is swept by the database's clock, and what is kept stays", async () => {
  const it = await disputed();
  await upload(it, pdfOf("kept"));
  const database = openDatabase(service.database);
  await asOwner(service.database, async (owner) => {
    const id = [uuidOf(it.merchantId), uuidOf(it.uuid)];
    for (const [slot, age] of [
      [5, "2 hours"],
      [6, "11 minutes"],
      [7, "9 minutes"],
    ]) {
      await owner.query(
        `insert into evidence_files (merchant_id, environment, dispute_id, file_id, slot, state, name, size_bytes, arriving_since)
values ($1, 'sandbox', $2, gen_random_uuid(), $3::smallint, 'arriving', 'left.pdf', 300000, now() - $4::interval)`,
        [...id, slot, age],
      );
    }
    await owner.query(
      `insert into evidence_pieces (merchant_id, environment, dispute_id, file_id, piece, bytes)
select merchant_id, environment, dispute_id, file_id, 0, decode(repeat('00', 262144), 'hex')
from evidence_files where merchant_id = $1 and dispute_id = $2 and state = 'arriving'`,
      id,
    );
  });
  // The service's worker sweeps now and then too, and may be first, or at it now.
  for (const swept of [forgottenPieces(), forgottenFiles()])
    await expect.poll(async () => (await database.query(swept)).length).toBe(0);
  await expect.poll(() => rowsOf(it.merchantId)).toEqual({ files: 2, pieces: 2 });
  await database.end();
});

test("another merchant's dispute and files are not found, and neither are files of another dispute of one's own", async () => {
  const [mine, theirs] = [await disputed(), await disputed()];
  const { file_id: fileId } = (await upload(theirs, pdfOf("theirs"))).json;
  const { file_id: own } = (await upload(mine, pdfOf("mine"))).json;
  const second = await another(mine.client);
  const { browser } = mine;
  for (const [method, path, body] of [
    ["GET", theirs.path],
    ["PUT", theirs.path, { statement: "x" }],
    ["POST", `${theirs.path}/submit`],
    ["POST", `${theirs.path}/files`, pdfOf("x")],
    ["GET", `${theirs.path}/files/${fileId}`],
    ["DELETE", `${theirs.path}/files/${fileId}`],
    ["GET", `${mine.path}/files/${fileId}`],
    ["DELETE", `${mine.path}/files/${fileId}`],
    ["GET", `${second.path}/files/${own}`],
    ["DELETE", `${second.path}/files/${own}`],
    ["GET", `${mine.path}/files/1`],
    ["GET", `${mine.path}/files/..%2F1`],
    ["GET", "/portal/v1/disputes/dsp_x/evidence"],
  ] as const) {
    const answer = await browser.send(method, path, body, Buffer.isBuffer(body) ? { "x-file-name": "a.pdf" } : {});
    expect([`${method} ${path}`, outcome(answer)]).toEqual([`${method} ${path}`, "404 OBJECT_NOT_FOUND"]);
  }
  browser.environment = "production";
  expect(outcome(await browser.get(mine.path))).toBe("403 ENVIRONMENT_MISMATCH");
  browser.environment = "sandbox";
  browser.merchantId = theirs.merchantId;
  expect(outcome(await browser.get(theirs.path))).toBe("404 OBJECT_NOT_FOUND");
});

test("it is submitted once, however often it is asked for; and after the deadline not at all", async () => {
  const it = await disputed();
  expect(outcome(await it.browser.post(`${it.path}/submit`))).toBe("422 VALIDATION_ERROR");
  await it.browser.send("PUT", it.path, { statement });
  const answers = await Promise.all(Array.from({ length: 5 }, () => it.browser.post(`${it.path}/submit`)));
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409, 409, 409]);
  const events = await it.client.get("/v1/events?type=dispute.updated");
  expect(events.json.data).toHaveLength(1);

  const late = await another(it.client);
  const { browser } = it;
  await browser.send("PUT", late.path, { statement });
  const { file_id: kept } = (await upload({ browser, path: late.path }, pdfOf("in time"))).json;
  await it.client.post("/v1/sandbox/clock/advance", { seconds: 8 * 24 * 3600 });
  const status = "409 DISPUTE_RESOLVED";
  expect(outcome(await browser.post(`${late.path}/submit`))).toBe(status);
  expect(outcome(await browser.send("PUT", late.path, { statement }))).toBe(status);
  expect(outcome(await upload({ browser, path: late.path }, pdfOf("late")))).toBe(status);
  expect(outcome(await browser.send("DELETE", `${late.path}/files/${kept}`))).toBe(status);
  expect((await browser.get(late.path)).json).toMatchObject({ can_change: false, submitted_at: null });
});

test("only who may answer disputes does; another site's page does not", async () => {
  const it = await disputed();
  const viewer = await joins(service, it.merchantId, "viewer");
  const { path } = it;
  for (const [method, rest, body] of [
    ["PUT", "", { statement }],
    ["POST", "/submit"],
    ["POST", "/files", pdfOf("x")],
  ] as const)
    expect(outcome(await viewer.send(method, path + rest, body, { "x-file-name": "a.pdf" }))).toBe("403 FORBIDDEN");
  expect((await viewer.get(path)).status).toBe(200);
  const foreign = { "x-file-name": "a.pdf", origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  expect(outcome(await it.browser.send("POST", `${path}/files`, pdfOf("x"), foreign))).toBe("403 FORBIDDEN");
});

test.each([
  ["no name", {}, /X-File-Name/],
  ["a name that is no text", { "x-file-name": "%ff" }, /X-File-Name/],
  ["an empty name", { "x-file-name": "%20" }, /1 to 200/],
  ["a name of 201 characters", { "x-file-name": "a".repeat(201) }, /1 to 200/],
])("a file with %s is refused", async (_what, headers, message) => {
  const it = await disputed();
  const answer = await it.browser.send("POST", `${it.path}/files`, pdfOf("x"), headers);
  expect([outcome(answer), answer.json.error.message]).toEqual([
    "422 VALIDATION_ERROR",
    expect.stringMatching(message),
  ]);
});

test("the draft keeps what its rules allow, and says which field breaks them", async () => {
  const { browser, path } = await disputed();
  for (const [field, value] of [
    ["statement", "x".repeat(20_001)],
    ["statement", "a\0b"],
    ["carrier", ""],
    ["tracking_number", "x".repeat(121)],
    ["delivered_on", "2026-02-30"],
    ["delivered_on", "tomorrow"],
    ["nonsense", 1],
  ] as const) {
    const { json } = await browser.send("PUT", path, { statement: "x", [field]: value });
    expect(json.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field } });
  }
});

test("the database refuses what the code would not do", async () => {
  const it = await disputed();
  const { file_id: kept } = (await upload(it, pdfOf("kept"))).json;
  await asOwner(service.database, async (owner) => {
    const [merchant, dispute, file] = [it.merchantId, it.uuid, kept as string].map((id) => `'${uuidOf(id)}'::uuid`);
    const refused = async (message: RegExp, ...statements: string[]): Promise<void> => {
      await owner.query("begin");
      try {
        const all = [...statements, "set constraints all immediate"].join(";\n");
        await expect(owner.query(all), all).rejects.toThrow(message);
      } finally {
        await owner.query("rollback");
      }
    };
    const insert = (slot: number, state = "arriving", size = 10): string =>
      `insert into evidence_files (merchant_id, environment, dispute_id, file_id, slot, state, name, size_bytes, media_type, sha256, kept_at)
select ${merchant}, 'sandbox', ${dispute}, gen_random_uuid(), ${slot}, '${state}', 'x', ${size}, 'image/png', decode(repeat('00', 32), 'hex'),
  case when '${state}' = 'kept' then now() end`;
    await refused(/evidence_files_slot/, insert(1));
    await refused(/slot_check/, insert(11));
    await refused(/size_bytes_check/, insert(2, "arriving", 10_485_761));
    await refused(/begins by arriving/, insert(2, "kept"));
    await refused(/too large together/, ...[2, 3, 4, 5, 6].map((slot) => insert(slot, "arriving", 10_485_760)));
    await refused(
      /cannot go from kept to kept/,
      `update evidence_files set name = 'other' where merchant_id = ${merchant}`,
    );
    await refused(
      /announced as cannot change/,
      insert(2),
      `update evidence_files set state = 'removed', name = 'other' where merchant_id = ${merchant} and slot = 2`,
    );
    await refused(/not forgotten/, `delete from evidence_files where merchant_id = ${merchant}`);
    await refused(/pieces of a kept file stay/, `delete from evidence_pieces where merchant_id = ${merchant}`);
    await refused(/no such piece/, `update evidence_pieces set piece = 3 where merchant_id = ${merchant}`);
    await refused(
      /no such piece/,
      `insert into evidence_pieces values (${merchant}, 'sandbox', ${dispute}, ${file}, 1, '\\x00')`,
    );
    await refused(/is append-only/, "truncate evidence_pieces");
    await refused(/is append-only/, "truncate evidence_files cascade");
    const keep = `update evidence_files set state = 'kept', kept_at = now() where merchant_id = ${merchant} and slot = 2`;
    await refused(/is not whole/, insert(2), keep);
    const piece = (length: number): string =>
      `insert into evidence_pieces select merchant_id, environment, dispute_id, file_id, 0, decode(repeat('00', ${length}), 'hex') from evidence_files where merchant_id = ${merchant} and slot = 2`;
    await refused(/no such piece/, insert(2), piece(9));
    await refused(/no such piece/, insert(2), piece(11));
    const moved = `update disputes set status = 'under_review' where merchant_id = ${merchant} and dispute_id = ${dispute}`;
    const submit = (files = "[]", at = "now()"): string =>
      `insert into dispute_evidence (merchant_id, environment, dispute_id, statement, files, submitted_at) values (${merchant}, 'sandbox', ${dispute}, 'x', '${files}', ${at})`;
    await refused(/comes too late/, moved, submit("[]", "now() + interval '7 days'"));
    await refused(/moves it nowhere/, submit());
    const unknown = '[{"file_id":"01900000-0000-7000-8000-000000000001"}]';
    await refused(/names a file that is not kept/, moved, submit(unknown));
    await refused(/does not wait for evidence/, moved, insert(2));
  });
  await it.browser.send("PUT", it.path, { statement });
  await it.browser.post(`${it.path}/submit`);
  await asOwner(service.database, async (owner) => {
    await expect(
      owner.query("update evidence_files set state = 'removed' where merchant_id = $1", [uuidOf(it.merchantId)]),
    ).rejects.toThrow(/does not wait for evidence/);
  });
});

test("of ten uploads at once each is read no further than it is written, whatever its size", async () => {
  const it = await disputed();
  const database = openDatabase(service.database);
  let [open, most, arrived, written] = [0, 0, 0, 0];
  const counting = new Proxy(database, {
    get(target, name) {
      if (name !== "query") return Reflect.get(target, name) as unknown;
      return async (statement: Statement) => {
        const rows = await target.query(statement);
        if (statement.name === "insert evidence piece") written += ((statement.values ?? []).at(-1) as Buffer).length;
        return rows;
      };
    },
  });
  const files = new EvidenceFiles({ database: counting, lanes: lanesOn(database), log: createLog("silent") });
  const merchant = merchantWith();
  const owner = {
    merchant: { ...merchant, merchantId: it.merchantId },
    book: { merchantId: it.merchantId, environment: "sandbox" } as const,
  };
  const paymentReference = (await it.client.get(`/v1/disputes/${it.uuid}`)).json.payment_reference as string;
  const whole = pdfOfSize(3_000_000);
  async function* body(): AsyncGenerator<Buffer> {
    open++;
    for (let at = 0; at < whole.length; at += 65_536) {
      arrived += Math.min(65_536, whole.length - at);
      most = Math.max(most, arrived - written);
      yield whole.subarray(at, at + 65_536);
    }
  }
  const sending = Array.from({ length: 10 }, (_, index) =>
    files.receive(
      owner,
      { uuid: it.uuid, paymentReference },
      { name: `${index}.pdf`, sizeBytes: whole.length, body: body() },
    ),
  );
  const refused = files.receive(
    owner,
    { uuid: it.uuid, paymentReference },
    { name: "eleventh.pdf", sizeBytes: 1, body: body() },
  );
  await expect(refused).rejects.toMatchObject({ code: "RATE_LIMITED" });
  expect((await Promise.all(sending)).map(({ state }) => state)).toEqual(Array.from({ length: 10 }, () => "kept"));
  expect(open).toBe(10);
  expect(most).toBeLessThan(10 * (PIECE_BYTES + 65_536));
  await database.end();
});
