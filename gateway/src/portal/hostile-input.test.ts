// Goal: whatever is sent to an endpoint of the portal, the answer is one of ours, and never an error of the service. Method: every operation of the
// contract, asked by an owner, with values that break programs in each place that it names.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, joins } from "../../test/portal.ts";
import { type TestService, startService } from "../../test/kit.ts";

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
    schemas: Record<string, { examples?: unknown[]; properties?: Record<string, unknown> }>;
  };
}
const contract = JSON.parse(readFileSync(new URL("../../../openapi/portal.json", import.meta.url), "utf8")) as Contract;

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
  1e308,
  9_007_199_254_740_992,
  "",
  "\0",
  "a\0b@c.example",
  `${"\u0130".repeat(240)}@b`,
  "\ud800",
  "\ud83d\ude00".repeat(300),
  "x".repeat(70_000),
  "../../etc/passwd",
  "' or 1=1 --",
  "<img src=x onerror=alert(1)>",
  "9".repeat(400),
  "0000-00-00",
  "999999-12-31T00:00:00Z",
  "2026-02-30T25:61:61Z",
  "Etc/GMT+14",
  "+05:30",
  "US/Pacific-New",
  "AAAA",
  [],
  [null, {}, []],
  {},
  { __proto__: null, constructor: 1, toString: 2 },
  nested(60),
];
const inAddress = hostile.map((value) => (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 8_000));

let service: TestService;
let merchantId: string;
let owner: Browser;
/** Somebody who only reads. */
let reader: Browser;

beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { unauthenticatedLimitPerMinute: 100_000_000 } });
  ({ merchantId } = await service.merchant());
  reader = await joins(service, merchantId);
});
afterAll(() => service.stop());

let turn = 0;
/** Every second value: what one field does not get, the next one does. */
const inTurns = <Value>(values: readonly Value[]): Value[] => {
  turn++;
  return values.filter((_, at) => at % 2 === turn % 2);
};

const failures: string[] = [];

async function sends(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await owner.send(method, path, body, { "idempotency-key": randomUUID(), ...headers });
  if (answer.status >= 500 && answer.json?.error?.code !== "SERVICE_UNAVAILABLE")
    failures.push(`${answer.status} ${method} ${path.slice(0, 200)} ${JSON.stringify(body)?.slice(0, 300)}`);
  return answer;
}

const left = new Set(["streamChanges", "signOut", "endOtherSessions", "testReceiver"]);
const lastPart = (ref: string | undefined): string => ref?.split("/").at(-1) ?? "";
const well = (text: string): string => encodeURIComponent(text.toWellFormed());

test.each(operations.filter(({ operation }) => !left.has(operation.operationId)))(
  "$method $path",
  async ({ method, path, operation }) => {
    failures.length = 0;
    // Somebody new for what changes something: what concerns a person alone has a limit of its own.
    owner = method === "GET" ? reader : await joins(service, merchantId);
    const given = (operation.parameters ?? []).map(({ $ref, ...own }) =>
      $ref === undefined ? own : (contract.components.parameters[lastPart($ref)] as typeof own),
    );
    const plain = path.replaceAll(/\{\w+\}/g, "x");
    const [content] = Object.values(operation.requestBody?.content ?? {});
    const schema = contract.components.schemas[lastPart(content?.schema.$ref)];
    const [named] = Object.values(content?.examples ?? {});
    const example = named && contract.components.examples[lastPart(named.$ref)]?.value;
    const fields = [...new Set([...Object.keys(example ?? {}), ...Object.keys(schema?.properties ?? {})])];
    if (/\{\w+\}/.test(path))
      await Promise.all(
        inAddress.map((value) => sends(method, path.replaceAll(/\{\w+\}/g, well(value) || "x"), example)),
      );
    for (const { name, in: place } of given)
      if (place === "query")
        await Promise.all(inTurns(inAddress).map((value) => sends(method, `${plain}?${name}=${well(value)}`)));
    if (operation.requestBody) {
      await Promise.all(hostile.map((value) => sends(method, plain, value)));
      for (const field of fields)
        await Promise.all(inTurns(hostile).map((value) => sends(method, plain, { ...example, [field]: value })));
      for (const raw of ["{", '{"a":1,"a":2}', "\xff\xfe", "null", '"', "[".repeat(100_000)])
        await sends(method, plain, Buffer.from(raw, "latin1"), { "content-type": "application/json" });
    }
    expect(failures).toEqual([]);
  },
  60_000,
);
