// Goal: routing rules are stored in versions, tried without consequence, and switched everywhere at once. Method: two
// services on one database.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, readAnswer } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { defaultRules } from "../routing/routing.ts";
import { routingEndpoints } from "./routing.routes.ts";

let service: TestService;
let second: TestService;
beforeAll(async () => {
  service = await startService();
  second = await startService({ database: service.database });
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});

const endpoints = routingEndpoints({} as never);

/** `path` is what follows /ops/v1/routing/rules. Successes have passed their schema. */
async function call(method: string, path: string, value?: unknown, at = service): Promise<Answer> {
  const answer = await readAnswer(
    await fetch(`${at.operatorOrigin}/ops/v1/routing/rules${path}`, {
      method,
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
      ...(value === undefined ? {} : { body: JSON.stringify(value) }),
    }),
  );
  const template = `/ops/v1/routing/rules${path.split("?")[0]?.replace(/^\/\d+/, "/{version}")}`;
  const endpoint = endpoints.find((one) => one.method === method && one.path === template);
  if (answer.status < 300) endpoint?.success.schema.parse(answer.json);
  return answer;
}

const only = (code: string): { gateway_code: string; priority: number; weight: number } => ({
  gateway_code: code,
  priority: 1,
  weight: 1,
});

async function store(rules: unknown): Promise<number> {
  const { status, json } = await call("POST", "", { rules });
  expect(status, JSON.stringify(json)).toBe(201);
  return json.version as number;
}

const contents = (): Promise<unknown[]> =>
  asOwner(service.database, async (client) => {
    const rows: unknown[] = [];
    for (const table of ["routing_rule_sets", "settings_epoch", "payments", "journals", "operator_audit"]) {
      rows.push((await client.query(`select * from ${table}`)).rows);
    }
    return rows;
  });

test("a new installation has one version, and it is active", async () => {
  const { json } = await call("GET", "");
  expect(json.data).toMatchObject([{ version: 1, active: true, rule_count: defaultRules.length }]);
  expect((await call("GET", "/1")).json.rules).toEqual(defaultRules);
});

test.each([
  ["rules", undefined],
  ["rules", []],
  ["rules", Array.from({ length: 501 }, () => only("cendana"))],
  ["rules.0.gateway_code", [{ priority: 1, weight: 1 }]],
  ["rules.1.gateway_code", [only("cendana"), only("nobody")]],
  ["rules.0.gateway_code", [only("Cendana")]],
  ["rules.0.priority", [{ ...only("cendana"), priority: 0 }]],
  ["rules.0.weight", [{ ...only("cendana"), weight: 1.5 }]],
  ["rules.0.currency", [{ ...only("cendana"), currency: "XXX" }]],
  ["rules.0.payment_method", [{ ...only("cendana"), payment_method: "cash" }]],
  ["rules.0.amount_from_minor", [{ ...only("cendana"), amount_from_minor: -1 }]],
  ["rules.0.amount_to_minor", [{ ...only("cendana"), amount_from_minor: 10, amount_to_minor: 9 }]],
  ["rules.0.surprise", [{ ...only("cendana"), surprise: 1 }]],
  ["rules.0.payment_method", [{ ...only("nusantara"), payment_method: "card" }]],
  ["rules.0.currency", [{ ...only("nusantara"), currency: "USD" }]],
  ["rules.0.currency", [{ ...only("samudra"), payment_method: "ewallet", currency: "USD" }]],
  ["rules.1.amount_from_minor", [only("cendana"), { ...only("merapi"), amount_from_minor: 10 ** 12 }]],
  ["rules.1", [only("cendana"), only("cendana")]],
  ["rules.0", [{ ...only("cendana"), priority: 2, weight: 9 }, only("cendana")]],
  ["rules.1", [only("cendana"), { ...only("cendana"), payment_method: "va" }]],
])("rules that break a rule at %s are refused, with the place", async (field, rules) => {
  const before = (await call("GET", "")).json;
  const { status, json } = await call("POST", "", { rules });
  expect([status, json.error.code, json.error.details.field]).toEqual([422, "VALIDATION_ERROR", field]);
  expect((await call("GET", "")).json).toEqual(before);
});

test("stored rules are the next version, as they were sent, and decide nothing yet", async () => {
  const newest = (await call("GET", "?limit=1")).json.data[0].version as number;
  const rules = [{ ...only("cendana"), currency: "IDR", amount_from_minor: 5 }];
  const version = await store(rules);
  expect(version).toBe(newest + 1);
  expect((await call("GET", `/${version}`)).json).toMatchObject({ version, active: false, rule_count: 1, rules });
  expect(service.app.contracts.operator()).toContain("/ops/v1/routing/rules/{version}/activate");
  expect((await call("GET", "")).json.data.filter((one: { active: boolean }) => one.active)).toHaveLength(1);
});

test("rules stored at the same moment get versions of their own", async () => {
  const versions = await Promise.all(Array.from({ length: 8 }, () => store([only("merapi")])));
  expect(new Set(versions).size).toBe(8);
  const pages = [(await call("GET", "?limit=5")).json];
  expect(pages[0].data.map((one: { version: number }) => one.version)).toEqual(
    versions.toSorted((a, b) => b - a).slice(0, 5),
  );
  const next = (await call("GET", `?limit=100&starting_after=${pages[0].next_cursor}`)).json;
  expect(next.data[0].version).toBe(pages[0].data[4].version - 1);
  expect(next.data.at(-1).version).toBe(1);
});

test("holding rules against past payments changes nothing", async () => {
  const { client } = await service.merchant();
  expect((await client.post("/v1/payments", paymentBody())).status).toBe(201);
  const before = await contents();
  const asked = { days: 1, rules: [only("cendana")] };
  const { moves } = await service.operate("POST", "/routing/what-if", asked);
  expect(moves).toMatchObject([{ payment_method: "qris", from: "nusantara", to: "cendana" }]);
  expect(await contents()).toEqual(before);
});

test("an activated version decides in every process within a second, and activating it again is no harm", async () => {
  const version = await store([only("cendana")]);
  const { client } = await second.merchant();
  const chosen = async (): Promise<string> =>
    (await client.post("/v1/payments", paymentBody())).json.gateway_code as string;
  expect(await chosen()).toBe("nusantara");
  const activated = await call("POST", `/${version}/activate`);
  const activatedAt = performance.now();
  expect(activated.json).toMatchObject({ version, active: true });
  for (;;) {
    const sentAt = performance.now();
    if ((await chosen()) === "cendana") break;
    expect(sentAt - activatedAt).toBeLessThan(1_000);
  }
  expect((await call("POST", `/${version}/activate`, undefined, second)).json).toMatchObject({ active: true });
  const active = async (): Promise<number[]> =>
    (await call("GET", "?limit=100")).json.data
      .filter((one: { active: boolean }) => one.active)
      .map((one: { version: number }) => one.version);
  expect(await active()).toEqual([version]);
  await Promise.all([1, version, 1, version].map((one) => call("POST", `/${one}/activate`)));
  expect(await active()).toHaveLength(1);
  expect((await call("POST", "/1/activate")).status).toBe(200);
});
