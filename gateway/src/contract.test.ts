// Goal: the committed contract is what the service does. Method: generate it again, and hold it to OpenAPI's own rules.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { gerbangHere } from "../../e2e/kit/command-here.ts";
import { ContractCheck } from "../test/contract-check.ts";
import { createApp } from "./app.ts";
import { eventTypes } from "./events/event.ts";
import { parseWireTime, systemClock } from "./ground/clock.ts";
import { readConfig } from "./ground/config.ts";
import { createLog } from "./ground/log.ts";
import { DEFAULT_CURRENCY } from "./ground/money.ts";
import { Components } from "./http/json-schema.ts";
import { webhookSecret } from "./merchants/directory.ts";
import { deliveryHeaders } from "./webhooks/sender.ts";

const app = createApp({
  config: readConfig({}),
  databaseUrl: "postgres://nowhere.invalid/none",
  masterKey: "00".repeat(32),
  operatorToken: "unused",
  clock: systemClock,
  log: createLog("silent"),
  roles: new Set(),
});
const merchant = new ContractCheck(app.contracts.merchant());
const contracts = {
  merchant,
  operator: new ContractCheck(app.contracts.operator()),
  portal: new ContractCheck(app.contracts.portal()),
};
const { operations } = merchant;

test("openapi/merchant.json is up to date (renew it with `npx gerbang openapi`)", () => {
  const committed = readFileSync(new URL("../../openapi/merchant.json", import.meta.url), "utf8");
  expect(committed).toBe(app.contracts.merchant());
});

test("a schema that many operations answer with is converted once, so that production starts sooner", () => {
  const components = new Components();
  const schema = z.object({ code: z.string() });
  expect(components.output(schema)).toBe(components.output(schema));
});

