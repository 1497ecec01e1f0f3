// Goal: what may be left out may also be sent as null, and what was sent comes back as it was. Method: real requests, and the rules alone.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { allOptional, judgeBody } from "./fields.ts";

let service: TestService;
let client: Client;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  ({ client } = await service.merchant());
});
afterAll(() => service.stop());

const rules = {
  schema: z.strictObject({
    must: z.string(),
    may: z.string().optional(),
    either: z.string().nullish(),
    inside: z.strictObject({ must: z.string(), may: z.int().optional() }).optional(),
  }),
  order: [],
};

test.each<[string, unknown, unknown]>([
  ["null in an optional field", { must: "x", may: null }, { must: "x" }],
  ["null for an optional object", { must: "x", inside: null }, { must: "x" }],
  ["null inside an object", { must: "x", inside: { must: "y", may: null } }, { must: "x", inside: { must: "y" } }],
  ["null that means something", { must: "x", either: null }, { must: "x", either: null }],
])("%s is the field left out", (_what, sent, read) => {
  expect(judgeBody(rules, sent)).toEqual({ value: read });
});

test.each<[string, unknown, string]>([
  ["a field that must be there", { must: null }, "must"],
  ["one inside an object", { must: "x", inside: { must: null } }, "inside.must"],
  ["a field that does not exist", { must: "x", other: null }, "other"],
])("null in %s is refused, and shown as null", (_what, sent, field) => {
  expect(judgeBody(rules, sent)).toMatchObject({ fault: { extras: { details: { field, value: null } } } });
});

test("a body may be left out where all of its fields may", () => {
  expect(allOptional(rules)).toBe(false);
  expect(allOptional({ schema: z.strictObject({ may: z.string().optional() }), order: [] })).toBe(true);
});

test("a payment whose optional fields are null is made as if they were not sent", async () => {
  const nothing = { description: null, expires_in: null, callback_url: null, metadata: null };
  const customer = { name: "Budi", email: null, phone: null };
  const { status, json } = await client.post("/v1/payments", paymentBody({ ...nothing, customer }));
  expect([status, json.description, json.metadata]).toEqual([201, null, {}]);
  const lasts = Date.parse(json.expires_at as string) - Date.parse(json.created_at as string);
  expect(lasts).toBe(1_800_000);
});

test("a cancel needs no body, and no content type then", async () => {
  for (const body of ["", { reason: null }]) {
    const { json } = await client.post("/v1/payments", paymentBody());
    const canceled = await client.post(`/v1/payments/${json.reference}/cancel`, body);
    expect([canceled.status, canceled.json]).toEqual([
      200,
      { reference: json.reference, status: "canceled", canceled_at: expect.any(String), reason: null },
    ]);
  }
});

test("metadata may have the key __proto__, and has it everywhere", async () => {
  const metadata = '{"__proto__":"x","constructor":"y"}';
  const body = JSON.stringify(paymentBody()).replace(/\}$/, `,"metadata":${metadata}}`);
  const created = await client.post("/v1/payments", body);
  expect(created.status).toBe(201);
  expect(created.text).toContain(`"metadata":${metadata}`);
  const [event] = (await client.get("/v1/events?limit=1")).json.data as { id: string }[];
  expect((await client.get(`/v1/events/${event?.id}`)).text).toContain(`"metadata":${metadata}`);
});

test.each(["1800.0", "18e2", "9007199254740993", "-0"])("%s for a time is told as it was sent", async (number) => {
  const body = JSON.stringify(paymentBody()).replace(/\}$/, `,"expires_in":${number}}`);
  const { status, text, json } = await client.post("/v1/payments", body);
  expect([status, json.error.code, json.error.details.field]).toEqual([422, "VALIDATION_ERROR", "expires_in"]);
  expect(text).toContain(`"value":${number}`);
  expect(json.error.message).toContain("plain integers");
});

test("an amount that breaks its bounds is told them, and a taken reference_id whose it is", async () => {
  const wrong = await client.post("/v1/payments", paymentBody({ amount_minor: 10_000_000_001 }));
  expect(wrong.json.error).toMatchObject({
    code: "INVALID_AMOUNT",
    details: { field: "amount_minor", value: 10_000_000_001, minimum_minor: 1, maximum_minor: 10_000_000_000 },
  });
  const first = await client.post("/v1/payments", paymentBody({ reference_id: "taken" }));
  const second = await client.post("/v1/payments", paymentBody({ reference_id: "taken" }));
  expect([second.status, second.json.error.code, second.json.error.details]).toEqual([
    409,
    "REFERENCE_ID_DUPLICATE",
    { reference: first.json.reference },
  ]);
});
