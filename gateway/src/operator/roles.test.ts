// Goal: each role may do what the operators' guide says, and nothing else. Method: every operation of the contract asked for with a token of each
// role, on a real socket; the guide's own table is what they are held against.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR_TOKEN, type TestService, startService } from "../../test/kit.ts";
import { type OperatorRole, operatorRoles } from "../people/operator-roles.ts";

interface Shown {
  schema: { $ref?: string };
}

interface Operation {
  operationId: string;
  method: string;
  path: string;
}

let service: TestService;
let operations: Operation[];
const tokens: Record<OperatorRole, string> = { viewer: "", support: "", admin: OPERATOR_TOKEN };

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  const { paths } = JSON.parse(service.app.contracts.operator()) as {
    paths: Record<string, Record<string, { operationId: string; security?: unknown[]; tags?: string[] }>>;
  };
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId, security }]) => operationId !== undefined && security?.length !== 0)
      // Of the pages alone: whoever has a token is nobody there.
      .filter(([, { tags }]) => !tags?.some((tag) => ["Session", "Person", "Passkeys"].includes(tag)))
      .map(([method, { operationId }]) => ({ operationId, method: method.toUpperCase(), path })),
  );
  for (const role of ["viewer", "support"] as const)
    tokens[role] = (await service.operate("POST", "/tokens", { name: role, role })).token;
});
afterAll(() => service.stop());

/** The rows of the guide's table: the operation, and whether viewer, support and admin may do it. */
const guide = readFileSync(new URL("../../../docs/guides/operator-api.md", import.meta.url), "utf8");
const told = new Map(
  [...guide.matchAll(/^\| `(\w+)` [^|]*\| (yes|no) \| (yes|no) \| (yes|no) \|$/gm)].map(([, name = "", ...cells]) => [
    name,
    cells.slice(0, 3).map((cell) => cell === "yes"),
  ]),
);

/** Reads are everybody's but those of the table; changes are the admin's but those of the table. */
function expected({ operationId, method }: Operation): boolean[] {
  return told.get(operationId) ?? (method === "GET" ? [true, true, true] : [false, false, true]);
}

test("the guide's table names operations that there are", () => {
  const names = operations.map(({ operationId }) => operationId);
  expect(operations.length).toBeGreaterThan(45);
  expect(told.size).toBeGreaterThanOrEqual(6);
  for (const name of told.keys()) expect(names).toContain(name);
});

test("every operation is open to exactly the roles that the guide says", async () => {
  for (const [at, role] of operatorRoles.entries()) {
    for (const operation of operations) {
      const { method, path, operationId } = operation;
      const url = `${service.operatorOrigin}${path.replaceAll(/\{\w+\}/g, "nobody")}`;
      const headers = { authorization: `Bearer ${tokens[role]}`, "content-type": "application/json" };
      const sent = method === "GET" || method === "DELETE" ? {} : { body: "{}" };
      const { status } = await fetch(url, { method, headers, ...sent });
      const name = `${operationId} by ${role}`;
      if (expected(operation)[at]) expect([401, 403, 429, 500], name).not.toContain(status);
      else expect(status, name).toBe(403);
    }
  }
});

test("the guide for the night names each call that shows a secret of a merchant: of an operator who leaves they are changed", () => {
  const night = readFileSync(new URL("../../../docs/guides/on-call.md", import.meta.url), "utf8");
  const { paths, components } = JSON.parse(service.app.contracts.operator()) as {
    paths: Record<string, Record<string, { responses?: Record<string, { content?: Record<string, Shown> }> }>>;
    components: { schemas: Record<string, { properties?: Record<string, unknown> }> };
  };
  const ofMerchants = Object.entries(paths).filter(([path]) => path.startsWith("/ops/v1/merchants"));
  const showing = ofMerchants.flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses = {} }]) =>
        Object.values(responses).some(({ content }) => {
          const name = content?.["application/json"]?.schema.$ref?.split("/").at(-1) ?? "";
          return Object.keys(components.schemas[name]?.properties ?? {}).some((field) => /secret/.test(field));
        }),
      )
      .map(([method]) => `\`${method.toUpperCase()} ${path.replace("/ops/v1", "").replace("/merchants/{id}", "…")}\``),
  );
  expect(showing.length).toBeGreaterThan(3);
  expect(showing.filter((call) => !night.includes(call))).toEqual([]);
});

test("support can hand out no token, let nobody in and move no money, whatever the guide says", () => {
  const forbidden =
    /token|credential|invite|webhook$|secret|refund|receipt|settlement|acquirer|routing|updateMerchant|createMerchant|decideDispute|recordDispute/i;
  const supports = operations.filter((one) => one.method !== "GET" && expected(one)[1] && !expected(one)[0]);
  expect(supports.map(({ operationId }) => operationId).filter((name) => forbidden.test(name))).toEqual([]);
  expect(supports.length).toBeGreaterThan(0);
});
