// Goal: whoever sends a captured or forged message signature (RFC 9421) gets nothing, and whoever signs rightly is served, in every process.
// Method: requests signed by hand over real sockets, against two instances on one database with a clock that the test holds.
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, Client } from "../../../e2e/kit/client.ts";
import { type MessageToSign, signMessage } from "../../../e2e/kit/message-signer.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { SECOND } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";

// Held still, some seconds into a minute: no window of rates ends in the middle of a test.
const nowSeconds = Math.floor(Date.now() / 60_000) * 60 + 5;
const clock = { now: () => nowSeconds * SECOND };

let service: TestService;
let other: TestService;
let client: Client;

beforeAll(async () => {
  service = await startService({ clock, roles: ["api"] });
  other = await startService({ clock, roles: ["api"], database: service.database });
  ({ client } = await service.merchant());
});
afterAll(() => Promise.all([service.stop(), other.stop()]));

type Headers_ = Record<string, string>;

/** What a test says of a request; the rest is as it should be. */
type Saying = Partial<Omit<MessageToSign, "clientId" | "secret">>;

/** The headers of a request to one instance, signed for it. */
function signed(by: Client, method: string, path: string, saying: Saying = {}): Headers_ {
  const { client_id: clientId, secret } = by.credentials;
  const json = { "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
  const headers = method === "GET" ? {} : json;
  return signMessage({
    clientId,
    secret,
    method,
    url: by.origin + path,
    created: nowSeconds,
    ...saying,
    headers: { ...headers, ...saying.headers },
  });
}

function outcome({ status, json }: Answer): string {
  return status < 400 ? `${status}` : `${status} ${json.error.code}`;
}

const send = async (by: Client, method: string, path: string, headers: Headers_, body?: string): Promise<string> =>
  outcome(await by.send(method, path, body, headers));

const get = (by: Client, path: string, saying: Saying = {}): Promise<string> =>
  send(by, "GET", path, signed(by, "GET", path, saying));

const post = (by: Client, path: string, body: string, saying: Saying = {}): Promise<string> =>
  send(by, "POST", path, signed(by, "POST", path, { body, ...saying }), body);

const at = (instance: TestService, by: Client): Client =>
  new Client({ ...by.credentials, base_url: `${instance.origin}/v1` });

async function newPayment(by: Client): Promise<string> {
  const body = JSON.stringify(paymentBody());
  const answer = await by.send("POST", "/v1/payments", body, signed(by, "POST", "/v1/payments", { body }));
  return answer.json.reference as string;
}

const INVALID = "401 SIGNATURE_INVALID";
const REPLAYED = "401 SIGNATURE_REPLAYED";
const MISSING = "401 SIGNATURE_MISSING";

test("reads and writes that are rightly signed are served", async () => {
  expect(await get(client, "/v1/balances")).toBe("200");
  expect(await get(client, "/v1/payments?limit=5")).toBe("200");
  expect(await post(client, "/v1/payments", JSON.stringify(paymentBody()))).toBe("201");
});

describe("which scheme judges", () => {
  const without = (headers: Headers_, name: string): Headers_ =>
    Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
  const path = "/v1/balances";
  test.each<[string, (whole: Headers_, own: Headers_) => Headers_, string]>([
    ["neither's headers", (whole) => ({ authorization: whole.authorization ?? "" }), MISSING],
    ["no Signature", (whole) => without(whole, "signature"), MISSING],
    ["no Signature-Input", (whole) => without(whole, "signature-input"), MISSING],
    ["no Authorization", (whole) => without(whole, "authorization"), "401 UNAUTHORIZED"],
    [
      "a client nobody made",
      (whole) => ({ ...whole, authorization: `Bearer ak_test_${"0".repeat(26)}` }),
      "401 CLIENT_NOT_FOUND",
    ],
    ["X-Timestamp beside a message signature", (whole) => ({ ...whole, "x-timestamp": `${nowSeconds}` }), MISSING],
    ["X-Signature beside a message signature", (whole) => ({ ...whole, "x-signature": "00" }), MISSING],
    ["both, the interface's own right", (_whole, own) => ({ ...own, signature: "x", "signature-input": "x" }), "200"],
    ["both, the interface's own wrong", (whole, own) => ({ ...whole, ...own, "x-signature": "0".repeat(64) }), INVALID],
    ["an empty Signature", (whole) => ({ ...whole, signature: "" }), INVALID],
  ])("%s", async (_name, change, expected) => {
    const { client } = await service.merchant();
    const timestamp = String(nowSeconds);
    const own = {
      authorization: `Bearer ${client.credentials.client_id}`,
      "x-timestamp": timestamp,
      "x-signature": client.sign(timestamp, ""),
    };
    expect(await send(client, "GET", path, change(signed(client, "GET", path), own))).toBe(expected);
  });
});

describe("a nonce is good once", () => {
  let count = 0;
  const nonce = (): string => `nonce-of-a-test-${count++}`;

  test("as it was sent, and signed anew for another path, another query, another method or another second", async () => {
    const used = nonce();
    const headers = signed(client, "GET", "/v1/balances", { nonce: used });
    expect(await send(client, "GET", "/v1/balances", headers)).toBe("200");
    expect(await send(client, "GET", "/v1/balances", headers)).toBe(REPLAYED);
    for (const path of ["/v1/payments", "/v1/balances?", "/v1/payments?limit=5"])
      expect(await get(client, path, { nonce: used }), path).toBe(REPLAYED);
    for (const created of [nowSeconds - 300, nowSeconds - 1, nowSeconds + 1, nowSeconds + 300])
      expect(await get(client, "/v1/balances", { nonce: used, created }), `${created}`).toBe(REPLAYED);
    expect(await post(client, "/v1/payments", JSON.stringify(paymentBody()), { nonce: used })).toBe(REPLAYED);
    expect(await get(client, "/v1/balances", { nonce: nonce() })).toBe("200");
  });

  test("of a write too, for reads and writes, whatever the answer was", async () => {
    const used = nonce();
    expect(await post(client, "/v1/payments", "{", { nonce: used })).toBe("400 MALFORMED_JSON");
    expect(await post(client, "/v1/payments", JSON.stringify(paymentBody()), { nonce: used })).toBe(REPLAYED);
    expect(await get(client, "/v1/balances", { nonce: used })).toBe(REPLAYED);
  });

  test("in every process", async () => {
    const [first, second] = [at(service, client), at(other, client)];
    const used = nonce();
    expect(await get(first, "/v1/balances", { nonce: used })).toBe("200");
    expect(await get(second, "/v1/balances", { nonce: used })).toBe(REPLAYED);
    const written = nonce();
    expect(await post(second, "/v1/payments", JSON.stringify(paymentBody()), { nonce: written })).toBe("201");
    expect(await post(first, "/v1/payments", JSON.stringify(paymentBody()), { nonce: written })).toBe(REPLAYED);
  });

  test("when it comes many times at once to two processes", async () => {
    const { client } = await service.merchant();
    const used = nonce();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        post(at(index % 2 ? service : other, client), "/v1/payments", JSON.stringify(paymentBody()), {
          nonce: used,
          created: nowSeconds + index,
        }),
      ),
    );
    expect(outcomes.filter((text) => text === "201")).toHaveLength(1);
    expect(outcomes.filter((text) => text === REPLAYED)).toHaveLength(19);
  });

  test("a write's also when a crash of the database has forgotten the nonces of reads", async () => {
    const { client, merchantId } = await service.merchant();
    const body = JSON.stringify(paymentBody());
    const headers = signed(client, "POST", "/v1/payments", { body });
    expect(await send(client, "POST", "/v1/payments", headers, body)).toBe("201");
    await asOwner(service.database, async (owner) => {
      const { rowCount } = await owner.query("delete from used_read_nonces where merchant_id = $1", [
        uuidOf(merchantId),
      ]);
      expect(rowCount).toBeGreaterThan(0);
    });
    expect(await send(client, "POST", "/v1/payments", headers, body)).toBe(REPLAYED);
  });

  test("and two clients may have the same, of one merchant and of two", async () => {
    const { client: first, merchantId } = await service.merchant();
    const second = await service.client(merchantId);
    const { client: third } = await service.merchant();
    const used = nonce();
    for (const by of [first, second, third]) {
      expect(await get(by, "/v1/balances", { nonce: used })).toBe("200");
      expect(await get(by, "/v1/balances", { nonce: used })).toBe(REPLAYED);
    }
  });

  test("only when it was valid", async () => {
    const headers = signed(client, "GET", "/v1/balances", { nonce: nonce() });
    const wrong = { ...headers, signature: `sig1=:${Buffer.alloc(32).toString("base64")}:` };
    expect(await send(client, "GET", "/v1/balances", wrong)).toBe(INVALID);
    expect(await send(client, "GET", "/v1/balances", headers)).toBe("200");
  });

  test("its replay says how a request becomes new, and costs the client nothing", async () => {
    const { client } = await service.merchant({ settings: { rate_limit_per_minute: 50 } });
    const headers = signed(client, "GET", "/v1/balances");
    await client.send("GET", "/v1/balances", undefined, headers);
    const replayed = await client.send("GET", "/v1/balances", undefined, headers);
    expect(replayed.json.error.message).toMatch(/another timestamp .*another nonce/i);
    expect(replayed.headers.get("x-ratelimit-limit")).not.toBe("50");
    await get(client, "/v1/balances"); // what was taken back is written with it
    const after = await client.send("GET", "/v1/balances", undefined, signed(client, "GET", "/v1/balances"));
    expect(Number(after.headers.get("x-ratelimit-remaining"))).toBe(50 - 3);
  });
});

