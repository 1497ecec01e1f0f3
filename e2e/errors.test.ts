// Goal: every code of the table of errors (section 7.3) is what a merchant really gets, and the document of errors says the
// same. Method: bring each about over real HTTP, by the merchant's and the operator's calls where they reach, else by hand in
// the test's own database; repeat each write with its key; read the document's rows.
import { defaultSettings } from "../gateway/src/merchants/settings.ts";
import { alsoIn } from "../gateway/test/currencies.ts";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Fault, type FaultCode, faultCodes } from "../gateway/src/ground/fault.ts";
import { uuidOf } from "../gateway/src/ground/ids.ts";
import {
  OPERATOR_TOKEN,
  type TestDatabase,
  type TestService,
  asOwner,
  cloneDatabase,
  paymentBody,
  startService,
} from "../gateway/test/kit.ts";
import { Browser, joins } from "../gateway/test/portal.ts";
import { type Answer, Client, readAnswer } from "./kit/client.ts";

let service: TestService;

beforeAll(async () => {
  service = await startService();
  await asOwner(service.database, (owner) =>
    owner.query(`create function obstruct() returns trigger language plpgsql as $$
begin
  if new.reference_id like 'slow-%' then perform pg_sleep(0.5); end if;
  if new.reference_id like 'broken-%' then raise exception 'the disk said no'; end if;
  return new;
end
$$;
create trigger obstruct before insert on payments for each row execute function obstruct()`),
  );
});
afterAll(() => service.stop());
beforeEach(() => {
  again = undefined;
});

const posing = (client: Client, change: Partial<Client["credentials"]>): Client =>
  new Client({ ...client.credentials, ...change });

/** The last write that its client could repeat: the same bytes under the same key, signed anew. */
let again: (() => Promise<Answer>) | undefined;

function write(by: Client, path: string, value: unknown, key = randomUUID() as string): Promise<Answer> {
  again = () => by.post(path, value, { key });
  return again();
}

const create = (by: Client, changes: Record<string, unknown> = {}, key?: string): Promise<Answer> =>
  write(by, "/v1/payments", paymentBody(changes), key);
const refund = (by: Client, reference: string, changes: Record<string, unknown> = {}): Promise<Answer> =>
  write(by, "/v1/refunds", { payment_reference: reference, ...changes });
const simulate = (by: Client, reference: string, outcome = "succeeded"): Promise<Answer> =>
  write(by, `/v1/sandbox/payments/${reference}/simulate`, { outcome });

/** A payment that was paid. */
async function paid(by: Client): Promise<string> {
  const { reference } = (await create(by)).json;
  expect((await simulate(by, reference)).status).toBe(200);
  return reference as string;
}

/** Asks until the code comes: settings reach every process within a second, a window of rates ends with its minute. */
async function until(code: string, ask: () => Promise<Answer>): Promise<Answer> {
  for (const end = Date.now() + 30_000; ;) {
    const answer = await ask();
    if (answer.json.error?.code === code || Date.now() > end) return answer;
  }
}

