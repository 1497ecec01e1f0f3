// Goal: the history of the routing rules is whole and only grows; rolling back brings earlier rules back as a new version; drafts are told all that is
// wrong with them; costs are stated whole; a split test's payments are on record with their arm. Method: one service, its operator's API and
// its database.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, readAnswer } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { insertPastPayments } from "../../test/past-payments.ts";
import { uuidOf } from "../ground/ids.ts";
import { armOf, defaultRules } from "../routing/routing.ts";
import type { Database } from "../store/database.ts";

let service: TestService;
let database: Database;
beforeAll(async () => {
  service = await startService();
  database = openDatabase(service.database, 1);
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

async function call(method: string, path: string, value?: unknown): Promise<Answer> {
  return readAnswer(
    await fetch(`${service.operatorOrigin}/ops/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
      ...(value === undefined ? {} : { body: JSON.stringify(value) }),
    }),
  );
}
const rules = "/routing/rules";
const only = (code: string, others: object = {}) => ({ gateway_code: code, priority: 1, weight: 1, ...others });
const store = async (...all: object[]): Promise<number> =>
  (await service.operate("POST", rules, { rules: all })).version as number;
const states = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await call("GET", rules)).json.data.map((one: { version: number; status: string }) => [one.version, one.status]),
  );

test("a version is a draft, decides, retires, and comes back as a new version that says whose rules it has", async () => {
  const stored = await service.operate("POST", rules, { rules: [only("cendana")], note: "Cheaper" });
  const { version } = stored;
  expect(stored).toMatchObject({ status: "draft", created_by: "environment", note: "Cheaper", activated_at: null });
  await service.operate("POST", `${rules}/${version}/activate`);
  expect(await states()).toMatchObject({ 1: "retired", [version]: "active" });
  const { status, json } = await call("POST", `${rules}/1/roll-back`, { note: "Cendana declines too much" });
  expect(status).toBe(201);
  expect(json).toMatchObject({
    version: version + 1,
    restores: 1,
    active: true,
    activated_by: "environment",
    rules: defaultRules,
    faults: [],
  });
  expect(await states()).toEqual({ 1: "retired", [version]: "retired", [version + 1]: "active" });
  const { data } = (await call("GET", "/routing/activations")).json;
  expect(data.map((one: { version: number }) => one.version)).toEqual([version + 1, version, 1]);
  expect(data[2].activated_by).toBeNull();
});

test("activating what decides already is no activation, and pages of activations follow each other", async () => {
  const [newest] = (await call("GET", "/routing/activations?limit=1")).json.data;
  await service.operate("POST", `${rules}/${newest.version}/activate`);
  const { data, next_cursor: cursor } = (await call("GET", "/routing/activations?limit=1")).json;
  expect(data).toEqual([newest]);
  const next = (await call("GET", `/routing/activations?limit=1&starting_after=${cursor}`)).json;
  expect(next.data[0].activation).toBe(newest.activation - 1);
  expect((await call("GET", "/routing/activations?starting_after=999")).json.error.details.field).toBe(
    "starting_after",
  );
});

test.each(["0", "x", "999999", "-1"])("there is no version %s to roll back to", async (version) => {
  expect((await call("POST", `${rules}/${version}/roll-back`, {})).json.error.code).toBe("OBJECT_NOT_FOUND");
});

test("rolled back by eight at once, each gets a version of its own and one of them decides", async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => call("POST", `${rules}/1/roll-back`, {})));
  expect(new Set(answers.map(({ json }) => json.version)).size).toBe(8);
  expect(Object.values(await states()).filter((status) => status === "active")).toHaveLength(1);
});

test.each([
  "update routing_rule_sets set rules = '[]'",
  "update routing_rule_sets set note = 'another'",
  "update routing_rule_sets set created_by = 'another'",
  "delete from routing_rule_sets where version = 1",
  "update routing_activations set activated_by = 'another'",
  "delete from routing_activations",
  "update payment_splits set arm = 'control'",
  "delete from payment_splits",
])("the service's own role cannot do, and the owner is refused: %s", async (text) => {
  await expect(database.query({ text })).rejects.toThrow(/permission denied/);
  const refused = asOwner(service.database, (owner) => owner.query(text));
  if (!text.startsWith("delete from payment")) await expect(refused).rejects.toThrow(/append-only|cannot change/);
  else await expect(refused).rejects.toThrow(/append-only/);
});

test.each([
  { id: "a", gateway_code: "cendana", percent: 0 },
  { id: "a", gateway_code: "cendana", percent: 100 },
  { id: "a", gateway_code: "cendana", percent: 1.5 },
  { id: "a", gateway_code: "nusantara", percent: 10 },
  { id: "A!", gateway_code: "cendana", percent: 10 },
  { gateway_code: "cendana", percent: 10 },
  { id: "a", percent: 10 },
])("the database itself keeps no test like %o", async (split) => {
  const values = [JSON.stringify([only("nusantara", { split })])];
  const text = "insert into routing_rule_sets (version, rules, epoch, created_at) values (9999, $1::jsonb, 0, now())";
  await expect(database.query({ text, values })).rejects.toThrow(/routing_rule_sets_split_tests/);
});

test("the database keeps no two tests of one name in a version", async () => {
  const split = { id: "a", gateway_code: "cendana", percent: 10 };
  const twice = ["nusantara", "samudra"].map((code) => only(code, { split }));
  const text = "insert into routing_rule_sets (version, rules, epoch, created_at) values (9999, $1::jsonb, 0, now())";
  await expect(database.query({ text, values: [JSON.stringify(twice)] })).rejects.toThrow(/split_tests/);
});

test("a draft is told everything that is wrong with it, each fault with its rule and its field", async () => {
  const { json } = await call("POST", `${rules}/validate`, {
    rules: [
      only("cendana"),
      only("nobody"),
      only("nusantara", { weight: 0, priority: "1", surprise: 1 }),
      only("nusantara", { payment_method: "qris", split: { id: "a", gateway_code: "merapi", percent: 10 } }),
      7,
      only("cendana"),
    ],
  });
  const places = json.faults.map(({ rule, field }: { rule: number; field: string }) => [rule, field]);
  expect(json.valid).toBe(false);
  expect(places).toEqual(
    expect.arrayContaining([
      [1, "gateway_code"],
      [2, "weight"],
      [2, "priority"],
      [2, "surprise"],
      [3, "split.gateway_code"],
      [4, null],
      [5, null],
    ]),
  );
  expect(places).toHaveLength(7);
  expect(json.faults.at(-1).message).toContain("rules.0");
  expect(json.faults.find(({ field }: { field: string }) => field === "priority").message).toBe(
    "must be a whole number",
  );
  expect((await call("POST", `${rules}/validate`, { rules: [only("cendana")] })).json).toEqual({
    valid: true,
    faults: [],
  });
  expect((await call("POST", `${rules}/validate`, { rules: [] })).json.faults).toMatchObject([{ rule: null }]);
  const many = Array.from({ length: 500 }, () => 1);
  expect((await call("POST", `${rules}/validate`, { rules: many })).json.faults).toHaveLength(100);
  expect((await call("POST", `${rules}/validate`, { rules: [...many, 1] })).status).toBe(422);
});

test("costs are stated whole, by whom is on record, and what cannot be is refused with its place", async () => {
  const path = "/acquirers/cendana/costs";
  expect((await call("GET", path)).json).toEqual({ gateway_code: "cendana", costs: [] });
  const cost = { payment_method: "qris", currency: "IDR", basis_points: 70, flat_minor: 5 };
  const { json } = await call("PUT", path, {
    costs: [cost, { ...cost, payment_method: "va", minimum_minor: 1, maximum_minor: 9 }],
  });
  expect(json.costs).toMatchObject([
    { ...cost, minimum_minor: null, set_by: "environment" },
    { payment_method: "va", maximum_minor: 9 },
  ]);
  expect((await call("GET", path)).json).toEqual(json);
  for (const [field, costs] of [
    ["costs.0.basis_points", [{ ...cost, basis_points: 10_001 }]],
    ["costs.0.flat_minor", [{ ...cost, flat_minor: -1 }]],
    ["costs.0.maximum_minor", [{ ...cost, minimum_minor: 2, maximum_minor: 1 }]],
    ["costs.1.currency", [cost, cost]],
    ["costs.0.currency", [{ ...cost, currency: "XXX" }]],
    ["costs", Array.from({ length: 501 }, () => cost)],
  ] as const) {
    expect((await call("PUT", path, { costs })).json.error.details.field).toBe(field);
  }
  expect((await call("GET", path)).json).toEqual(json);
  expect((await call("PUT", path, { costs: [] })).json.costs).toEqual([]);
  expect((await call("PUT", "/acquirers/nobody/costs", { costs: [] })).json.error.code).toBe("OBJECT_NOT_FOUND");
  expect((await call("GET", "/acquirers/nobody/costs")).json.error.code).toBe("OBJECT_NOT_FOUND");
});

test("each payment of a split test goes where its reference says, is on record, and counts in the result", async () => {
  const split = { id: "cendana_qris", gateway_code: "cendana", percent: 50 };
  const version = await store(only("nusantara", { payment_method: "qris", split }));
  await service.operate("POST", `${rules}/${version}/activate`);
  const { client, merchantId } = await service.merchant();
  const arms = { control: 0, test: 0 };
  for (let at = 0; at < 12; at++) {
    const { json } = await client.post("/v1/payments", paymentBody({ amount_minor: 100_000 }));
    const arm = armOf(split, json.reference as string);
    arms[arm]++;
    expect(json.gateway_code).toBe(arm === "test" ? "cendana" : "nusantara");
    const [row] = await database.query({
      text: "select arm, percent, control_code, test_code from payment_splits where payment_id = $1::uuid",
      values: [uuidOf(json.reference as string)],
    });
    expect(row).toEqual({ arm, percent: 50, control_code: "nusantara", test_code: "cendana" });
  }
  const routed = (await client.get("/v1/payments?limit=1")).json.data[0].reference as string;
  expect((await call("GET", `/payments/${routed}`)).text).toContain('"split":{"id":"cendana_qris"');
  const fresh = (await call("GET", "/routing/splits")).json;
  expect(fresh).toMatchObject({
    rules_version: version,
    data: [
      {
        rule: 0,
        split,
        verdict: "no_data",
        control: { payments: arms.control, open: arms.control },
        test: { payments: arms.test },
      },
    ],
  });
  const pair = { id: split.id, percent: 50, control: "nusantara", test: "cendana" };
  await insertPastPayments(service.database, [
    { merchantId, count: 180, chosen: "nusantara", split: { ...pair, arm: "control" } },
    { merchantId, count: 20, chosen: "nusantara", status: "expired", split: { ...pair, arm: "control" } },
    { merchantId, count: 120, chosen: "cendana", split: { ...pair, arm: "test" } },
    { merchantId, count: 80, chosen: "cendana", status: "failed", split: { ...pair, arm: "test" } },
    // With another share it was another test.
    { merchantId, count: 50, chosen: "cendana", status: "failed", split: { ...pair, percent: 20, arm: "test" } },
  ]);
  const [result] = (await call("GET", "/routing/splits")).json.data;
  expect(result).toMatchObject({
    verdict: "control_better",
    difference: { estimate: -0.3 },
    control: { attempts: 200, succeeded: 180, success_rate: 0.9, costs: [{ mean_cost_minor: 400 }] },
    test: { attempts: 200, succeeded: 120, success_rate: 0.6, costs: [{ mean_cost_minor: 600 }] },
    words: expect.stringMatching(/^nusantara succeeds more often/) as string,
  });
  expect((await call("GET", "/routing/splits?version=1")).json.data).toEqual([]);
  expect((await call("GET", "/routing/splits?version=99999")).json.error.code).toBe("OBJECT_NOT_FOUND");
  expect((await call("GET", "/routing/splits?version=x")).json.error.details.field).toBe("version");
});

test("a what-if reads the days asked for, newest first, of the merchant asked for, and one at a time", async () => {
  const [one, other] = [(await service.merchant()).merchantId, (await service.merchant()).merchantId];
  await insertPastPayments(service.database, [
    { merchantId: one, count: 40, chosen: "nusantara", status: "expired", verdicts: { cendana: "lower_priority" } },
    { merchantId: one, count: 40, chosen: "cendana", daysAgo: 3 },
    { merchantId: one, count: 7, chosen: "cendana", daysAgo: 40 },
    { merchantId: other, count: 5, chosen: "nusantara" },
  ]);
  const ask = { rules: [only("cendana")], days: 7, merchant_id: one };
  const { status, json } = await call("POST", "/routing/what-if", ask);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    payments: 80,
    moved: 40,
    ended: "all",
    total: { before: { success_rate: 0.5 }, after: { success_rate: 1, unknown: 0 } },
    by_method: [{ payment_method: "qris" }],
    by_acquirer: [{ gateway_code: "cendana" }, { gateway_code: "nusantara", after: { payments: 0 } }],
    moves: [{ from: "nusantara", to: "cendana", after: { attempts: 40 } }],
    estimates: [{ gateway_code: "cendana", observations: 40, known: true }],
  });
  expect(json.per_day).toHaveLength(2);
  expect((await call("POST", "/routing/what-if", { ...ask, days: 60 })).json.payments).toBe(87);
  expect((await call("POST", "/routing/what-if", { ...ask, environment: "production" })).json.payments).toBe(0);
  const both = await Promise.all([1, 2].map(() => call("POST", "/routing/what-if", ask)));
  expect(both.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([200, 503]);
  expect(both.find((answer) => answer.status === 503)?.headers.get("retry-after")).toBe("2");
});

test.each([
  ["rules.0.gateway_code", { rules: [only("nobody")] }],
  [
    "rules.0.split.percent",
    { rules: [only("nusantara", { split: { id: "a", gateway_code: "cendana", percent: 0 } })] },
  ],
  ["rules", { rules: [] }],
  ["days", { days: 91 }],
  ["days", { days: 0 }],
  ["merchant_id", { merchant_id: "mer_1" }],
  ["surprise", { surprise: 1 }],
])("a what-if with a wrong %s is refused", async (field, change) => {
  const { json } = await call("POST", "/routing/what-if", { rules: [only("cendana")], days: 7, ...change });
  expect([json.error.code, json.error.details.field]).toEqual(["VALIDATION_ERROR", field]);
});