describe("a captured request", () => {
  test("of a read is worth nothing for another target, method or host", async () => {
    const reference = await newPayment(client);
    const headers = signed(client, "GET", "/v1/balances");
    for (const path of ["/v1/payments", `/v1/payments/${reference}`, "/v1/balances?limit=5", "/v1/balances?"])
      expect(await send(client, "GET", path, headers), path).toBe(INVALID);
    expect(await send(client, "POST", "/v1/payments", headers, "")).toBe(INVALID);
    expect(await send(client, "GET", "/v1/balances", { ...headers, host: "other.test" })).toBe("200"); // fetch keeps its own Host
  });

  test("of a write is worth nothing for another payment, body or key", async () => {
    const [first, second] = [await newPayment(client), await newPayment(client)];
    const path = `/v1/payments/${first}/cancel`;
    const headers = signed(client, "POST", path, { body: "{}" });
    expect(await send(client, "POST", `/v1/payments/${second}/cancel`, headers, "{}")).toBe(INVALID);
    expect(await send(client, "POST", path, headers, '{"reason":"x"}')).toBe(INVALID);
    expect(await send(client, "POST", path, { ...headers, "idempotency-key": "another-key" }, "{}")).toBe(INVALID);
    const { "idempotency-key": _, ...keyless } = headers;
    expect(await send(client, "POST", path, keyless, "{}")).toBe(INVALID);
    expect(await send(client, "POST", path, headers, "{}")).toBe("200");
  });

  test("is worth nothing to another client", async () => {
    const { client: thief } = await service.merchant();
    const headers = signed(client, "GET", "/v1/balances");
    const posing = { ...headers, authorization: `Bearer ${thief.credentials.client_id}` };
    expect(await send(client, "GET", "/v1/balances", posing)).toBe(INVALID);
    const own = signed(thief, "GET", "/v1/balances");
    expect(await send(client, "GET", "/v1/balances", { ...own, authorization: headers.authorization ?? "" })).toBe(
      INVALID,
    );
  });

  test("is worth nothing after its time", async () => {
    expect(await get(client, "/v1/balances", { created: nowSeconds - 301 })).toBe("401 TIMESTAMP_OUT_OF_WINDOW");
    expect(await get(client, "/v1/balances", { created: nowSeconds + 301 })).toBe("401 TIMESTAMP_OUT_OF_WINDOW");
  });
});

