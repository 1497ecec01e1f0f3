// Goal: open pages hear of everything that changes and that they may see, once each and without a gap, for as long as their person is let in.
// Method: listeners on a real database beside payments of the API, with limits of milliseconds; and one over a real socket.
import type { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { type Browser, joins } from "../../test/portal.ts";
import { createLog } from "../ground/log.ts";
import { actionsOf } from "../people/roles.ts";
import type { Database } from "../store/database.ts";
import { type Listener, type StreamLimits, Streams, streamLimits } from "./stream.ts";

let service: TestService;
let database: Database;
let client: Client;
let merchantId: string;
let owner: Browser;
let stopped = false;
const made: Streams[] = [];

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  database = openDatabase(service.database);
});
afterAll(async () => {
  for (const streams of made) streams.open.stop();
  await database.end();
  if (!stopped) await service.stop();
});
beforeEach(async () => {
  ({ merchantId, client } = await service.merchant());
  owner = await joins(service, merchantId);
});

function streamsWith(limits: Partial<StreamLimits> = {}, on: Pick<Database, "query"> = database): Streams {
  const { sessions } = service.app.people;
  const quick = { ...streamLimits, pollMs: 10, heartbeatMs: 30, permissionsMs: 10, ...limits };
  const streams = new Streams({ database: on as Database, sessions, log: createLog("silent"), limits: quick });
  made.push(streams);
  return streams;
}

async function listenerOf(browser: Browser): Promise<Listener> {
  const { json } = await browser.get("/portal/v1/sessions");
  const { session_id: sessionId } = json.data.find(({ current }: { current: boolean }) => current);
  const session = (await browser.get("/portal/v1/session")).json;
  const { environment } = browser;
  const [{ role }] = session.memberships;
  const book = { merchantId: browser.merchantId, environment };
  return { book, personId: session.person.person_id, sessionId, scopes: actionsOf(role, environment) };
}

interface Heard {
  text: string;
  ended: boolean;
}

function hear(stream: Readable): Heard {
  const heard = { text: "", ended: false };
  stream.on("data", (bytes) => (heard.text += String(bytes)));
  stream.on("close", () => (heard.ended = true));
  return heard;
}

