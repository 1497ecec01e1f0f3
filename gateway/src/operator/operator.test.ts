// Goal: operators see everything and change only what their role allows, every change is on record without a secret, and
// the contract is what is answered. Method: a service on a real socket; each answer is held against its endpoint's schema.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Answer, readAnswer } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { errorSchema, exampleOf } from "../http/shapes.ts";
import { acquirerEndpoints } from "./acquirers.routes.ts";
import { auditEndpoints } from "./audit.routes.ts";
import { bookVerificationEndpoints } from "./book-verifications.routes.ts";
import { bookEndpoints } from "./books.routes.ts";
import { operatorDisputeEndpoints } from "./disputes.routes.ts";
import { merchantEndpoints } from "./merchants.routes.ts";
import { exceptionEndpoints } from "./reconciliation-exceptions.routes.ts";
import { receiptEndpoints } from "./receipts.routes.ts";
import { operatorRefundEndpoints } from "./refunds.routes.ts";
import { routingEndpoints } from "./routing.routes.ts";

const VIEWER_TOKEN = "op_viewer_of_the_tests_0123456789";
const nobody = `mer_${"0".repeat(26)}`;
const config = { operatorViewerToken: VIEWER_TOKEN };
const none = {} as never;
const endpoints = [
  ...merchantEndpoints(none),
  ...acquirerEndpoints(none, none),
  ...bookEndpoints(none, none),
  ...bookVerificationEndpoints(none, none),
  ...operatorDisputeEndpoints(none),
  ...receiptEndpoints(none, none, none),
  ...exceptionEndpoints(none, none),
  ...operatorRefundEndpoints(none),
  ...routingEndpoints(none),
  ...auditEndpoints(none, none),
];

let service: TestService;
beforeAll(async () => {
  service = await startService({ config });
});
afterAll(() => service.stop());

