// Goal: a callback_url whose name leads inside is refused when it is given, and no name server can hold up payments or fill
// memory. Method: look-ups that a test answers when it likes; then a service whose resolver is the test's.
import type { LookupAddress } from "node:dns";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { exemptionsOf } from "./exemptions.ts";
import { ForbiddenAddress } from "./guard.ts";
import { HostNames, nameLimits } from "./host-names.ts";
import { slowness, waiting } from "../../test/slowness.ts";

const found: LookupAddress[] = [{ address: "93.184.215.14", family: 4 }];
const inside = new ForbiddenAddress("leads inside");
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What the name servers of the whole file say. */
const zone = new Map<string, () => Promise<string[]>>();
vi.mock("node:dns/promises", async (original) => ({
  ...(await original<typeof import("node:dns/promises")>()),
  Resolver: class {
    resolve4(host: string): Promise<string[]> {
      return zone.get(host)?.() ?? Promise.reject(new Error("ENOTFOUND"));
    }
    resolve6(): Promise<string[]> {
      return Promise.reject(new Error("ENODATA"));
    }
    cancel(): void {}
  },
}));

let asked: string[];
beforeEach(() => {
  asked = [];
});

function names(answer: (host: string) => Promise<LookupAddress[]>, limits: Partial<typeof nameLimits> = {}): HostNames {
  const lookUp = (host: string): Promise<LookupAddress[]> => {
    asked.push(host);
    return answer(host);
  };
  return new HostNames(exemptionsOf(["exempt.local"]), lookUp, { ...nameLimits, waitMs: 50, ...limits });
}

test("a name that leads inside is forbidden, any other is not, and each is asked once while its answer holds", async () => {
  const some = names((host) => (host === "inside.com" ? Promise.reject(inside) : Promise.resolve(found)));
  for (let round = 0; round < 3; round++) {
    expect(await some.isForbidden("inside.com", "mer_1")).toBe(true);
    expect(await some.isForbidden("shop.com", "mer_2")).toBe(false);
  }
  expect(asked).toEqual(["inside.com", "shop.com"]);
});

test("answers hold for their time, and that there was none for a shorter one", async () => {
  const some = names((host) => (host === "shop.com" ? Promise.resolve(found) : Promise.reject(new Error("SERVFAIL"))), {
    knownMs: 200,
    unknownMs: 30,
  });
  const round = (): Promise<boolean[]> =>
    Promise.all(["shop.com", "silent.com"].map((host) => some.isForbidden(host, "mer_1")));
  const begun = performance.now();
  const now = vi.spyOn(performance, "now").mockReturnValue(begun);
  onTestFinished(() => now.mockRestore());
  expect([await round(), await round(), asked.length]).toEqual([[false, false], [false, false], 2]);
  now.mockReturnValue(begun + 30);
  await round();
  expect(asked).toEqual(["shop.com", "silent.com", "silent.com"]);
  now.mockReturnValue(begun + 200);
  await round();
  expect(asked.slice(3)).toEqual(["shop.com", "silent.com"]);
});

test("nobody waits for a slow name server longer than a moment; what it says at last is known to the next one", async () => {
  const { promise, reject } = Promise.withResolvers<LookupAddress[]>();
  const some = names(() => promise);
  const took = await waiting(async () => {
    const all = Array.from({ length: 100 }, () => some.isForbidden("slow.com", "mer_1"));
    expect(await Promise.all(all)).not.toContain(true);
  });
  expect(took).toBeLessThan(500 * slowness());
  expect(asked).toEqual(["slow.com"]);
  reject(inside);
  await pause(5);
  expect(await some.isForbidden("slow.com", "mer_1")).toBe(true);
});

