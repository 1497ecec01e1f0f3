// Goal: each request carries its proof, and what an answer means is never more than both of its statuses say. Method: a provider that is a
// list of answers, and the requests that it got.
import { createPublicKey } from "node:crypto";
import { expect, test } from "vitest";
import { privatePem, publicPem } from "../../../test/snap-keys.ts";
import { NOW, briPartner, dokuPartner } from "../../../test/snap-rig.ts";
import { AcquirerRefused } from "../../acquirers/acquirer.ts";
import type { ProviderAnswer, ProviderRequest } from "../caller.ts";
import { SnapClient, readAnswer } from "./client.ts";
import type { Partner } from "./partner.ts";
import { doku } from "./profiles/doku.ts";
import type { SnapRequest } from "./requests.ts";
import { isSignedByHmac, isSignedByRsa, privateKeyOf, tokenText, transactionText } from "./signature.ts";

const never = { signal: new AbortController().signal, record: undefined };
const request: SnapRequest = { service: "qrQuery", path: "/qr/qr-mpm-query", body: { a: 1 }, about: "pay.1" };
const order: SnapRequest = { service: "qrGenerate", path: "/qr/qr-mpm-generate", body: { a: 1 }, about: "pay.1" };
const answer = (status: number, body: Record<string, unknown> | undefined): ProviderAnswer => ({
  status,
  body,
  headers: {},
});
const given = (accessToken: string): ProviderAnswer =>
  answer(200, { responseCode: "2007300", accessToken, expiresIn: "900" });
const done = answer(200, { responseCode: "2005100" });
const isOver = answer(401, { responseCode: "4015101" });
const orderDone = answer(200, { responseCode: "2004700" });
const orderIsOver = answer(401, { responseCode: "4014701" });

function clientOf(answers: ProviderAnswer[], partner: Partner = dokuPartner()) {
  const sent: ProviderRequest[] = [];
  const call = async (one: ProviderRequest): Promise<ProviderAnswer> => {
    sent.push(one);
    const next = answers.shift();
    if (!next) throw new Error("nothing is left to answer");
    return next;
  };
  const keys = { secret: () => "secret", privateKey: () => privateKeyOf(privatePem) };
  return { sent, client: new SnapClient(partner, keys, { call, order: call }, { now: () => NOW }) };
}

test("a request for a token and the request itself are signed over what is sent", async () => {
  const { sent, client } = clientOf([given("t1"), done]);
  expect(await client.call(request, never)).toMatchObject({ meaning: "done" });
  const [asked, made] = sent;
  const timestamp = "2026-11-23T21:00:00+07:00";
  expect(asked).toMatchObject({
    path: "/authorization/v1/access-token/b2b",
    body: '{"grantType":"client_credentials"}',
  });
  expect(asked?.headers).toMatchObject({ "x-client-key": "BRN-0253-1758536533798", "x-timestamp": timestamp });
  const text = tokenText("BRN-0253-1758536533798", timestamp);
  expect(isSignedByRsa(createPublicKey(publicPem), text, asked?.headers["x-signature"] ?? "")).toBe(true);
  expect(made).toMatchObject({ path: "/qr/qr-mpm-query", body: '{"a":1}' });
  expect(made?.headers).toMatchObject({
    authorization: "Bearer t1",
    "x-timestamp": timestamp,
    "x-partner-id": "BRN-0253-1758536533798",
    "channel-id": "H2H",
  });
  expect(made?.headers["x-external-id"]).toMatch(/^\d{32}$/);
  const signed = transactionText({ method: "POST", path: request.path, token: "t1", body: '{"a":1}', timestamp });
  expect(isSignedByHmac("secret", signed, made?.headers["x-signature"] ?? "")).toBe(true);
});

test("a deletion is sent and signed as DELETE, with its body, and under a new external id each time", async () => {
  const deletion: SnapRequest = { ...request, service: "deleteVa", method: "DELETE" };
  const { sent, client } = clientOf([given("t1"), ...Array.from({ length: 2 }, () => answer(200, {}))]);
  await client.call(deletion, never);
  await client.call(deletion, never);
  const [, made, again] = sent;
  expect(made).toMatchObject({ method: "DELETE", body: '{"a":1}' });
  const timestamp = made?.headers["x-timestamp"] ?? "";
  const text = transactionText({ method: "DELETE", path: request.path, token: "t1", body: '{"a":1}', timestamp });
  expect(isSignedByHmac("secret", text, made?.headers["x-signature"] ?? "")).toBe(true);
  expect(again?.headers["x-external-id"]).not.toBe(made?.headers["x-external-id"]);
});

test("the answer to an older deletion is none to this one", () => {
  const old = { status: 409, body: { responseCode: "2003100" } };
  expect(readAnswer(old, { service: "deleteVa" }, "same").meaning).toBe("unknown");
});

test("where a repetition brings the first answer again, an order's external id is the same; another order has another", async () => {
  const { sent, client } = clientOf([given("t1"), done, done, done, done]);
  for (const one of [order, order, { ...order, about: "pay.2" }, { ...order, service: "qrRefund" } as const])
    await client.call(one, never);
  const [, first, again, other, refund] = sent.map(({ headers }) => headers["x-external-id"]);
  expect(again).toBe(first);
  expect(new Set([first, other, refund]).size).toBe(3);
});