test("the commands that CONTRIBUTING gives for the contracts write exactly the committed files", async () => {
  const guide = readFileSync(new URL("../../CONTRIBUTING.md", import.meta.url), "utf8");
  const commands = [...guide.matchAll(/^(\S.*?) > (openapi\/\S+)/gm)];
  expect(commands.map(([, , file]) => file)).toEqual([
    "openapi/merchant.json",
    "openapi/operator.json",
    "openapi/portal.json",
    "openapi/gerbang.postman_collection.json",
  ]);
  for (const [, command = "", file = ""] of commands) {
    const [npx, program, ...args] = command.split(" ");
    // `npm run` would put npm's own lines at the head of the file.
    expect(`${npx} ${program}`).toBe("npx gerbang");
    const { code, stdout } = await gerbangHere(args, {});
    expect([code, stdout === readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")]).toEqual([0, true]);
  }
});

test("it says of a replay that a refusal keeps its status, as idempotency/ does", () => {
  const { info } = merchant.document as { info: { description: string } };
  expect(info.description.replaceAll("\n", " ")).toContain("a success with 200, a refusal with its own status");
});

test("it tells of every header of a delivery, and that a sample says so", () => {
  const service = { prefix: "X-SVC-", serviceName: "gerbang", secrets: [webhookSecret("whsec_c2VjcmV0")] as const };
  const event = { eventId: "evt_1", type: "payment.created", body: "{}" };
  const sent = deliveryHeaders({ ...service, ...event, attempt: 1, timestamp: 1 });
  const { webhooks } = merchant.document as { webhooks: Record<string, { post: { parameters: object[] } }> };
  const told = webhooks["payment.created"]?.post.parameters.map((one) => merchant.resolve(one).name);
  expect(told).toEqual(Object.keys(sent).filter((name) => !["content-type", "user-agent"].includes(name)));
  for (const kind of ["Payment", "Refund", "Settlement", "Dispute"])
    expect(merchant.resolve({ $ref: `#/components/schemas/${kind}EventData` })).toHaveProperty(
      "properties.sample.const",
      true,
    );
});

test("it tells of the header of a replay with each refusal that is stored, of a write alone", () => {
  for (const [check, key] of [
    [merchant, "/v1/refunds"],
    [contracts.operator, "/ops/v1/payments/{reference}/refunds"],
  ] as const) {
    const { operation } =
      check.operations.find(({ path, method }) => path === key && method === "post") ?? expect.unreachable(key);
    const replays = Object.entries(operation.responses).filter(([, answer]) =>
      Object.hasOwn(check.resolve(answer).headers as object, "X-Idempotent-Replay"),
    );
    expect(replays.map(([status]) => status)).toEqual(expect.arrayContaining(["403", "404", "409", "422"]));
    expect(replays.map(([status]) => status)).not.toContain("401");
  }
  for (const { method, operation } of merchant.operations.filter(({ method }) => method === "get"))
    expect(
      JSON.stringify([method, Object.values(operation.responses).map((one) => merchant.resolve(one))]),
    ).not.toContain("Replay");
});

test("a file that is too large is told its own limits, not those of other bodies", () => {
  const { operation } =
    contracts.portal.operations.find(({ operation: { operationId } }) => operationId === "addEvidenceFile") ??
    expect.unreachable("no upload");
  expect(operation.responses[413]?.description).toContain("10 MiB at most");
});

test("it is OpenAPI 3.1 with every path of the interface that is built", () => {
  const { openapi, webhooks } = merchant.document as { openapi: string; webhooks: object };
  expect(openapi).toMatch(/^3\.1\./);
  const built = operations.map(({ path, method }) => `${method} ${path}`);
  for (const expected of [
    "post /v1/payments",
    "get /v1/payments",
    "get /v1/payments/{reference}",
    "post /v1/payments/{reference}/cancel",
    "get /v1/balances",
    "post /v1/refunds",
    "get /v1/refunds/{uuid}",
    "get /v1/settlements",
    "get /v1/disputes",
    "get /v1/health",
    "post /v1/sandbox/payments/{reference}/simulate",
    "post /v1/sandbox/clock/advance",
    "get /v1/sandbox/clock",
  ]) {
    expect(built).toContain(expected);
  }
  expect(Object.keys(webhooks)).toEqual([...eventTypes]);
});

describe.each(Object.entries(contracts))("the %s contract", (name, check) => {
  test("names operations once, and the parts of their path, and describes success and errors", () => {
    const names = check.operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const { path, operation } of check.operations) {
      const parameters = (operation.parameters ?? []).map((parameter) => check.resolve(parameter));
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, part]) => part);
      expect(parameters.filter((one) => one.in === "path").map((one) => one.name)).toEqual(inPath);
      expect(operation.operationId).toMatch(/^[a-z][a-zA-Z]{4,39}$/);
      const statuses = Object.keys(operation.responses);
      expect(statuses.some((status) => status.startsWith("2"))).toBe(true);
      const open =
        /health$|openapi\.json$|\/invitations\/look$|\/session\/passkey\/options$|\/device-codes(\/token)?$/.test(path);
      const general = open ? ["429", "503"] : ["401", "429", "500", "503"];
      expect(statuses, path).toEqual(expect.arrayContaining(general));
    }
  });

  test("says of every day that bounds a range whose day it is", () => {
    const said = [...JSON.stringify(check.document).matchAll(/"description":"([^"]*YYYY-MM-DD[^"]*)"/g)];
    expect(said.length).toBeGreaterThan(5);
    for (const [, description] of said) expect(description).toMatch(/\bUTC\b/);
  });

  test("tells of every operation under a heading that the document introduces", () => {
    const { tags } = check.document as { tags: { name: string }[] };
    const introduced = new Set(tags.map((tag) => tag.name));
    const without = check.operations.filter(({ operation }) => !operation.description);
    expect(without.map(({ operation }) => operation.operationId)).toEqual([]);
    for (const { path, operation } of check.operations)
      for (const tag of operation.tags) expect(introduced, `${tag} of ${path}`).toContain(tag);
  });

  test("has patterns that other languages read as we do, whether in their Unicode mode or not", () => {
    const found = JSON.stringify(check.document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g);
    const patterns = new Set(found.map(([, quoted = ""]) => JSON.parse(quoted) as string));
    expect(patterns.size).toBeGreaterThan(20);
    for (const pattern of patterns) {
      expect(pattern).not.toMatch(/\\p\{|\(\?<|\(\?[a-z]/i);
      expect(() => [new RegExp(pattern), new RegExp(pattern, "u")], pattern).not.toThrow();
    }
  });

  test("has every example, and each is what its schema says", () => {
    const examples = check.examples();
    expect(examples.length).toBeGreaterThan(200);
    expect(
      examples.flatMap(({ at, schema, value }) => check.faults(schema, value).map((fault) => `${at}: ${fault}`)),
    ).toEqual([]);
    const without = check.operations.flatMap(({ operation }) => {
      const success = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
      const bodies = [operation.requestBody, ...success.map(([, response]) => check.resolve(response))];
      return bodies
        .flatMap((body) => Object.values((body?.content ?? {}) as Record<string, object>))
        .filter((content) => !("example" in content) && !("examples" in content))
        .map(() => operation.operationId);
    });
    expect(without).toEqual(name === "operator" ? ["getOperatorContract"] : []);
  });

  test("says every object once, under a name", () => {
    const { components, paths, webhooks } = check.document as Record<string, Record<string, object>>;
    const { schemas = {} } = components as unknown as Record<string, Record<string, object>>;
    const inline = (node: unknown, at: string): string[] => {
      if (typeof node !== "object" || node === null) return [];
      const own = "properties" in node && "type" in node && node.type === "object" ? [at] : [];
      return [
        ...own,
        ...Object.entries(node)
          .filter(([word]) => !["example", "examples", "if", "then", "else"].includes(word))
          .flatMap(([word, inner]) => inline(inner, `${at}/${word}`)),
      ];
    };
    expect([paths, webhooks, components?.responses].flatMap((part) => inline(part, ""))).toEqual([]);
    const inside = Object.entries(schemas).flatMap(([schema, node]) => inline({ ...node, type: "" }, schema));
    expect(inside).toEqual([]);
  });

  test("leads somewhere with every reference and every link", () => {
    const references = [...JSON.stringify(check.document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, $ref]) => $ref);
    expect(references.length).toBeGreaterThan(100);
    for (const $ref of references) expect(check.resolve({ $ref }), $ref).toBeDefined();
    const names = new Set(check.operations.map(({ operation }) => operation.operationId));
    const links = check.operations.flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap(({ links = {} }) => Object.values(links as Record<string, unknown>)),
    );
    for (const link of links) {
      expect(names).toContain((link as { operationId: string }).operationId);
      // A link may say one literal, and nothing made of fields: openapi-generator refuses the whole document.
      expect(link).not.toHaveProperty("requestBody");
    }
    if (name === "merchant") expect(links.length).toBeGreaterThanOrEqual(8);
  });
});