test("look-ups under way are few, in all and for each merchant; beyond them nobody waits at all", async () => {
  const never = new Promise<LookupAddress[]>(() => undefined);
  const some = names(() => never, { lookupsMax: 3, lookupsPerMerchant: 2, waitMs: 60_000 });
  for (const [host, merchant] of [
    ["a.com", "mer_1"],
    ["b.com", "mer_1"],
    ["c.com", "mer_2"],
  ] as const)
    void some.isForbidden(host, merchant);
  expect(await some.isForbidden("d.com", "mer_1")).toBe(false);
  expect(await some.isForbidden("e.com", "mer_3")).toBe(false);
  expect(asked).toEqual(["a.com", "b.com", "c.com"]);
});

test("only so many names are kept, the newest", async () => {
  const some = names(() => Promise.resolve(found), { namesMax: 10 });
  for (let number = 0; number < 100; number++) await some.isForbidden(`shop${number}.com`, "mer_1");
  await some.isForbidden("shop99.com", "mer_1");
  expect(asked).toHaveLength(100);
  await some.isForbidden("shop0.com", "mer_1");
  expect(asked).toHaveLength(101);
});

test("addresses and exempt names are not looked up", async () => {
  const some = names(() => Promise.reject(inside));
  for (const host of ["93.184.215.14", "2606:2800:21f::1", "exempt.local"])
    expect(await some.isForbidden(host, "mer_1")).toBe(false);
  expect(asked).toEqual([]);
});

let service: TestService;
beforeAll(async () => {
  zone.set("inside.merchant.com", () => Promise.resolve(["93.184.215.14", "10.0.0.7"]));
  zone.set("shop.merchant.com", () => Promise.resolve(["93.184.215.14"]));
  zone.set("silent.merchant.com", () => new Promise(() => undefined));
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

test("a payment whose callback_url leads inside is refused, in the order of its fields, and leaves nothing behind", async () => {
  const { client } = await service.merchant();
  const url = "https://inside.merchant.com/hook";
  const body = paymentBody({ callback_url: url });
  const refused = await client.post("/v1/payments", body, { key: "inside-the-house" });
  expect([refused.status, refused.json.error.code]).toEqual([422, "VALIDATION_ERROR"]);
  expect(refused.json.error.details).toMatchObject({ field: "callback_url", value: url });
  // A field error is not stored: corrected, the same key makes the payment.
  const corrected = { ...body, callback_url: "https://shop.merchant.com/hook" };
  expect((await client.post("/v1/payments", corrected, { key: "inside-the-house" })).status).toBe(201);
  const earlier = await client.post("/v1/payments", { ...body, amount_minor: 0 });
  expect(earlier.json.error.code).toBe("INVALID_AMOUNT");
  const later = await client.post("/v1/payments", { ...body, metadata: 1 });
  expect(later.json.error.details.field).toBe("callback_url");
});

test("a payment that was made is answered again, wherever its name is found to lead meanwhile", async () => {
  const { client } = await service.merchant();
  const late = Promise.withResolvers<string[]>();
  zone.set("late.merchant.com", () => late.promise);
  const body = paymentBody({ callback_url: "https://late.merchant.com/hook" });
  const first = await client.post("/v1/payments", body, { key: "made-in-good-faith" });
  expect(first.status).toBe(201);
  late.resolve(["127.0.0.1"]);
  await pause(20);
  const other = await client.post("/v1/payments", { ...body, ...paymentBody() });
  expect(other.json.error.details.field).toBe("callback_url");
  const again = await client.post("/v1/payments", body, { key: "made-in-good-faith" });
  expect([again.status, again.text]).toEqual([200, first.text]);
});

test("a silent name server costs a payment a moment, once, and payments without a callback_url nothing", async () => {
  const { client } = await service.merchant();
  const timed = (changes: Record<string, unknown>): Promise<number> => {
    return waiting(async () => {
      expect((await client.post("/v1/payments", paymentBody(changes))).status).toBe(201);
    });
  };
  await timed({});
  const others = 5 * (await timed({})); // of a busy machine
  const silent = timed({ callback_url: "https://silent.merchant.com/hook" });
  expect(await timed({})).toBeLessThan(250 + others);
  expect(await silent).toBeLessThan(nameLimits.waitMs + 500 + others);
});
