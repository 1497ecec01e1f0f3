// Goal: an operator sees a merchant's events as the merchant does, of exactly the book that the path names, and sends one or
// many of them again; a viewer does not. Method: a service with a TLS receiver; each answer is held against its endpoint's schema.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Answer, readAnswer } from "../../../e2e/kit/client.ts";
import {
  at,
  attemptOf,
  create,
  ids,
  outcome,
  read,
  rig,
  set,
  awaitAttempts,
  shop,
  startRig,
  stopRig,
  written,
} from "../../test/event-rig.ts";
import { OPERATOR_TOKEN, type TestService, startService } from "../../test/kit.ts";
import { newId } from "../ground/ids.ts";
import { operatorEventEndpoints } from "./events.routes.ts";

const VIEWER_TOKEN = "op_viewer_of_the_tests_0123456789";
const endpoints = operatorEventEndpoints({} as never);
/** A second process on the first one's database, which knows a viewer. */
let service: TestService;

beforeAll(async () => {
  await startRig();
  const config = { operatorViewerToken: VIEWER_TOKEN };
  service = await startService({ config, database: rig.service.database, roles: ["api"] });
});
afterAll(async () => {
  await service.stop();
  await stopRig();
});

/** `path` follows /ops/v1/merchants. The answer, if it is a success, has passed its schema. */
async function call(method: string, path: string, token = OPERATOR_TOKEN, body?: unknown): Promise<Answer> {
  const full = `/ops/v1/merchants${path}`;
  const answer = await readAnswer(
    await fetch(service.operatorOrigin + full, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  const endpoint = endpoints.find(
    (one) =>
      one.method === method &&
      new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(full.split("?")[0] ?? ""),
  );
  expect(endpoint, full).toBeDefined();
  if (answer.status < 300) {
    expect(answer.status).toBe(endpoint?.success.status ?? 200);
    endpoint?.success.schema.parse(answer.json);
  }
  return answer;
}

const view = (path: string): Promise<Answer> => call("GET", path, VIEWER_TOKEN);

test("a viewer sees what the merchant sees, and an admin sends an event again", async () => {
  const path = "/200/operator";
  const of = await shop(rig.service, path);
  await create(of.client);
  await create(of.client);
  const all = await vi.waitFor(async () => {
    const found = await ids(of, "?delivery=delivered");
    expect(found).toHaveLength(2);
    return found;
  }, 30_000);
  const [id] = all as [string];
  const base = `/${of.merchantId}/books/sandbox/events`;
  for (const query of ["", "?limit=1", `?starting_after=${id}`, "?delivery=pending"]) {
    expect((await view(base + query)).json).toEqual((await of.client.get(`/v1/events${query}`)).json);
  }
  expect((await view(`${base}/${id}`)).json).toEqual(await read(of, id));
  expect((await view(`${base}/${id}/deliveries`)).json).toEqual(
    (await of.client.get(`/v1/events/${id}/deliveries`)).json,
  );

  expect(outcome(await call("POST", `${base}/${id}/resend`, VIEWER_TOKEN))).toBe("403 FORBIDDEN");
  const sent = await call("POST", `${base}/${id}/resend`);
  expect(sent.json).toMatchObject({ id, delivery: { state: "pending", attempts: 1 } });
  await awaitAttempts(of, id, "delivered", 2);
  const tries = at(path).filter(({ event }) => event.id === id);
  expect(tries.map(attemptOf)).toEqual([1, 2]);
  const { data } = await service.operate("GET", `/audit?merchant_id=${of.merchantId}&limit=2`);
  expect(data.map(({ role, status }: Record<string, unknown>) => [role, status])).toEqual([
    ["admin", 200],
    ["viewer", 403],
  ]);
});

test("after a day of a receiver that refused, an operator sends all that was given up at once", async () => {
  const path = "/200/given-up";
  const of = await shop(rig.service, path);
  for (let made = 0; made < 3; made++) await create(of.client);
  const all = await vi.waitFor(async () => {
    const found = await ids(of, "?delivery=delivered");
    expect(found).toHaveLength(3);
    return found;
  }, 30_000);
  const [last, ...given] = all as [string, string, string];
  const base = `/${of.merchantId}/books/sandbox/events`;
  const since = "2026-01-01";
  const none = await call("POST", `${base}/resend`, OPERATOR_TOKEN, { since });
  expect(none.json).toEqual({ resent: 0, has_more: false, next_cursor: null });

  for (const id of given) await set(of, id, "state = 'undelivered'");
  expect(outcome(await call("POST", `${base}/resend`, VIEWER_TOKEN, { since }))).toBe("403 FORBIDDEN");
  const sent = await call("POST", `${base}/resend`, OPERATOR_TOKEN, { since });
  expect(sent.json).toEqual({ resent: 2, has_more: false, next_cursor: null });
  for (const id of given) await awaitAttempts(of, id, "delivered", 2);
  expect(await read(of, last)).toMatchObject({ delivery: { attempts: 1 } });
  expect(outcome(await call("POST", `${base}/resend`, OPERATOR_TOKEN, {}))).toBe("422 VALIDATION_ERROR event_ids");

  const [live] = (await written(of, 1, "production")) as [string];
  const others = await call("POST", `${base}/resend`, OPERATOR_TOKEN, { event_ids: [last, live] });
  expect(outcome(others)).toBe("403 ENVIRONMENT_MISMATCH");
});

test("an event is found in its own book alone", async () => {
  const [of, other] = [await shop(rig.service, "/200/book"), await shop(rig.service, "/200/book")];
  await create(of.client);
  const [id] = (await ids(of)) as [string];
  const [live] = (await written(of, 1, "production")) as [string];
  const own = `/${of.merchantId}/books`;
  expect(outcome(await view(`${own}/production/events/${live}`))).toBe("200");
  for (const path of [
    `${own}/production/events/${id}`,
    `${own}/sandbox/events/${live}`,
    `${own}/sandbox/events/${newId("event", 1)}`,
    `${own}/sandbox/events/evt_1`,
    `${own}/live/events/${id}`,
    `/${other.merchantId}/books/sandbox/events/${id}`,
    `/${newId("merchant", 1)}/books/sandbox/events/${id}`,
    `/mer_1/books/sandbox/events/${id}`,
  ]) {
    expect(outcome(await view(path)), path).toBe("404 OBJECT_NOT_FOUND");
    expect(outcome(await view(`${path}/deliveries`)), path).toBe("404 OBJECT_NOT_FOUND");
    expect(outcome(await call("POST", `${path}/resend`)), path).toBe("404 OBJECT_NOT_FOUND");
  }
  expect(outcome(await view(`${own}/live/events`))).toBe("404 OBJECT_NOT_FOUND");
  expect(outcome(await view(`${own}/sandbox/events?surprise=1`))).toBe("422 VALIDATION_ERROR surprise");
  expect(outcome(await view(`${own}/sandbox/events?starting_after=${live}`))).toBe(
    "422 VALIDATION_ERROR starting_after",
  );
  expect(outcome(await call("POST", `${own}/sandbox/events/${id}/resend?x=1`))).toBe("422 VALIDATION_ERROR x");
});

test("an event that has nowhere to go is refused", async () => {
  const of = await shop(rig.service);
  await create(of.client);
  const [id] = (await ids(of)) as [string];
  const answer = await call("POST", `/${of.merchantId}/books/sandbox/events/${id}/resend`);
  expect(outcome(answer)).toBe("404 OBJECT_NOT_FOUND");
  expect(answer.json.error.message).toContain("No webhook address is registered");
});