test("two equal writes of one second are two requests", async () => {
  const references = [await newPayment(client), await newPayment(client)];
  const outcomes = await Promise.all(
    references.map((reference) => post(client, `/v1/payments/${reference}/cancel`, "{}")),
  );
  expect(outcomes).toEqual(["200", "200"]);
});

test("two workers read one payment in one second", async () => {
  const path = `/v1/payments/${await newPayment(client)}`;
  expect(await Promise.all([service, other, service].map((instance) => get(at(instance, client), path)))).toEqual([
    "200",
    "200",
    "200",
  ]);
});

test("a digest of other bytes is refused, and so is none", async () => {
  const body = JSON.stringify(paymentBody());
  const headers = signed(client, "POST", "/v1/payments", { body });
  const answer = await client.send("POST", "/v1/payments", `${body} `, headers);
  expect([outcome(answer), answer.json.error.message]).toEqual([INVALID, expect.stringContaining("content-digest")]);
  const { "content-digest": _, ...bare } = headers;
  expect(await send(client, "POST", "/v1/payments", bare, body)).toBe(INVALID);
});

describe("a credential that demands it", () => {
  test("takes no other signature, in every process, and says what to do; the operator shows and changes it", async () => {
    const { merchantId } = await service.merchant();
    const path = `/merchants/${merchantId}/credentials`;
    const made = await service.operate("POST", path, { environment: "sandbox", signature: "rfc9421" });
    expect(made).toMatchObject({ signature: "rfc9421", scopes: expect.arrayContaining(["payments:read"]) });
    const strict = new Client({ client_id: made.client_id, secret: made.secret, base_url: `${service.origin}/v1` });
    for (const instance of [service, other]) {
      const refused = await at(instance, strict).get("/v1/balances");
      expect([outcome(refused), refused.json.error.message]).toEqual([INVALID, expect.stringContaining("RFC 9421")]);
      expect(await get(at(instance, strict), "/v1/balances")).toBe("200");
    }
    const plain = await service.operate("POST", path, { environment: "sandbox" });
    expect(plain.signature).toBe("any");
    const { data } = await service.operate("GET", path);
    expect(data.map(({ signature }: { signature: string }) => signature).toSorted()).toEqual(["any", "any", "rfc9421"]);
    const changed = await service.operate("PATCH", `${path}/${made.client_id}`, { signature: "any" });
    expect(changed).toMatchObject({ client_id: made.client_id, signature: "any", revoked_at: null });
    expect(outcome(await strict.get("/v1/balances"))).toBe("200");
    await service.operate("PATCH", `${path}/${made.client_id}`, { signature: "rfc9421" });
    expect(outcome(await strict.get("/v1/balances"))).toBe(INVALID);
  });
});