/** The address of a database that can be taken away. */
async function detachable(database: TestDatabase): Promise<TestDatabase & { detach(): Promise<void> }> {
  const { hostname, port } = new URL(database.url);
  const sockets = new Set<Socket>();
  const server = createServer((inward) => {
    const outward = connect(Number(port), hostname);
    for (const socket of [inward, outward]) sockets.add(socket.on("error", () => socket.destroy()));
    inward.pipe(outward).pipe(inward);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(database.url);
  url.port = String((server.address() as AddressInfo).port);
  url.search = ""; // by the proxy, not by the local socket
  return {
    ...database,
    url: url.href,
    async detach() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** By a new merchant's client, which may do everything. */
type Provoke = (client: Client, merchantId: string) => Promise<Answer>;

/** For each code its status in the interface or, for codes beyond it, in its document, and a way to it. */
const provocations: Record<FaultCode, [status: number, provoke: Provoke]> = {
  UNAUTHORIZED: [401, async () => readAnswer(await fetch(`${service.origin}/v1/balances`))],
  CLIENT_NOT_FOUND: [401, (client) => posing(client, { client_id: `ak_test_${"0".repeat(26)}` }).get("/v1/balances")],
  SIGNATURE_MISSING: [
    401,
    async (client) => {
      const { "x-signature": _, ...headers } = client.headers("");
      return client.send("GET", "/v1/balances", undefined, headers);
    },
  ],
  SIGNATURE_INVALID: [401, (client) => posing(client, { secret: "sk_test_other" }).get("/v1/balances")],
  TIMESTAMP_OUT_OF_WINDOW: [401, (client) => client.get("/v1/balances", { skew: -400 })],
  SIGNATURE_REPLAYED: [
    401,
    async (client) => {
      const headers = client.headers("");
      expect((await client.send("GET", "/v1/balances", undefined, headers)).status).toBe(200);
      return client.send("GET", "/v1/balances", undefined, headers);
    },
  ],
  FORBIDDEN: [
    403,
    async (_client, merchantId) => create(await service.client(merchantId, "sandbox", ["payments:read"])),
  ],
  PROOF_REQUIRED: [
    403,
    async (_client, merchantId) => {
      const browser = await joins(service, merchantId);
      await asOwner(service.database, (owner) =>
        owner.query("update sessions set proved_at = proved_at - interval '11 minutes'"),
      );
      return browser.post("/portal/v1/team/invitations", { role: "viewer" });
    },
  ],
  SECOND_FACTOR_REQUIRED: [
    403,
    async (_client, merchantId) => {
      const { database } = service;
      const strict = await startService({ database, config: { mode: "production" }, roles: ["api"] });
      try {
        const { cookie } = await joins(service, merchantId);
        const browser = new Browser(strict.origin, merchantId);
        return await browser.get("/portal/v1/payments", { cookie: `__Host-${cookie}` });
      } finally {
        await strict.stop();
      }
    },
  ],
  ENVIRONMENT_MISMATCH: [
    403,
    async (client, merchantId) => {
      const { reference } = (await create(client)).json;
      return write(await service.client(merchantId, "production"), `/v1/payments/${reference}/cancel`, {});
    },
  ],
  MERCHANT_SUSPENDED: [
    403,
    async (client, merchantId) => {
      await service.operate("PATCH", `/merchants/${merchantId}`, { suspended: true });
      return until("MERCHANT_SUSPENDED", () => client.get("/v1/balances"));
    },
  ],
  MALFORMED_JSON: [400, (client) => write(client, "/v1/payments", "{")],
  VALIDATION_ERROR: [422, (client) => create(client, { expires_in: 5 })],
  INVALID_AMOUNT: [422, (client) => create(client, { amount_minor: 0 })],
  CURRENCY_NOT_SUPPORTED: [422, (client) => create(client, { currency: "USD" })],
  CURRENCY_MISMATCH: [422, async (client) => refund(client, await paid(client), { currency: "USD" })],
  PAYMENT_METHOD_UNAVAILABLE: [
    422,
    async (client, merchantId) => {
      await service.operate("PATCH", `/merchants/${merchantId}`, { methods: ["va"] });
      return until("PAYMENT_METHOD_UNAVAILABLE", () => create(client));
    },
  ],
  REFERENCE_ID_DUPLICATE: [
    409,
    async (client) => {
      await create(client, { reference_id: "order-1" });
      return create(client, { reference_id: "order-1" });
    },
  ],
  IDEMPOTENCY_KEY_REQUIRED: [422, (client) => client.post("/v1/payments", paymentBody(), { key: null })],
  IDEMPOTENCY_KEY_INVALID: [422, (client) => create(client, {}, "short")],
  IDEMPOTENCY_CONFLICT: [
    409,
    async (client) => {
      const key = randomUUID();
      await create(client, { amount_minor: 1_000 }, key);
      return create(client, { amount_minor: 2_000 }, key);
    },
  ],
  IDEMPOTENCY_IN_PROGRESS: [
    409,
    async (client) => {
      const body = paymentBody({ reference_id: "slow-1" });
      const key = randomUUID();
      const both = await Promise.all([1, 2].map(() => client.post("/v1/payments", body, { key })));
      const [first, second] = both.toSorted((one, other) => one.status - other.status) as [Answer, Answer];
      expect(first.status).toBe(201);
      expect((await client.post("/v1/payments", body, { key })).text).toBe(first.text);
      return second;
    },
  ],
  PAYMENT_NOT_FOUND: [404, (client) => write(client, "/v1/payments/pay_1/cancel", {})],
  REFUND_NOT_FOUND: [
    404,
    async (client) => {
      expect((await client.get("/v1/refunds/rfd_1")).json.error.code).toBe("REFUND_NOT_FOUND");
      return write(client, "/v1/sandbox/refunds/rfd_1/simulate", { outcome: "failed" });
    },
  ],
  PAYMENT_NOT_CANCELABLE: [409, async (client) => write(client, `/v1/payments/${await paid(client)}/cancel`, {})],
  PAYMENT_NOT_REFUNDABLE: [409, async (client) => refund(client, (await create(client)).json.reference)],
  REFUND_EXCEEDS_PAYMENT: [422, async (client) => refund(client, await paid(client), { amount_minor: 150_001 })],
  PAYMENT_EXPIRED: [
    409,
    async (client) => {
      const { reference } = (await create(client)).json;
      expect((await write(client, "/v1/sandbox/clock/advance", { seconds: 1801 })).status).toBe(200);
      return simulate(client, reference);
    },
  ],
  DISPUTE_LOCKED: [
    409,
    async (client) => {
      const [contested, other] = [await paid(client), await paid(client)];
      await write(client, `/v1/sandbox/payments/${contested}/dispute`, { reason: "general" });
      return refund(client, other);
    },
  ],
  INSUFFICIENT_FUNDS: [
    422,
    async (client) => refund(client, await paid(client)), // the fee is not given back
  ],
  WALLET_NOT_FOUND: [
    404,
    async (client, merchantId) => {
      const reference = await paid(client);
      await service.operate("PATCH", `/merchants/${merchantId}`, {
        ...alsoIn(defaultSettings, "USD"),
        currencies: ["USD"],
      });
      return until("WALLET_NOT_FOUND", () => refund(client, reference, { amount_minor: 1 }));
    },
  ],
  WALLET_FROZEN: [
    403,
    async (client, merchantId) => {
      const reference = await paid(client);
      await service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: true } });
      return until("WALLET_FROZEN", () => refund(client, reference, { amount_minor: 1 }));
    },
  ],
  UNBALANCED_ENTRY: [
    500,
    async (client) => {
      const { reference } = (await create(client)).json;
      // A payment of nothing, which no call can make: the journal of its capture would have no entries.
      await asOwner(service.database, async (owner) => {
        await owner.query(`begin;
alter table payments drop constraint payments_amount_minor_check;
alter table payments disable trigger payments_origin`);
        await owner.query("update payments set amount_minor = 0, fee_minor = 0 where payment_id = $1", [
          uuidOf(reference),
        ]);
        await owner.query("alter table payments enable trigger payments_origin; commit");
      });
      const answer = await simulate(client, reference);
      expect((await client.get(`/v1/payments/${reference}`)).json.status).toBe("pending");
      return answer;
    },
  ],
  NO_ROUTE_AVAILABLE: [
    503,
    async (client) => {
      const all = async (health: string): Promise<void> => {
        for (const code of ["nusantara", "cendana"]) await service.operate("PATCH", `/acquirers/${code}`, { health });
      };
      await all("down");
      try {
        return await create(client);
      } finally {
        await all("healthy");
      }
    },
  ],
  GATEWAY_ERROR: [502, (client) => create(client, { metadata: { "sandbox.scenario": "gateway_error" } })],
  GATEWAY_TIMEOUT: [504, (client) => create(client, { metadata: { "sandbox.scenario": "gateway_timeout" } })],
  RISK_REJECTED: [422, (client) => create(client, { customer: { email: "eve@reject.test" } })],
  RISK_REVIEW: [202, (client) => create(client, { customer: { email: "ann@review.test" } })],
  RATE_LIMITED: [
    429,
    async (client, merchantId) => {
      await service.operate("PATCH", `/merchants/${merchantId}`, { rate_limit_per_minute: 1 });
      return until("RATE_LIMITED", () => client.get("/v1/balances"));
    },
  ],
  INTERNAL_ERROR: [500, (client) => create(client, { reference_id: "broken-1" })],
  SERVICE_UNAVAILABLE: [
    503,
    async () => {
      const database = await detachable(await cloneDatabase());
      const away = await startService({ database });
      const { client } = await away.merchant();
      expect((await create(client)).status).toBe(201);
      await database.detach();
      try {
        return await client.post("/v1/payments", paymentBody());
      } finally {
        again = undefined;
        await away.stop();
      }
    },
  ],
  MALFORMED_REQUEST: [
    400,
    async () => {
      const socket = connect(Number(new URL(service.origin).port), "127.0.0.1");
      socket.end("hello\r\n\r\n");
      const text = (await socket.toArray()).join("");
      const [head = "", body = ""] = text.split("\r\n\r\n");
      const [first = "", ...lines] = head.split("\r\n");
      const headers = lines.map((line) => line.split(": ") as [string, string]);
      return readAnswer(new Response(body, { status: Number(first.split(" ")[1]), headers }));
    },
  ],
  PAYMENT_NOT_PAYABLE: [409, async (client) => simulate(client, await paid(client))],
  DISPUTE_RESOLVED: [
    409,
    async (client) => {
      const path = `/v1/sandbox/payments/${await paid(client)}/dispute`;
      const { uuid } = (await write(client, path, { reason: "general" })).json;
      await write(client, `/v1/sandbox/disputes/${uuid}/resolve`, { outcome: "won" });
      return write(client, `/v1/sandbox/disputes/${uuid}/resolve`, { outcome: "won" });
    },
  ],
  SETTLEMENT_CLOSED: [
    409,
    async (client) => {
      await paid(client);
      const [{ uuid }] = (await write(client, "/v1/sandbox/settlements/run", {})).json.data;
      await write(client, `/v1/sandbox/settlements/${uuid}/pay`, {});
      return write(client, `/v1/sandbox/settlements/${uuid}/pay`, {});
    },
  ],
  APPROVAL_CLOSED: [
    409,
    async (client, merchantId) => {
      await paid(client);
      const [{ uuid }] = (await write(client, "/v1/sandbox/settlements/run", {})).json.data;
      again = undefined;
      await service.operate("PUT", "/approvals/policy", { version: 0, actions: { record_payout: {} } });
      const path = `/merchants/${merchantId}/books/sandbox/settlements/${uuid}/pay`;
      const { approval } = await service.operate("POST", path, {});
      await service.operate("POST", `/approvals/${approval.uuid}/withdraw`);
      return readAnswer(
        await fetch(`${service.operatorOrigin}/ops/v1/approvals/${approval.uuid}/withdraw`, {
          method: "POST",
          headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
        }),
      );
    },
  ],
  OBJECT_NOT_FOUND: [404, (client) => write(client, "/v1/sandbox/settlements/set_1/pay", {})],
  ROUTE_NOT_FOUND: [404, (client) => client.get("/v1/nothing")],
  METHOD_NOT_ALLOWED: [405, (client) => client.send("DELETE", "/v1/payments", undefined, {})],
  PAYLOAD_TOO_LARGE: [413, (client) => create(client, { description: "x".repeat(300_000) })],
};

/** What `details` must say, for the codes whose details the interface names. */
const details: Partial<Record<FaultCode, unknown>> = {
  VALIDATION_ERROR: { field: "expires_in", value: 5 },
  IDEMPOTENCY_CONFLICT: { idempotency_key: expect.any(String), first_seen_at: expect.stringMatching(/Z$/) },
  REFUND_EXCEEDS_PAYMENT: { remaining_refundable_minor: 150_000 },
  INVALID_AMOUNT: { field: "amount_minor", value: 0, minimum_minor: 1, maximum_minor: 10_000_000_000 },
  REFERENCE_ID_DUPLICATE: { reference: expect.stringMatching(/^pay_/) },
  RISK_REVIEW: { reference: expect.stringMatching(/^pay_/), status: "pending" },
};

/** The example answers of the contracts, which the page of each code shows. Where several have a code, the merchants' is shown. */
const examples: Partial<Record<string, { value: { error: { details?: object } } }>> = Object.assign(
  {},
  ...["operator", "portal", "merchant"].map(
    (name) => JSON.parse(readFileSync(new URL(`../openapi/${name}.json`, import.meta.url), "utf8")).components.examples,
  ),
);

/** Refused before the intent itself is judged, or by an accident: the key stays free. Everything else is a decision, and kept. */
const notKept =
  /^(UNAUTHORIZED|CLIENT_NOT_FOUND|METHOD_NOT_|SIGNATURE_|TIMESTAMP_|FORBIDDEN|PROOF_|SECOND_|MERCHANT_|MALFORMED_|PAYLOAD_|ROUTE_|VALIDATION_|INVALID_|CURRENCY_NOT_|PAYMENT_METHOD_|IDEMPOTENCY_|RATE_|APPROVAL_)/;
const isKept = (code: FaultCode): boolean => new Fault(code).status < 500 && !notKept.test(code);

const seen = new Set<string>();

test.each(Object.entries(provocations))(
  "%s, brought about over HTTP, has its status, the envelope, and a replay when it is kept",
  async (code, [status, provoke]) => {
    const { client, merchantId } = await service.merchant();
    const answer = await provoke(client, merchantId);
    expect([answer.status, answer.json?.error?.code], answer.text).toEqual([status, code]);
    expectEnvelope(code as FaultCode, answer);
    seen.add(code);
    if (!again) return;
    const repeated = await again();
    if (isKept(code as FaultCode)) {
      expect(repeated.headers.get("x-idempotent-replay")).toBe("true");
      expect([repeated.status, repeated.text]).toEqual([status, answer.text]);
    } else {
      expect(repeated.headers.get("x-idempotent-replay")).toBeNull();
    }
  },
);

/** Section 7.1, and the headers that every answer has. */
function expectEnvelope(code: FaultCode, { json, headers, status }: Answer): void {
  expect(Object.keys(json)).toEqual(["error"]);
  const { details: given, ...error } = json.error;
  expect(error).toEqual({
    code,
    message: expect.stringMatching(/^\S.{10,}/),
    request_id: expect.stringMatching(/^req_[0-9a-hjkmnp-tv-z]{26}$/),
  });
  if (code in details) expect(given).toEqual(details[code]);
  expect(Object.keys(examples[code]?.value.error.details ?? {})).toEqual(Object.keys(given ?? {}));
  expect(headers.get("x-request-id")).toBe(error.request_id);
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  for (const name of ["limit", "remaining", "reset"]) expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
  if (status === 429 || status === 503) expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
}

test("a message calls an acquirer so, and the key of a call by the header's name", () => {
  for (const code of faultCodes) {
    const { message } = new Fault(code);
    expect(message, code).not.toMatch(/provider/i);
    if (["NO_ROUTE_AVAILABLE", "GATEWAY_ERROR", "GATEWAY_TIMEOUT"].includes(code))
      expect(message).toMatch(/ with the same Idempotency-Key\.$/);
  }
});

test("a timestamp in milliseconds, which no clock mends, is told its unit", () => {
  expect(new Fault("TIMESTAMP_OUT_OF_WINDOW").message).toContain("in Unix seconds");
});

test("the codes seen are all there are", () => {
  expect([...seen].toSorted()).toEqual(faultCodes.toSorted());
});

test("the document has one row for each code, with its status and whether it is replayed", () => {
  const text = readFileSync(new URL("../docs/errors/README.md", import.meta.url), "utf8");
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  const told = rows.map((row) => {
    const cells = row.split("|").map((cell) => cell.trim());
    expect(cells, row).toHaveLength(8);
    for (const sentence of cells.slice(3, 6)) expect(sentence).toMatch(/\.$/);
    return [cells[1], cells[2], cells[6]?.split(";")[0]].join(" ");
  });
  const wanted = faultCodes.map((code) => `\`${code}\` ${new Fault(code).status} ${isKept(code) ? "yes" : "no"}`);
  expect(told.toSorted()).toEqual(wanted.toSorted());
});