test("every signed call says that it refuses a query parameter which it does not name", () => {
  const without = operations.filter(({ operation }) => !("422" in operation.responses));
  expect(without.map(({ operation }) => operation.operationId)).toEqual(["getHealth"]);
});

test("every write of a merchant takes a key and a body, and reads null in an optional field as the field left out", () => {
  for (const { path, method, operation } of operations.filter(({ method }) => method !== "get")) {
    expect(operation.requestBody, path).toBeDefined();
    const named = (operation.parameters ?? []).map((parameter) => merchant.resolve(parameter).name);
    expect(named, `${method} ${path}`).toContain("Idempotency-Key");
  }
  const schema = "/components/schemas/CreatePayment";
  const body = { amount_minor: 1, currency: "IDR", payment_method: "qris", reference_id: "a" };
  expect(merchant.faults(schema, { ...body, description: null, customer: { name: null }, metadata: null })).toEqual([]);
  expect(merchant.faults(schema, { ...body, amount_minor: null })).not.toEqual([]);
  expect(merchant.faults(schema, { ...body, colour: "red" })).not.toEqual([]);
});

test("what must not be combined is refused by the contract too", () => {
  const resend = "/components/schemas/ResendEvents";
  const ids = ["evt_01kan3t6b7r9md3kq5x1zc8evw"];
  expect(merchant.faults(resend, { event_ids: ids, since: null })).toEqual([]);
  expect(merchant.faults(resend, { event_ids: null, since: "2026-11-22", state: "all" })).toEqual([]);
  expect(merchant.faults(resend, {})).not.toEqual([]);
  expect(merchant.faults(resend, { event_ids: ids, since: "2026-11-22" })).not.toEqual([]);
  const link = { currency: "IDR", reusable: false };
  for (const allowed of [
    { amount_minor: 5, minimum_minor: null },
    { amount_minor: null, minimum_minor: 5, maximum_minor: 9 },
  ])
    expect(merchant.faults("/components/schemas/CreatePaymentLink", { ...link, ...allowed })).toEqual([]);
  expect(
    merchant.faults("/components/schemas/CreatePaymentLink", { ...link, amount_minor: 5, maximum_minor: 9 }),
  ).not.toEqual([]);
  const fault = "/components/schemas/SwitchFaultInjection";
  expect(merchant.faults(fault, { mode: "none" })).toEqual([]);
  expect(merchant.faults(fault, { mode: "none", for_next: 2 })).not.toEqual([]);
});