async function until(what: () => boolean): Promise<void> {
  for (let number = 0; number < 4_000 && !what(); number++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(what()).toBe(true);
}

const types = ({ text }: Heard): string[] => [...text.matchAll(/^event: (.+)$/gm)].map(([, type]) => type as string);
const lastId = ({ text }: Heard): string => [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] as string;
const create = async (): Promise<string> =>
  (await client.post("/v1/payments", paymentBody({ customer: { email: "secret@payer.example" } }))).json
    .reference as string;

test("a listener hears what changes with its identities and nothing personal, and pings while nothing does", async () => {
  const heard = hear(await streamsWith().listen(await listenerOf(owner), undefined));
  await until(() => heard.text.includes(": still here"));
  const reference = await create();
  await until(() => types(heard).includes("payment.created"));
  expect(types(heard)).toEqual(["begin", "payment.created"]);
  expect(heard.text).toContain(`data: {"count":1,"ids":["${reference}"]}`);
  expect(heard.text).not.toContain("secret");
  expect(heard.text).not.toContain("order-");
});

test("neither another merchant nor the other environment is heard, and no kind that the role does not see", async () => {
  const support = await joins(service, merchantId, "support");
  const other = await service.merchant();
  const streams = streamsWith();
  const production = await listenerOf(owner);
  production.book = { merchantId, environment: "production" };
  const [own, ofSupport, elsewhere, live] = (
    await Promise.all([
      streams.listen(await listenerOf(owner), undefined),
      streams.listen(await listenerOf(support), undefined),
      streams.listen(await listenerOf(await joins(service, other.merchantId)), undefined),
      streams.listen(production, undefined),
    ])
  ).map(hear) as [Heard, Heard, Heard, Heard];
  const reference = await create();
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  await client.post("/v1/sandbox/settlements/run", {});
  await until(() => types(own).includes("settlement.created"));
  expect(new Set(types(own))).toEqual(new Set(["begin", "payment.created", "payment.succeeded", "settlement.created"]));
  expect(new Set(types(ofSupport))).toEqual(new Set(["begin", "payment.created", "payment.succeeded"]));
  expect([types(elsewhere), types(live)]).toEqual([["begin"], ["begin"]]);
});

test("who comes back hears what happened meanwhile, and who missed too much is told so", async () => {
  const first = await streamsWith().listen(await listenerOf(owner), undefined);
  const before = hear(first);
  await create();
  await until(() => types(before).length === 2);
  first.destroy();
  await create();
  await create();
  const listener = await listenerOf(owner);
  const again = hear(await streamsWith().listen(listener, lastId(before)));
  await until(() => /"count":2/.test(again.text));
  const afar = hear(await streamsWith({ missedMax: 1 }).listen(listener, lastId(before)));
  const forged = await Promise.all(
    ["0", "99999999999999999", "-1", "1 or 1=1", ""].map(async (id) => hear(await streamsWith().listen(listener, id))),
  );
  await until(() => [afar, ...forged].every((heard) => types(heard).length > 0));
  expect(types(afar)).toEqual(["reset"]);
  expect(forged.slice(1).map(types)).toEqual([["reset"], ["reset"], ["reset"], ["reset"]]);
});

test("who comes back while an event is read for the others hears it, too", async () => {
  const reading = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const held: Pick<Database, "query"> = {
    async query(statement) {
      const isFeed = statement.name === "events of the feed by type";
      const rows = await database.query<never>(statement);
      if (isFeed && rows.length > 0) {
        reading.resolve();
        await goOn.promise;
      }
      return rows;
    },
  };
  const streams = streamsWith({}, held);
  const listener = await listenerOf(owner);
  const first = hear(await streams.listen(listener, undefined));
  await until(() => types(first).length === 1);
  await create();
  await reading.promise;
  const coming = streams.listen(listener, lastId(first));
  goOn.resolve();
  const second = hear(await coming);
  await until(() => types(first).length === 2 && types(second).length === 1);
  expect([types(first), types(second)]).toEqual([["begin", "payment.created"], ["payment.created"]]);
});

test("a server that took over without the newest transactions has everybody come back and load everything anew", async () => {
  let isOther = false;
  const query: Database["query"] = async (statement) =>
    isOther && statement.name === "fed to"
      ? ([{ fed_to: "5", watermark: "6" }] as never[])
      : database.query<never>(statement);
  const streams = streamsWith({}, { query });
  const listener = await listenerOf(owner);
  const heard = hear(await streams.listen(listener, undefined));
  await create();
  await until(() => types(heard).length === 2);
  expect(heard.ended).toBe(false);
  isOther = true;
  await until(() => heard.ended);
  const again = hear(await streams.listen(listener, lastId(heard)));
  await until(() => types(again).length === 1);
  expect([types(again), lastId(again)]).toEqual([["reset"], "5"]);
});

test.each(["session", "membership", "merchant"])("it ends when the %s ends", async (what) => {
  const developer = await joins(service, merchantId, "developer");
  const heard = hear(await streamsWith().listen(await listenerOf(developer), undefined));
  const kept = hear(await streamsWith().listen(await listenerOf(owner), undefined));
  const { person_id: personId } = (await developer.get("/portal/v1/session")).json.person;
  if (what === "session") await developer.send("DELETE", "/portal/v1/session");
  if (what === "membership") await owner.send("DELETE", `/portal/v1/team/${personId}`);
  if (what === "merchant") await service.app.merchants.patch(merchantId, { suspended: true });
  await until(() => heard.ended);
  if (what !== "merchant") expect(kept.ended).toBe(false);
});

test("it ends when nobody can tell whether the session stands", async () => {
  const streams = streamsWith({ unknownMs: 50 });
  const heard = hear(await streams.listen(await listenerOf(owner), undefined));
  const { sessions } = service.app.people;
  const own = sessions.roles.bind(sessions);
  sessions.roles = () => Promise.reject(new Error("the database is away"));
  await until(() => heard.ended).finally(() => (sessions.roles = own));
  expect(streams.open.size).toBe(0);
});

test("a person has some of them, and all together have a limit", async () => {
  const streams = streamsWith({ perPerson: 2, inAll: 3 });
  const listener = await listenerOf(owner);
  const open = [await streams.listen(listener, undefined), await streams.listen(listener, undefined)];
  await expect(streams.listen(listener, undefined)).rejects.toMatchObject({ code: "RATE_LIMITED" });
  const other = await listenerOf(await joins(service, merchantId));
  await streams.listen(other, undefined);
  await expect(streams.listen(other, undefined)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  open[0]?.destroy();
  await until(() => streams.open.size === 2);
  await streams.listen(other, undefined);
});

test("the people of one merchant leave room for others", async () => {
  const streams = streamsWith({ perMerchant: 2 });
  await streams.listen(await listenerOf(owner), undefined);
  await streams.listen(await listenerOf(await joins(service, merchantId)), undefined);
  const third = await listenerOf(await joins(service, merchantId));
  await expect(streams.listen(third, undefined)).rejects.toMatchObject({ code: "RATE_LIMITED" });
  const other = await joins(service, (await service.merchant()).merchantId);
  await streams.listen(await listenerOf(other), undefined);
});

test("who reads nothing is let go", async () => {
  const streams = streamsWith({ unreadBytes: 600, heartbeatMs: 1 });
  const stream = await streams.listen(await listenerOf(owner), undefined);
  await until(() => stream.destroyed);
  expect(streams.open.size).toBe(0);
});

test("over HTTP it is a stream of events that a hang-up ends, and so does a stop", async () => {
  const open = async (method = "GET"): Promise<Response> =>
    fetch(`${service.origin}/portal/v1/stream`, {
      method,
      headers: { cookie: owner.cookie ?? "", "x-merchant-id": merchantId, "x-environment": "sandbox" },
    });
  const hanging = await open();
  expect(hanging.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(hanging.headers.get("cache-control")).toBe("no-store");
  const [begin] = [await hanging.body?.getReader().read()];
  expect(Buffer.from(begin?.value ?? []).toString()).toMatch(/^id: \d+\nevent: begin\ndata: \{\}\n\n$/);
  // Eight are allowed: those of heads and hang-ups are given back.
  for (let number = 0; number < 10; number++) expect((await open("HEAD")).status).toBe(200);
  for (let number = 0; number < 10; number++) {
    const ending = new AbortController();
    await fetch(`${service.origin}/portal/v1/stream`, {
      signal: ending.signal,
      headers: { cookie: owner.cookie ?? "", "x-merchant-id": merchantId, "x-environment": "sandbox" },
    });
    ending.abort();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect((await fetch(`${service.origin}/portal/v1/stream`)).status).toBe(401);
  const last = await open();
  const rest = last.text();
  stopped = true;
  await service.stop();
  expect(await rest).toMatch(/^id: /);
});
