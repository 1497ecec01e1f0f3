// Goal: whatever is sent to an endpoint of the operators' API, the answer is one of ours, and never an error of the service. Method: every operation of the
// contract, asked by an admin about objects that there are, with values that break programs in each place that it names.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readAnswer } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, paymentBody, startService } from "../../test/kit.ts";

interface Operation {
  operationId: string;
  parameters?: { $ref?: string; name?: string; in?: string }[];
  requestBody?: {
    content: Record<string, { schema: { $ref?: string }; examples?: Record<string, { $ref?: string }> }>;
  };
}
interface Contract {
  paths: Record<string, Record<string, Operation>>;
  components: {
    parameters: Record<string, { name: string; in: string }>;
    examples: Record<string, { value: Record<string, unknown> }>;
    schemas: Record<string, { properties?: Record<string, unknown> }>;
  };
}
const contract = JSON.parse(
  readFileSync(new URL("../../../openapi/operator.json", import.meta.url), "utf8"),
) as Contract;
const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([method]) => ["get", "post", "put", "patch", "delete"].includes(method))
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);
const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
const hostile: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  2 ** 31,
  2 ** 53,
  1e308,
  "",
  "\0",
  "a\0b@c.example",
  "\ud800",
  "\ud83d\ude00".repeat(300),
  "x".repeat(70_000),
  "../../etc/passwd",
  "9".repeat(400),
  "-1",
  "0000-00-00",
  "9999-12-31T23:59:59Z",
  "-271821-04-20T00:00:00Z",
  "2026-02-30T25:61:61Z",
  "__proto__",
  [],
  [null, {}, []],
  ["\0"],
  {},
  { IDR: null },
  { IDR: 1e300 },
  { "a\0": "\0" },
  nested(60),
];
const inAddress = hostile.map((value) => (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 8_000));
const lastPart = (ref: string | undefined): string => ref?.split("/").at(-1) ?? "";
const well = (text: string): string => encodeURIComponent(text.toWellFormed());

let service: TestService;
/** What paths name: parts of them by their parameter, objects by their kind. */
const there: Record<string, string> = {
  environment: "sandbox",
  currency: "IDR",
  gateway_code: "nusantara",
  version: "1",
  number: "1",
};
const failures: string[] = [];

beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { unauthenticatedLimitPerMinute: 100_000_000 } });
  const { client, merchantId } = await service.merchant();
  const paid = async (): Promise<string> => {
    const { reference } = (await client.post("/v1/payments", paymentBody())).json;
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    return reference;
  };
  there.id = merchantId;
  there.client_id = client.credentials.client_id;
  there.reference = await paid();
  const disputed = await paid();
  await client.post("/v1/sandbox/clock/advance", { seconds: 6 * 86_400 });
  await client.post("/v1/sandbox/settlements/run", {});
  there.settlements = (await client.get("/v1/settlements")).json.data[0].uuid;
  there.disputes = (await client.post(`/v1/sandbox/payments/${disputed}/dispute`, { reason: "general" })).json.uuid;
  there.refunds = (
    await client.post("/v1/refunds", { payment_reference: there.reference, amount_minor: 100 })
  ).json.uuid;
  there.event_id = (await client.get("/v1/events")).json.data[0].id;
  await service.operate("POST", "/tokens", { name: "someone", role: "viewer" });
  there.name = "someone";
});
afterAll(() => service.stop());

/** What stands for a parameter of a path. */
function named(path: string, name: string): string {
  const [, kind = ""] = new RegExp(`/([\\w-]+)/\\{${name}\\}`).exec(path) ?? [];
  return (name === "uuid" ? there[kind] : there[name]) ?? "x";
}

async function sends(method: string, path: string, body?: unknown): Promise<void> {
  const answer = await readAnswer(
    await fetch(service.operatorOrigin + path, {
      method,
      headers: {
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        "idempotency-key": randomUUID(),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? (body as never) : JSON.stringify(body) }),
    }),
  );
  if (answer.status >= 500 && answer.json?.error?.code !== "SERVICE_UNAVAILABLE")
    failures.push(`${answer.status} ${method} ${path.slice(0, 200)} ${JSON.stringify(body)?.slice(0, 300)}`);
}

const left = new Set(["streamWall", "getOperatorContract"]);

test.each(operations.filter(({ operation }) => !left.has(operation.operationId)))(
  "$method $path",
  async ({ method, path, operation }) => {
    failures.length = 0;
    const given = (operation.parameters ?? []).map(({ $ref, ...own }) =>
      $ref === undefined ? own : (contract.components.parameters[lastPart($ref)] as typeof own),
    );
    const filled = (hostileName?: string, value = ""): string =>
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === hostileName && well(value)) || named(path, name));
    const plain = filled();
    const [content] = Object.values(operation.requestBody?.content ?? {});
    const schema = contract.components.schemas[lastPart(content?.schema.$ref)];
    const [shown] = Object.values(content?.examples ?? {});
    const example = shown && contract.components.examples[lastPart(shown.$ref)]?.value;
    const fields = [...new Set([...Object.keys(example ?? {}), ...Object.keys(schema?.properties ?? {})])];
    for (const [, name = ""] of path.matchAll(/\{(\w+)\}/g))
      await Promise.all(inAddress.map((value) => sends(method, filled(name, value), example)));
    for (const { name, in: place } of given)
      if (place === "query")
        await Promise.all(inAddress.map((value) => sends(method, `${plain}?${name}=${well(value)}`)));
    if (operation.requestBody) {
      await Promise.all(hostile.map((value) => sends(method, plain, value)));
      for (const field of fields)
        await Promise.all(hostile.map((value) => sends(method, plain, { ...example, [field]: value })));
      for (const raw of ["{", '{"a":1,"a":2}', "\xff\xfe", "null", '"', "[".repeat(100_000)])
        await sends(method, plain, Buffer.from(raw, "latin1"));
    }
    expect(failures).toEqual([]);
  },
  60_000,
);