test("a bound of time is in the contract what the service reads", () => {
  const since = "/components/schemas/ResendEvents/properties/since";
  const parts = ["2026-11-22", "1969-11-22", "2200-11-22", "2026-13-22"].flatMap((day) =>
    [
      "",
      "T00:00:00Z",
      "T23:59:59.123456+23:59",
      "T24:00:00Z",
      "T24:00:00+01:00",
      "T23:60:00Z",
      "T23:59:60Z",
      "T10:00Z",
    ].map((time) => day + time),
  );
  for (const text of parts)
    expect(merchant.faults(since, text).length === 0, text).toBe(parseWireTime(text) !== undefined);
});

test("who needs no session is asked for none, and a person's account takes no token", () => {
  const proofs = (check: ContractCheck) =>
    Map.groupBy(check.operations, ({ operation }) => JSON.stringify(operation.security));
  const names = (operations: typeof merchant.operations = []) =>
    operations.map(({ operation }) => operation.operationId).sort();
  const both = ["beginPasskeySignIn", "signIn", "signInByLink", "signInByPasskey"];
  expect(names(proofs(contracts.portal).get("[]"))).toEqual(
    [...both, "acceptInvitation", "beginDevice", "lookAtInvitation", "pollDevice"].sort(),
  );
  const operator = proofs(contracts.operator);
  expect(names(operator.get("[]"))).toEqual(
    [...both, "acceptOperatorInvitation", "getOperatorContract", "lookAtOperatorInvitation"].sort(),
  );
  expect(names(operator.get('[{"session":[]}]'))).toEqual(expect.arrayContaining(["getSession", "changePassword"]));
});

test("an amount of a merchant's settings that has no currency beside it says which one it is in", () => {
  const { schemas } = contracts.operator.document.components as { schemas: Record<string, { properties: object }> };
  const told = ["Merchant", "UpdateMerchant", "SettlementSchedule", "SettlementScheduleChange", "RiskSettings"];
  const amounts = told.flatMap((name) =>
    Object.entries(schemas[name]?.properties ?? {}).filter(([field]) => field.endsWith("_minor")),
  );
  expect(amounts.length).toBeGreaterThan(4);
  for (const [field, { description }] of amounts as [string, { description?: string }][])
    expect(description, field).toContain(DEFAULT_CURRENCY);
});

test("the operator's contract refuses what its service does", () => {
  const { operator } = contracts;
  const incident = { title: "Cards", impact: "minor", message: "We look.", components: ["card"] };
  expect(operator.faults("/components/schemas/NewIncident", incident)).toEqual([]);
  expect(operator.faults("/components/schemas/NewIncident", { ...incident, components: ["card", "card"] })).not.toEqual(
    [],
  );
  expect(operator.faults("/components/schemas/PayerContacts", {})).not.toEqual([]);
  expect(operator.faults("/components/schemas/UpdateMerchant", { currencies: ["IDR"] })).toEqual([]);
  expect(operator.faults("/components/schemas/UpdateMerchant", { currencies: ["rupiah"] })).not.toEqual([]);
});
