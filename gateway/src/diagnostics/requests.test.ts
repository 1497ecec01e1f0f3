// Goal: a merchant's developer reads what their systems sent to the sandbox, and nobody else's. Method: signed requests, and the log read with them.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { type Scope, scopes } from "../merchants/directory.ts";

let service: TestService;
let client: Client;
let merchantId: string;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  ({ client, merchantId } = await service.merchant());
});
afterAll(() => service.stop());

const log = "/v1/sandbox/requests";
const outcome = ({ status, json }: Answer): string => `${status} ${json?.error?.code ?? ""}`.trim();
const listed = async (query = ""): Promise<Answer["json"][]> => (await client.get(`${log}${query}`)).json.data;

test("requests are listed newest first, with their codes, and read one by one with their bodies, redacted", async () => {
  await client.post("/v1/payments", paymentBody({ customer: { name: "Sari Dewi" } }));
  await client.post("/v1/payments", paymentBody({ amount_minor: 0 }));
  await expect.poll(async () => (await listed()).length).toBe(2);
  const [newest, before] = await listed();
  expect([newest, before]).toMatchObject([
    { method: "POST", path: "/v1/payments", status: 422, error_code: "INVALID_AMOUNT", proven: true },
    { method: "POST", path: "/v1/payments", status: 201, error_code: null },
  ]);
  const whole = await client.get(`${log}/${before.request_id}`);
  expect(whole.json.request.text).toContain('"amount_minor"');
  expect(whole.text).not.toContain("Sari Dewi");
  expect(await listed("?outcome=refused")).toMatchObject([{ status: 422 }]);
});

test("whoever follows the log does not fill it: reading it is not in it, but for what was refused", async () => {
  for (let n = 0; n < 5; n++) expect(outcome(await client.get(log))).toBe("200");
  expect(outcome(await client.get(`${log}?colour=red`))).toBe("422 VALIDATION_ERROR");
  const readings = async (): Promise<Answer["json"][]> =>
    (await listed("?limit=100")).filter(({ path }: { path: string }) => path === log);
  await expect.poll(readings, { interval: 400 }).toMatchObject([{ status: 422, query: "colour=red" }]);
});

test("nobody reads another merchant's, nor production's, nor without the scope", async () => {
  const { client: other } = await service.merchant();
  const [{ request_id: id }] = (await listed()) as [{ request_id: string }];
  expect((await other.get(log)).json.data).toEqual([]);
  expect(outcome(await other.get(`${log}/${id}`))).toBe("404 OBJECT_NOT_FOUND");
  for (const nothing of ["req_0", "req_00000000000000000000000000", "%00"])
    expect(outcome(await client.get(`${log}/${nothing}`))).toBe("404 OBJECT_NOT_FOUND");
  const live = await service.client(merchantId, "production");
  expect(outcome(await live.get(log))).toBe("403 ENVIRONMENT_MISMATCH");
  const reader = await service.client(merchantId, "sandbox", ["payments:read"]);
  expect(outcome(await reader.get(log))).toBe("403 FORBIDDEN");
});

test("an answer about an object is shown to those alone who may read the object", async () => {
  const { merchantId: shop, client: all } = await service.merchant();
  const paths = [
    "/v1/balances",
    "/v1/balances/IDR/entries",
    "/v1/settlements",
    "/v1/payments",
    "/v1/refunds",
    "/v1/disputes",
    "/v1/payment-links",
    "/v1/events",
    "/v1/sandbox/events/listen",
    "/v1/sandbox/payments/pay_0/dispute",
    "/v1/sandbox/clock",
  ];
  for (const path of paths) await (path.endsWith("/dispute") ? all.post(path, {}) : all.get(path));
  const ids = new Map<string, string>();
  await expect
    .poll(async () => {
      for (const one of (await all.get(log)).json.data) ids.set(one.path as string, one.request_id as string);
      return paths.every((path) => ids.has(path));
    })
    .toBe(true);
  const reader = await service.client(shop, "sandbox", ["sandbox:write"]);
  const answers = async (asker: Client): Promise<[path: string, isShown: boolean, omitted: unknown][]> =>
    Promise.all(
      paths.map(async (path) => {
        const { text, omitted } = (await asker.get(`${log}/${ids.get(path)}`)).json.response;
        return [path, text !== null, omitted] as const;
      }) as never,
    );
  const hiddenWithout = async (missing: Scope): Promise<string[]> => {
    const rest = scopes.filter((scope) => scope !== missing);
    const all = await answers(await service.client(shop, "sandbox", rest));
    return all.flatMap(([path, isShown]) => (isShown ? [] : [path]));
  };
  expect(await answers(all)).toEqual(paths.map((path) => [path, true, null]));
  expect(await answers(reader)).toEqual(
    paths.map((path) => (path === "/v1/sandbox/clock" ? [path, true, null] : [path, false, "needs_scope"])),
  );
  // The answer to a reading of the log holds the answer that was read.
  const readings = `path=${log}/${ids.get("/v1/balances")}&client_id=${all.credentials.client_id}`;
  const found = async (): Promise<string> => (await all.get(`${log}?${readings}`)).json.data[0]?.request_id;
  const reading = await expect.poll(found).toBeDefined().then(found);
  const nested = async (asker: Client) => (await asker.get(`${log}/${reading}`)).json.response;
  expect(await nested(all)).toMatchObject({ text: expect.stringContaining("available_minor") });
  expect(await nested(reader)).toMatchObject({ text: null, omitted: "needs_scope" });
  const ofEvents = ["/v1/events", "/v1/sandbox/events/listen"];
  expect(await hiddenWithout("events:read")).toEqual(ofEvents);
  expect(await hiddenWithout("settlements:read")).toEqual(["/v1/settlements", ...ofEvents]);
  expect(await hiddenWithout("disputes:read")).toEqual(["/v1/disputes", "/v1/sandbox/payments/pay_0/dispute"]);
});