test.each<[string, (good: Headers_) => Headers_]>([
  ["a list that never ends", (good) => ({ ...good, "signature-input": "(".repeat(12_000) })],
  [
    "a thousand labels",
    (good) => ({ ...good, "signature-input": Array.from({ length: 1_000 }, (_, n) => `a${n}=()`).join(",") }),
  ],
  ["a thousand components", (good) => ({ ...good, "signature-input": `sig1=(${'"x" '.repeat(1_000)})` })],
  ["a signature of twelve thousand characters", (good) => ({ ...good, signature: `sig1=:${"A".repeat(12_000)}:` })],
  ["a digest of twelve thousand characters", (good) => ({ ...good, "content-digest": "x".repeat(12_000) })],
  ["white space", (good) => ({ ...good, "signature-input": `sig1=(${" ".repeat(12_000)})` })],
  ["bytes beyond ASCII", (good) => ({ ...good, "signature-input": `sig1=("\u00e9")` })],
  ["the prototype", (good) => ({ ...good, "signature-input": `__proto__=("constructor" "__proto__")` })],
  [
    "the prototype as a header",
    (good) => ({ ...good, "signature-input": (good["signature-input"] ?? "").replace("(", '("__proto__" ') }),
  ],
])("headers that are huge or strange are refused: %s", async (_name, change) => {
  expect(await send(client, "GET", "/v1/balances", change(signed(client, "GET", "/v1/balances")))).toBe(INVALID);
});

