// Goal: whatever is sent to an endpoint of the operators' API, the answer is one that its contract tells of, and never an error of the service. Method: every
// operation of the contract, asked by an admin about objects that there are, with values that break programs in each place that it names.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readAnswer } from "../../../e2e/kit/client.ts";
import {
  contractFaults,
  contractOf,
  escaped,
  hostile,
  hostileBodies,
  hostileParts,
  operationsOf,
} from "../../test/hostile-input.ts";
import { OPERATOR_TOKEN, type TestService, paymentBody, startService } from "../../test/kit.ts";
import { systemClock } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";

const contract = contractOf("operator");
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
  failures.push(...contractFaults(contract, method, path, answer));
}

test.each(operationsOf("operator", ["streamWall", "getOperatorContract"]))(
  "$method $path",
  async ({ method, path, queryNames, hasBody, example, fields }) => {
    failures.length = 0;
    const filled = (hostileName?: string, value = ""): string =>
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === hostileName && escaped(value)) || named(path, name));
    const plain = filled();
    for (const [, name = ""] of path.matchAll(/\{(\w+)\}/g))
      await Promise.all(hostileParts.map((value) => sends(method, filled(name, value), example)));
    for (const name of queryNames)
      await Promise.all(hostileParts.map((value) => sends(method, `${plain}?${name}=${escaped(value)}`)));
    if (hasBody) {
      await Promise.all(hostile.map((value) => sends(method, plain, value)));
      for (const field of fields)
        await Promise.all(hostile.map((value) => sends(method, plain, { ...example, [field]: value })));
    }
    if (method !== "GET") for (const body of hostileBodies) await sends(method, plain, body);
    expect(failures).toEqual([]);
  },
  60_000,
);

test.each([
  ["/receipts", "receipt"],
  ["/reconciliation-exceptions", "exception"],
  ["/reviews", "payment"],
  ["/payments", "payment"],
  ["/refunds", "refund"],
] as const)("%s refuses a cursor that names nothing, as every list does", async (path, kind) => {
  const answer = service.operate("GET", `${path}?starting_after=${newId(kind, systemClock.now())}`);
  await expect(answer).rejects.toThrow(/answered 422: .*"details":\{"field":"starting_after"/);
});