/** Calls the operator's API; the answer has passed its schema. `path` is what follows /ops/v1. */
async function call(
  method: string,
  path: string,
  value?: unknown,
  { token = OPERATOR_TOKEN, at = service }: { token?: string | undefined; at?: TestService } = {},
): Promise<Answer> {
  const answer = await readAnswer(
    await fetch(`${at.operatorOrigin}/ops/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(value === undefined ? {} : { body: typeof value === "string" ? value : JSON.stringify(value) }),
    }),
  );
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  if (answer.status >= 300) {
    errorSchema.parse(answer.json);
    return answer;
  }
  const bare = `/ops/v1${path.split("?")[0]}`;
  const endpoint = endpoints.find(
    (one) => one.method === method && new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(bare),
  );
  expect(endpoint, `${method} ${path}`).toBeDefined();
  expect(answer.status).toBe(endpoint?.success.status ?? 200);
  endpoint?.success.schema.parse(answer.json);
  return answer;
}

const outcome = ({ status, json }: Answer): string => (status < 300 ? String(status) : `${status} ${json.error.code}`);
const field = (answer: Answer): string => `${outcome(answer)} ${answer.json.error.details?.field}`;
const view = (path: string): Promise<Answer> => call("GET", path, undefined, { token: VIEWER_TOKEN });

async function newMerchant(name = "Toko Audit"): Promise<string> {
  return (await call("POST", "/merchants", { name })).json.merchant_id as string;
}

/** The audit's newest entries, as the viewer reads them. */
async function newest(count: number, query = ""): Promise<Record<string, unknown>[]> {
  return (await view(`/audit?limit=${count}${query}`)).json.data as Record<string, unknown>[];
}

describe("roles", () => {
  test("a viewer may call exactly the endpoints of the viewer's role", async () => {
    const id = await newMerchant();
    for (const endpoint of endpoints) {
      const path = endpoint.path
        .replace("/ops/v1", "")
        .replace("{id}", id)
        .replace("{environment}", "sandbox")
        .replace("{version}", "1")
        .replace("{currency}", "IDR")
        .replaceAll(/\{\w+\}/g, "nobody");
      const example = endpoint.changesNothing && endpoint.body instanceof z.ZodType && exampleOf(endpoint.body);
      const body = endpoint.method === "GET" ? undefined : example || {};
      const answer = await call(endpoint.method, path, body, { token: VIEWER_TOKEN });
      const name = `${endpoint.method} ${endpoint.path}`;
      const allowed = path.includes("/nobody") ? 404 : 200;
      expect(answer.status, name).toBe(endpoint.role === "viewer" ? allowed : 403);
    }
  });

  test("no token, a wrong one, or one cut short opens nothing", async () => {
    for (const token of ["guess", OPERATOR_TOKEN.slice(0, -1), `${VIEWER_TOKEN}x`]) {
      expect(outcome(await call("GET", "/acquirers", undefined, { token }))).toBe("401 UNAUTHORIZED");
    }
    expect((await fetch(`${service.operatorOrigin}/ops/v1/acquirers`)).status).toBe(401);
  });

  test("without a configured token there is no viewer", async () => {
    const other = await startService({ database: service.database });
    try {
      const answer = await call("GET", "/acquirers", undefined, { token: VIEWER_TOKEN, at: other });
      expect(outcome(answer)).toBe("401 UNAUTHORIZED");
      const empty = await fetch(`${other.operatorOrigin}/ops/v1/acquirers`, {
        headers: { authorization: "Bearer undefined" },
      });
      expect(empty.status).toBe(401);
    } finally {
      await other.stop();
    }
  });
});

describe("what is sent", () => {
  test("unknown query parameters are refused by every endpoint, and change nothing", async () => {
    const id = await newMerchant();
    for (const path of [
      "/merchants",
      `/merchants/${id}`,
      "/acquirers",
      "/audit",
      "/routing/rules",
      "/routing/rules/1",
    ]) {
      expect(field(await call("GET", `${path}?surprise=1`)), path).toBe("422 VALIDATION_ERROR surprise");
    }
    const dry = await call("PATCH", `/merchants/${id}?dry_run=1`, { suspended: true });
    expect(field(dry)).toBe("422 VALIDATION_ERROR dry_run");
    expect((await call("GET", `/merchants/${id}`)).json.suspended).toBe(false);
  });

  test("malformed JSON comes before a bad query, and unknown fields are named", async () => {
    expect(outcome(await call("POST", "/merchants?x=1", '{"name":"a","name":"b"}'))).toBe("400 MALFORMED_JSON");
    expect(field(await call("POST", "/routing/rules/1/roll-back", { dry: true }))).toBe("422 VALIDATION_ERROR dry");
    expect(field(await call("POST", "/routing/rules/1/roll-back", { note: 1 }))).toBe("422 VALIDATION_ERROR note");
  });

  test("a merchant's name is one line that shows something and changes nothing around it", async () => {
    for (const name of ["\u200b", "Toko\nSari", "\u202Eiras okot"])
      expect(field(await call("POST", "/merchants", { name })), name).toBe("422 VALIDATION_ERROR name");
    expect((await call("POST", "/merchants", { name: "Dapur \u{1f469}\u200d\u{1f373}" })).status).toBe(201);
  });

  test("an identity that is malformed or nobody's is not found", async () => {
    const id = await newMerchant();
    for (const path of [
      `/merchants/${nobody}`,
      "/merchants/mer_1",
      `/merchants/${nobody}/credentials`,
      "/merchants/x/credentials",
      `/merchants/${nobody}/books/sandbox/verify`,
      `/merchants/${id}/books/live/verify`,
      "/routing/rules/0",
      "/routing/rules/01",
      "/routing/rules/999999",
      "/routing/rules/99999999999999999999",
      "/routing/rules/-1",
      "/routing/rules/x",
    ]) {
      expect(outcome(await call("GET", path)), path).toBe("404 OBJECT_NOT_FOUND");
    }
    for (const version of ["0", "x", "999999"]) {
      expect(outcome(await call("POST", `/routing/rules/${version}/activate`))).toBe("404 OBJECT_NOT_FOUND");
    }
  });
});

describe("lists", () => {
  /** Walks a list with pages of two; every page but the last is full and names the next. */
  async function walk(path: string, identity: string): Promise<string[]> {
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const query = `limit=2${cursor === null ? "" : `&starting_after=${cursor}`}`;
      const { json } = await view(`${path}${path.includes("?") ? "&" : "?"}${query}`);
      expect(json.data.length).toBeLessThanOrEqual(2);
      expect(json.has_more).toBe(json.next_cursor !== null);
      found.push(...(json.data as Record<string, unknown>[]).map((item) => String(item[identity])));
      cursor = json.next_cursor as string | null;
    } while (cursor !== null && found.length < 1_000);
    return found;
  }

  test("merchants come newest first, each once, page by page", async () => {
    const made = [await newMerchant("A"), await newMerchant("B"), await newMerchant("C")];
    const all = await walk("/merchants", "merchant_id");
    expect(all.slice(0, 3)).toEqual(made.toReversed());
    expect(new Set(all).size).toBe(all.length);
    expect(all).toEqual(all.toSorted().toReversed());
  });

  test("an invitation lets the first owner into a merchant, and the audit has no token", async () => {
    const { merchantId } = await service.merchant();
    const body = { role: "owner", email: "Sari@toko.example" };
    const { status, json } = await call("POST", `/merchants/${merchantId}/invitations`, body);
    expect([status, json.email]).toEqual([201, "sari@toko.example"]);
    const [page, token] = json.url.split("#");
    expect(page).toBe(`${service.origin.replace("127.0.0.1", "localhost")}/portal/invitation`);
    const email = "sari@toko.example";
    const given = { email, name: "Sari", password: "kopi tubruk senja 7" };
    await service.app.people.invitations.accept(token, given, { address: "192.0.2.1", userAgent: "" });
    expect(await service.app.people.members(merchantId)).toMatchObject([{ email, role: "owner" }]);
    expect((await call("GET", `/audit?merchant_id=${merchantId}`)).text).not.toContain(token);
    expect((await call("POST", `/merchants/${nobody}/invitations`, { role: "owner" })).status).toBe(404);
    expect((await call("POST", `/merchants/${merchantId}/invitations`, { role: "king" })).status).toBe(422);
  });

  test("credentials are listed with their scopes and revocation, and never with their secrets", async () => {
    const id = await newMerchant();
    const secrets: string[] = [];
    const ids: string[] = [];
    for (const environment of ["sandbox", "production", "sandbox"]) {
      const { json } = await call("POST", `/merchants/${id}/credentials`, { environment, scopes: ["payments:read"] });
      secrets.push(json.secret);
      ids.push(json.client_id);
    }
    await call("DELETE", `/merchants/${id}/credentials/${ids[1]}`);
    expect(await walk(`/merchants/${id}/credentials`, "client_id")).toEqual(ids.toReversed());
    const { text, json } = await view(`/merchants/${id}/credentials`);
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/secret|sealed/);
    const revoked = json.data.map((item: { revoked_at: string | null }) => item.revoked_at !== null);
    expect(revoked).toEqual([false, true, false]);
    expect(json.data[0].scopes).toEqual(["payments:read"]);
  });

  test("the audit is listed newest first, of all or of one merchant", async () => {
    const id = await newMerchant();
    for (const suspended of [true, false, true]) await call("PATCH", `/merchants/${id}`, { suspended });
    const ofMerchant = await walk(`/audit?merchant_id=${id}`, "request_id");
    expect(ofMerchant.length).toBe(4);
    const all = await walk("/audit", "request_id");
    expect(all).toEqual(all.toSorted().toReversed());
    expect(all.filter((one) => ofMerchant.includes(one))).toEqual(ofMerchant);
  });

  test("a limit or cursor that means nothing is refused", async () => {
    const id = await newMerchant();
    for (const path of ["/merchants", "/audit", "/routing/rules", `/merchants/${id}/credentials`]) {
      for (const limit of ["0", "101", "x", "", "05"]) {
        expect(field(await view(`${path}?limit=${limit}`)), path).toBe("422 VALIDATION_ERROR limit");
      }
      for (const cursor of [nobody, `req_${"0".repeat(26)}`, "999999", `ak_test_${"0".repeat(26)}`, "", "x"]) {
        expect(field(await view(`${path}?starting_after=${cursor}`)), path).toBe("422 VALIDATION_ERROR starting_after");
      }
    }
    expect(field(await view("/audit?merchant_id=mer_1"))).toBe("422 VALIDATION_ERROR merchant_id");
  });
});

describe("the audit", () => {
  test("a change is recorded with who, what, whom and the outcome; a read is not", async () => {
    const made = await call("POST", "/merchants", { name: "Toko Baru" });
    const id = made.json.merchant_id as string;
    await call("GET", `/merchants/${id}`);
    await call("POST", "/routing/rules/validate", { rules: [] });
    const [entry] = await newest(1);
    expect(entry).toMatchObject({
      request_id: made.headers.get("x-request-id"),
      actor: "environment",
      address: "127.0.0.1",
      role: "admin",
      method: "POST",
      path: "/ops/v1/merchants",
      merchant_id: id,
      body: { name: "Toko Baru" },
      status: 201,
    });
  });

  test("refusals after authentication are recorded, those before it are not", async () => {
    const id = await newMerchant();
    await call("PATCH", `/merchants/${id}`, { suspended: true }, { token: VIEWER_TOKEN });
    await call("PATCH", `/merchants/${id}`, { suspended: "yes" });
    await call("PATCH", `/merchants/${id}`, "{");
    await call("PATCH", `/merchants/${nobody}`, { suspended: true });
    await call("PATCH", `/merchants/${id}`, { suspended: true }, { token: "guess" });
    const entries = (await newest(5)).map(({ role, merchant_id, status, body }) => [role, merchant_id, status, body]);
    expect(entries).toEqual([
      ["admin", nobody, 404, { suspended: true }],
      ["admin", id, 400, null],
      ["admin", id, 422, { suspended: "yes" }],
      ["viewer", id, 403, { suspended: true }],
      ["admin", id, 201, { name: "Toko Audit" }],
    ]);
  });

  test("no secret is in it, neither one that was answered nor one that was sent", async () => {
    const made = await call("POST", "/merchants", { name: "Secretive" });
    const id = made.json.merchant_id as string;
    const key = await call("POST", `/merchants/${id}/credentials`, { environment: "sandbox" });
    const url = "https://93.184.215.14/hook";
    const hook = await call("PUT", `/merchants/${id}/webhook`, { environment: "sandbox", url });
    expect(outcome(hook)).toBe("200");
    await call("PATCH", `/merchants/${id}`, { secret: "s3cr3t-sent", nested: [{ api_key: "s3cr3t-sent" }] });
    await call("POST", "/merchants", { name: `my key ${key.json.secret}`, [key.json.secret]: 1 });
    const rows = await asOwner(service.database, (client) => client.query("select * from operator_audit"));
    const text = JSON.stringify(rows.rows);
    for (const secret of [
      ...Object.values(made.json.webhook_secrets as Record<string, string>),
      key.json.secret as string,
      hook.json.webhook_secret as string,
      "s3cr3t-sent",
      OPERATOR_TOKEN,
      VIEWER_TOKEN,
    ]) {
      expect(text).not.toContain(secret);
    }
    expect(text).toContain(url);
  });

  test("nobody can change or remove a row, nor answer a call twice or one that was not asked", async () => {
    await newMerchant();
    const statements = [
      "update operator_audit set status = 200",
      "delete from operator_audit",
      "truncate operator_audit",
      "truncate operator_audit cascade",
    ];
    const again = (request: string, actor = "'sari'"): string =>
      `insert into operator_audit (audit_id, at, role, actor, method, path, request_id, status)
select gen_random_uuid(), now(), 'admin', ${actor}, 'POST', '/', ${request}, 200 from operator_audit where status is null limit 1`;
    const application = openDatabase(service.database);
    try {
      for (const statement of statements) {
        await expect(
          asOwner(service.database, (client) => client.query(statement)),
          statement,
        ).rejects.toThrow("append-only");
        await expect(application.query({ text: statement }), statement).rejects.toThrow("permission denied");
      }
      await expect(application.query({ text: again("request_id") })).rejects.toThrow("operator_audit_answers");
      await expect(application.query({ text: again("gen_random_uuid()") })).rejects.toThrow("foreign key");
      await expect(application.query({ text: again("gen_random_uuid()", "null") })).rejects.toThrow("not-null");
    } finally {
      await application.end();
    }
  });

  test("a call that cannot be recorded changes nothing and answers 503", async () => {
    const before = (await view("/merchants?limit=1")).text;
    await asOwner(service.database, (client) => client.query("revoke insert on operator_audit from gerbang_app"));
    try {
      const answer = await call("POST", "/merchants", { name: "Unrecorded" });
      expect(outcome(answer)).toBe("503 SERVICE_UNAVAILABLE");
      expect(answer.headers.get("retry-after")).toBe("1");
      expect((await view("/merchants?limit=1")).text).toBe(before);
    } finally {
      await asOwner(service.database, (client) => client.query("grant insert on operator_audit to gerbang_app"));
    }
  });

  test("a change whose outcome cannot be recorded answers 503 and stays in the audit without a status", async () => {
    const id = await newMerchant();
    await asOwner(service.database, (client) =>
      client.query(`create trigger no_answers before insert on operator_audit
for each row when (new.status is not null) execute function refuse_change()`),
    );
    try {
      expect(outcome(await call("PATCH", `/merchants/${id}`, { suspended: true }))).toBe("503 SERVICE_UNAVAILABLE");
    } finally {
      await asOwner(service.database, (client) => client.query("drop trigger no_answers on operator_audit"));
    }
    expect((await view(`/merchants/${id}`)).json.suspended).toBe(true);
    expect((await newest(1))[0]).toMatchObject({ merchant_id: id, status: null, answered_at: null });
  });

  test("text that is awkward to store, and bodies that are too long, are recorded all the same", async () => {
    const id = await newMerchant();
    expect(outcome(await call("PATCH", `/merchants/${id}`, { "\0": "\0\ud800" }))).toBe("422 VALIDATION_ERROR");
    expect((await newest(1))[0]).toMatchObject({ status: 422, body: { "\0": "\0\ud800" } });
    expect(outcome(await call("POST", "/merchants", { name: "x".repeat(200_000), id: 7 }))).toBe(
      "422 VALIDATION_ERROR",
    );
    expect((await newest(1))[0]?.body).toEqual({ name: "(left out: 200002 bytes)", id: 7 });
    expect(outcome(await call("PATCH", `/merchants/${"%41".repeat(2_000)}`, {}))).toBe("404 OBJECT_NOT_FOUND");
    expect((await newest(1))[0]).toMatchObject({ status: 404, merchant_id: null });
  });
});

describe("books", () => {
  test("a clean book is clean, and one that was tampered with says where", async () => {
    const { client, merchantId } = await service.merchant();
    const created = await client.post("/v1/payments", paymentBody());
    await client.post(`/v1/sandbox/payments/${created.json.reference}/simulate`, { outcome: "succeeded" });
    const path = `/merchants/${merchantId}/books/sandbox/verify`;
    expect((await view(path)).json).toEqual({ clean: true, journals: 1 });
    expect((await view(`/merchants/${merchantId}/books/production/verify`)).json).toEqual({ clean: true, journals: 0 });
    await asOwner(service.database, async (owner) => {
      await owner.query("alter table journals disable trigger journals_append_only");
      await owner.query("update journals set kind = 'gift'");
      await owner.query("alter table journals enable trigger journals_append_only");
    });
    const reports = await Promise.all([view(path), view(path)]);
    for (const { json } of reports) {
      expect(json.clean).toBe(false);
      expect(json.wrong).toMatch(/changed after it was written/);
    }
  });
});

describe("the contract", () => {
  test("openapi/operator.json is up to date (renew it with `npx gerbang openapi --operator`)", () => {
    const committed = readFileSync(new URL("../../../openapi/operator.json", import.meta.url), "utf8");
    expect(committed).toBe(service.app.contracts.operator());
  });
});