test("more headers than a request may have are no request", async () => {
  const headers = { ...signed(client, "GET", "/v1/balances"), signature: `sig1=:${"A".repeat(40_000)}:` };
  expect(await send(client, "GET", "/v1/balances", headers)).toBe("431 MALFORMED_REQUEST");
});

describe("the address", () => {
  /** Status and code of a GET of exactly this target, with these lines. */
  async function exchange(instance: TestService, target: string, lines: string[]): Promise<string> {
    const { hostname, port } = new URL(instance.origin);
    const socket = connect(Number(port), hostname);
    socket.write([`GET ${target} HTTP/1.1`, "Connection: close", ...lines, "", ""].join("\r\n"), "latin1");
    const text = (await socket.toArray()).join("");
    const [, code] = /"code":"([A-Z_]+)"/.exec(text) ?? [];
    return code === undefined ? (text.split(" ")[1] ?? "") : `${text.split(" ")[1]} ${code}`;
  }

  /** The same, signed for an address. */
  function sending(instance: TestService, target: string, url: string, host: string | undefined): Promise<string> {
    const { client_id: clientId, secret } = client.credentials;
    const headers = signMessage({ clientId, secret, method: "GET", url, created: nowSeconds });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return exchange(instance, target, [...(host === undefined ? [] : [`Host: ${host}`]), ...lines]);
  }

  test.each<[string, string, string | undefined, string]>([
    ["/v1/balances", "http://shop.test/v1/balances", "shop.test", "200"],
    ["/v1/balances", "http://shop.test:81/v1/balances", "SHOP.test:81", "200"],
    ["/v1/balances", "https://shop.test/v1/balances", "shop.test", INVALID],
    ["/v1/balances", "http://shop.test/v1/balances", "evil.test", INVALID],
    ["/v1/balances", "http://shop.test/v1/balances", undefined, "400 MALFORMED_REQUEST"],
    ["/v1/%62alances", "http://shop.test/v1/%62alances", "shop.test", "200"],
    ["/v1/%62alances", "http://shop.test/v1/balances", "shop.test", INVALID],
    ["/v1/balances?", "http://shop.test/v1/balances?", "shop.test", "200"],
    ["/v1/balances?", "http://shop.test/v1/balances", "shop.test", INVALID],
    ["http://shop.test/v1/balances", "http://shop.test/v1/balances", "shop.test", "200"],
    ["http://evil.test/v1/balances", "http://evil.test/v1/balances", "shop.test", INVALID],
    ["/balances", "http://shop.test/v1/balances", "shop.test/v1", "404 ROUTE_NOT_FOUND"],
    ["/v1/balances", "http://shop.test/x/v1/balances", "shop.test/x", INVALID],
  ])("%s, signed as %s, with Host %s: %s", async (target, url, host, expected) => {
    expect(await sending(service, target, url, host)).toBe(expected);
  });

  test("of the configuration is the only one, whatever Host says", async () => {
    const behind = await startService({
      clock,
      roles: ["api"],
      database: service.database,
      config: { baseUrl: "https://Pay.test/v1" },
    });
    try {
      const of = (url: string, host: string): Promise<string> => sending(behind, "/v1/balances", url, host);
      expect(await of("https://pay.test/v1/balances", "10.0.0.7:8080")).toBe("200");
      expect(await of("https://pay.test/v1/balances", "pay.test")).toBe("200");
      expect(await of("http://10.0.0.7:8080/v1/balances", "10.0.0.7:8080")).toBe(INVALID);
      expect(await of("http://pay.test/v1/balances", "pay.test")).toBe(INVALID);
    } finally {
      await behind.stop();
    }
  });
});
