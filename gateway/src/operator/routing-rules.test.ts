// Goal: routing rules are stored in versions, tried without consequence, and switched everywhere at once. Method: two
// services on one database; the preview's arithmetic also by property, against routing itself.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, readAnswer } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { paymentMethods } from "../merchants/settings.ts";
import { costsOf } from "../routing/costs.ts";
import { Preview } from "../routing/preview.ts";
import { type RoutingTable, defaultRules, route } from "../routing/routing.ts";
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
  expect(service.app.operatorContract).toContain("/ops/v1/routing/rules/{version}/activate");
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

test("a preview says who would take past payments and at what cost, and changes nothing", async () => {
  const { client } = await service.merchant();
  for (let at = 0; at < 25; at++) {
    expect((await client.post("/v1/payments", paymentBody({ amount_minor: 100_000 }))).status).toBe(201);
  }
  await client.post("/v1/payments", paymentBody({ payment_method: "ewallet", amount_minor: 100_000 }));
  const version = await store([only("cendana")]);
  const before = await contents();
  const { json } = await call("POST", `/${version}/preview`, {});
  expect(await contents()).toEqual(before);
  expect(json).toMatchObject({
    rules_version: version,
    active_version: 1,
    payments: 26,
    changed: 26,
    gateways: [
      { gateway_code: "cendana", before: 0, after: 26 },
      { gateway_code: "nusantara", before: 25, after: 0 },
      { gateway_code: "samudra", before: 1, after: 0 },
    ],
    // 40 then 60 basis points of 25 payments by QRIS, 110 then 140 of one by e-wallet.
    acquirer_cost: [{ currency: "IDR", before_minor: 25 * 400 + 1_100, after_minor: 25 * 600 + 1_400 }],
  });
  expect(json.examples).toHaveLength(20);
  expect(json.examples[0]).toMatchObject({ payment_method: "ewallet", before: "samudra", after: "cendana" });
  const newest = (await call("POST", `/${version}/preview`, { limit: 1 })).json;
  expect(newest).toMatchObject({ payments: 1, changed: 1, examples: [{ reference: json.examples[0].reference }] });
});

test("a preview takes an acquirer's charge as the operator states it, like a what-if", async () => {
  const version = await store([only("cendana")]);
  const stated = { payment_method: "qris", currency: "IDR", basis_points: 0, flat_minor: 7 };
  await service.operate("PUT", "/acquirers/cendana/costs", { costs: [stated] });
  const { json } = await call("POST", `/${version}/preview`, {});
  await service.operate("PUT", "/acquirers/cendana/costs", { costs: [] });
  expect(json.acquirer_cost).toEqual([
    { currency: "IDR", before_minor: 25 * 400 + 1_100, after_minor: 25 * 7 + 1_400 },
  ]);
});

test("a preview tells what nobody would take", async () => {
  const version = await store([only("merapi")]);
  const { json } = await call("POST", `/${version}/preview`, {});
  expect(json.gateways.at(-1)).toEqual({ gateway_code: null, before: 0, after: 26 });
  expect(json.acquirer_cost[0].after_minor).toBe(0);
});

test("an activated version decides in every process within a second, and activating it again is no harm", async () => {
  const version = await store([only("cendana")]);
  const { client } = await second.merchant();
  const chosen = async (): Promise<string> =>
    (await client.post("/v1/payments", paymentBody())).json.gateway_code as string;
  expect(await chosen()).toBe("nusantara");
  const activated = await call("POST", `/${version}/activate`);
  const begun = performance.now();
  expect(activated.json).toMatchObject({ version, active: true });
  while ((await chosen()) !== "cendana") expect(performance.now() - begun).toBeLessThan(1_000);
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

test("property: shares add up to the payments, and the cost under equal rules is equal", () => {
  const table: RoutingTable = { version: 1, rules: defaultRules, acquirers: simulatedAcquirers, states: new Map() };
  const code = fc.constantFrom("nusantara", "samudra", "merapi", "cendana");
  const rules = fc.array(
    fc.record({ gateway_code: code, priority: fc.integer({ min: 1, max: 3 }), weight: fc.integer({ min: 1, max: 9 }) }),
  );
  const requests = fc.array(
    fc.record({
      environment: fc.constant("sandbox" as const),
      method: fc.constantFrom(...paymentMethods),
      currency: fc.constantFrom("IDR", "USD"),
      amountMinor: fc.bigInt({ min: 1n, max: 9_007_199_254_740_991n }),
      draw: fc.string(),
    }),
  );
  fc.assert(
    fc.property(rules, requests, (rules, requests) => {
      const then = { ...table, version: 2, rules };
      const costOf = costsOf([], simulatedAcquirers);
      const preview = new Preview(table, then, costOf);
      const same = new Preview(then, then, costOf);
      for (const request of requests) {
        preview.add(request);
        same.add(request);
      }
      for (const side of ["before", "after"] as const) {
        expect(preview.shares.reduce((sum, share) => sum + share[side], 0)).toBe(requests.length);
      }
      for (const share of preview.shares) {
        const taken = requests.filter((request) => route(then, request).chosen?.code === share.code);
        expect(share.after).toBe(taken.length);
      }
      expect(preview.examples.length).toBe(Math.min(20, preview.changed));
      expect([same.changed, same.examples.length]).toEqual([0, 0]);
      for (const cost of same.costs) expect(cost.beforeMinor).toBe(cost.afterMinor);
    }),
  );
});