test.for(["qrQuery", "debitStatus", "vaStatus"] as const)(
  "an inquiry has a new external id each time, since %s tells what has changed",
  async (service) => {
    const { sent, client } = clientOf([given("t1"), ...Array.from({ length: 20 }, () => done)]);
    for (let time = 0; time < 20; time++) await client.call({ ...request, service }, never);
    const ids = sent.slice(1).map(({ headers }) => headers["x-external-id"] ?? "");
    expect(ids.every((id) => /^\d{32}$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(20);
  },
);

test("where it is a conflict each request has its own, of nine digits at BRI", async () => {
  const answers = [given("t1"), ...Array.from({ length: 1_000 }, () => ({ ...done }))];
  const { sent, client } = clientOf(answers, briPartner());
  for (let time = 0; time < 1_000; time++) await client.call(request, never);
  const ids = sent.slice(1).map(({ headers }) => headers["x-external-id"] ?? "");
  expect(ids.every((id) => /^\d{9}$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(1_000);
  expect(new Set(ids.map((id) => id.slice(6))).size).toBe(1);
});

test("whoever is told that an external id was used already has other digits in the next one", async () => {
  const conflict = answer(409, { responseCode: "4095100" });
  const { sent, client } = clientOf([given("t1"), ...Array.from({ length: 5 }, () => conflict)], briPartner());
  for (let time = 0; time < 5; time++) expect(await client.call(request, never)).toMatchObject({ meaning: "repeated" });
  const own = sent.slice(1).map(({ headers }) => headers["x-external-id"]?.slice(6));
  expect(new Set(own).size).toBeGreaterThan(1);
});

test("a token that they do not take is renewed once, and the same request goes again", async () => {
  const { sent, client } = clientOf([given("t1"), orderIsOver, given("t2"), orderDone, orderDone]);
  expect(await client.call(order, never)).toMatchObject({ meaning: "done" });
  const [, first, , second] = sent;
  expect([first?.headers.authorization, second?.headers.authorization]).toEqual(["Bearer t1", "Bearer t2"]);
  expect(second?.headers["x-external-id"]).toBe(first?.headers["x-external-id"]);
  expect(second?.body).toBe(first?.body);
  await client.call(order, never);
  expect(sent.length).toBe(5);
});

test("a second no to the token is told, and nothing goes a third time", async () => {
  const { sent, client } = clientOf([given("t1"), isOver, given("t2"), isOver]);
  expect(await client.call(request, never)).toMatchObject({ meaning: "token" });
  expect(sent.length).toBe(4);
});

test.for([
  ["a no", answer(401, { responseCode: "4017300", responseMessage: "Unauthorized. Signature" })],
  ["a page", answer(502, undefined)],
  ["a token without an end", answer(200, { responseCode: "2007300", accessToken: "t" })],
  ["a token that ends at once", answer(200, { responseCode: "2007300", accessToken: "t", expiresIn: 0 })],
  ["no token", answer(200, { responseCode: "2007300", expiresIn: 900 })],
  ["the code of another service", answer(200, { responseCode: "2005100", accessToken: "t", expiresIn: 900 })],
] as const)("%s in place of a token: nothing was sent, and another may be asked", async ([, first]) => {
  const { sent, client } = clientOf([first]);
  const failed = await client.call(request, never).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(AcquirerRefused);
  expect(failed).toMatchObject({ unavailable: true });
  expect(sent.length).toBe(1);
});

test("a provider that wants RSA gets no token, and a signature by our key", async () => {
  const { sent, client } = clientOf([done], dokuPartner({ dialect: { ...doku, signature: "rsa" } }));
  await client.call(request, never);
  const [made] = sent;
  expect(made?.headers).not.toHaveProperty("authorization");
  const timestamp = made?.headers["x-timestamp"] ?? "";
  const text = transactionText({ method: "POST", path: request.path, token: undefined, body: '{"a":1}', timestamp });
  expect(isSignedByRsa(createPublicKey(publicPem), text, made?.headers["x-signature"] ?? "")).toBe(true);
});

test.for([
  [200, "2004700", "same", "done"],
  [202, "2024700", "same", "in progress"],
  [409, "2004700", "same", "done"],
  [409, "2004700", "conflict", "unknown"],
  [409, "2005100", "same", "unknown"],
  [409, "4094700", "same", "repeated"],
  [500, "2004700", "same", "unknown"],
  [200, "4044701", "same", "unknown"],
  [404, "4044701", "conflict", "not found"],
  [200, undefined, "same", "unknown"],
  [200, 2_004_700, "same", "unknown"],
] as const)(
  "an answer of %s with %s, where a repetition is %s, means %s",
  ([status, responseCode, repetition, meaning]) => {
    const body = responseCode === undefined ? undefined : { responseCode };
    const service = String(responseCode).slice(3, 5) === "51" ? "qrQuery" : "qrGenerate";
    expect(readAnswer({ status, body }, { service }, repetition).meaning).toBe(meaning);
  },
);
