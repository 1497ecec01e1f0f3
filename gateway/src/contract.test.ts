// Goal: the committed contract is what the service does. Method: generate it again, and hold it to OpenAPI's own rules.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { gerbang } from "../../e2e/kit/service.ts";
import { createApp } from "./app.ts";
import { eventTypes } from "./events/event.ts";
import { systemClock } from "./ground/clock.ts";
import { readConfig } from "./ground/config.ts";
import { createLog } from "./ground/log.ts";

const { contract } = createApp({
  config: readConfig({}),
  databaseUrl: "postgres://nowhere.invalid/none",
  masterKey: "00".repeat(32),
  operatorToken: "unused",
  clock: systemClock,
  log: createLog("silent"),
  roles: new Set(),
});
const document = JSON.parse(contract) as {
  openapi: string;
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        parameters?: { name: string; in: string }[];
        responses: Record<string, unknown>;
        requestBody?: unknown;
      }
    >
  >;
  webhooks: Record<string, unknown>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

test("openapi/merchant.json is up to date (renew it with `npx gerbang openapi`)", () => {
  const committed = readFileSync(new URL("../../openapi/merchant.json", import.meta.url), "utf8");
  expect(committed).toBe(contract);
});

test("the commands that CONTRIBUTING gives for the contracts write exactly the committed files", async () => {
  const guide = readFileSync(new URL("../../CONTRIBUTING.md", import.meta.url), "utf8");
  const commands = [...guide.matchAll(/^(\S.*?) > (openapi\/\S+)/gm)];
  expect(commands.map(([, , file]) => file)).toEqual(["openapi/merchant.json", "openapi/operator.json"]);
  for (const [, command = "", file = ""] of commands) {
    const [npx, program, ...args] = command.split(" ");
    // `npm run` would put npm's own lines at the head of the file.
    expect(`${npx} ${program}`).toBe("npx gerbang");
    const { code, stdout } = await gerbang(args, {});
    expect([code, stdout === readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")]).toEqual([0, true]);
  }
});

test("it is OpenAPI 3.1 with every path of the interface that is built", () => {
  expect(document.openapi).toMatch(/^3\.1\./);
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
  expect(Object.keys(document.webhooks)).toEqual([...eventTypes]);
});

test("operations are named once, name the parts of their path, and describe success and errors", () => {
  const names = operations.map(({ operation }) => operation.operationId);
  expect(new Set(names).size).toBe(names.length);
  for (const { path, method, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = (operation.parameters ?? [])
      .filter((parameter) => parameter.in === "path")
      .map(({ name }) => name);
    expect(declared, path).toEqual(inPath);
    expect(
      Object.keys(operation.responses).some((status) => status.startsWith("2")),
      path,
    ).toBe(true);
    if (path === "/v1/health") continue;
    expect(Object.keys(operation.responses), path).toEqual(expect.arrayContaining(["401", "403", "429", "500", "503"]));
    if (method !== "get") {
      expect(operation.requestBody, path).toBeDefined();
      expect(
        (operation.parameters ?? []).map(({ name }) => name),
        path,
      ).toContain("Idempotency-Key");
    }
  }
});

test("every reference leads somewhere", () => {
  const references = [...contract.matchAll(/"\$ref": "#\/([^"]+)"/g)].map(([, path]) => path ?? "");
  expect(references.length).toBeGreaterThan(10);
  for (const reference of references) {
    const target = reference
      .split("/")
      .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
    expect(target, reference).toBeDefined();
  }
});
