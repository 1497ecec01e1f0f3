// Goal: a named token opens what its role may do until it ends, in every process within a second; it is kept as a digest, and nobody makes one that
// can do more, or for longer, than their own. Method: two services on one database, a clock that the tests move, and statements against the table.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Answer, readAnswer } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, asOwner, openDatabase, startService } from "../../test/kit.ts";
import { operates } from "../../test/portal.ts";
import { SECOND } from "../ground/clock.ts";
import { createLog } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import { COMMAND_LINE } from "./known-tokens.ts";
import { LastUses } from "../store/last-uses.ts";
import { recordTokenUses } from "./tokens.sql.ts";
import { LIVE_TOKENS_MAX, OperatorTokens } from "./tokens.ts";

let service: TestService;
let other: TestService;
let database: Database;
let now = 1_900_000_000 * SECOND;
const clock = { now: () => now };

beforeAll(async () => {
  service = await startService({ roles: ["api"], clock });
  other = await startService({ roles: ["api"], clock, database: service.database });
  database = openDatabase(service.database);
});
afterAll(async () => {
  await database.end();
  await other.stop();
  await service.stop();
});

async function call(
  method: string,
  path: string,
  token = OPERATOR_TOKEN,
  body?: unknown,
  at = service,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return readAnswer(await fetch(`${at.operatorOrigin}/ops/v1${path}`, { method, headers, ...sent }));
}

const outcome = ({ status, json }: Answer): string => {
  const field = json.error?.details?.field as string | undefined;
  return status < 300 ? String(status) : `${status} ${json.error.code}${field === undefined ? "" : ` ${field}`}`;
};
const reads = async (token: string, at = service): Promise<string> =>
  outcome(await call("GET", "/acquirers", token, undefined, at));

let made = 0;
/** A new token of a name of its own. */
async function create(
  terms: Record<string, unknown> = {},
  by = OPERATOR_TOKEN,
): Promise<{ name: string; token: string; id: string }> {
  const answer = await call("POST", "/tokens", by, { name: `token-${++made}`, ...terms });
  expect(outcome(answer)).toBe("201");
  return { name: answer.json.name, token: answer.json.token, id: answer.json.token_id };
}

describe("a token", () => {
  test("is 160 random bits behind op_, a viewer's unless said otherwise, and opens both processes at once", async () => {
    const answer = await call("POST", "/tokens", OPERATOR_TOKEN, { name: "sari" });
    expect(answer.json).toMatchObject({ name: "sari", role: "viewer", created_by: "environment", expires_at: null });
    const { token } = answer.json as { token: string };
    expect(token).toMatch(/^op_[0-9a-hjkmnp-tv-z]{38,}$/);
    expect([await reads(token), await reads(token, other)]).toEqual(["200", "200"]);
    expect(outcome(await call("POST", "/merchants", token, { name: "Toko" }))).toBe("403 FORBIDDEN");
  });

  test("is nowhere but in the answer: neither in the list, nor in the database, nor in the audit", async () => {
    const { token } = await create({ role: "admin" });
    expect((await call("GET", "/tokens")).text).not.toContain(token);
    const rows = await asOwner(service.database, (client) =>
      client.query("select t.*, a.* from operator_tokens t cross join operator_audit a"),
    );
    expect(rows.rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows.rows)).not.toContain(token.slice(3));
    const { token: rotated } = (await call("POST", "/tokens/sari/rotate", OPERATOR_TOKEN, {})).json as {
      token: string;
    };
    expect((await call("GET", "/audit")).text).not.toContain(rotated);
  });

  test("that is wrong by one character, cut, longer, or another's digest opens nothing", async () => {
    const { token } = await create();
    const [row] = (
      await asOwner(service.database, (client) =>
        client.query<{ digest: string }>("select encode(digest, 'hex') as digest from operator_tokens limit 1"),
      )
    ).rows;
    const changed = `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`;
    for (const wrong of [changed, token.slice(0, -1), `${token}0`, token.toUpperCase(), row?.digest ?? "", "op_"])
      expect(await reads(wrong), wrong).toBe("401 UNAUTHORIZED");
  });

  test("that was revoked opens nothing within a second, in every process", async () => {
    const { name, token } = await create({ role: "admin" });
    expect([await reads(token), await reads(token, other)]).toEqual(["200", "200"]);
    expect((await call("DELETE", `/tokens/${name}`)).json).toEqual({ name, revoked: true });
    const revokedAt = performance.now();
    expect(await reads(token)).toBe("401 UNAUTHORIZED");
    for (;;) {
      const sentAt = performance.now();
      if ((await reads(token, other)) === "401 UNAUTHORIZED") break;
      expect(sentAt - revokedAt).toBeLessThan(1_000);
    }
    expect(outcome(await call("DELETE", `/tokens/${name}`))).toBe("404 OBJECT_NOT_FOUND");
  });

  test("that expires is good until then, and its name is free afterwards", async () => {
    const { name, token } = await create({ expires_in: 60 });
    now += 59 * SECOND;
    expect(await reads(token)).toBe("200");
    expect(outcome(await call("POST", "/tokens", OPERATOR_TOKEN, { name }))).toBe("422 VALIDATION_ERROR name");
    now += SECOND;
    expect([await reads(token), await reads(token, other)]).toEqual(["401 UNAUTHORIZED", "401 UNAUTHORIZED"]);
    expect(outcome(await call("POST", `/tokens/${name}/rotate`, OPERATOR_TOKEN, {}))).toBe("404 OBJECT_NOT_FOUND");
    const again = await create({ name });
    expect([await reads(again.token), await reads(token)]).toEqual(["200", "401 UNAUTHORIZED"]);
  });

  test("is told with when and from where it was last used", async () => {
    const { id, token } = await create();
    const uses = new LastUses<{ tokenId: string }>({
      database,
      clock,
      log: createLog("silent"),
      record: recordTokenUses,
    });
    const lastUse = async (): Promise<unknown> => {
      const { data } = (await call("GET", "/tokens")).json as { data: Record<string, unknown>[] };
      return data.find((one) => one.token_id === id)?.last_used_from;
    };
    expect(await lastUse()).toBeNull();
    for (const address of ["203.0.113.1", "203.0.113.2"]) {
      now += SECOND;
      uses.note(id, { tokenId: id }, address);
      await uses.write();
      expect(await lastUse()).toBe(address);
    }
    expect(await reads(token)).toBe("200");
  });
});

describe("rotation", () => {
  test("without an overlap ends the secret before at once", async () => {
    const { name, token } = await create({ role: "support" });
    now += SECOND;
    const rotated = (await call("POST", `/tokens/${name}/rotate`, OPERATOR_TOKEN, {})).json;
    expect(rotated).toMatchObject({ name, role: "support" });
    const { data } = (await call("GET", "/tokens?limit=2")).json as { data: Record<string, unknown>[] };
    expect(data.map(({ revoked_at: at }) => at)).toEqual([null, expect.any(String)]);
    expect([await reads(token), await reads(rotated.token)]).toEqual(["401 UNAUTHORIZED", "200"]);
  });

  test("with an overlap keeps it so long; the next one shortens it, and a revocation ends all", async () => {
    const { name, token } = await create();
    const rotate = async (overlap_seconds?: number): Promise<string> =>
      (await call("POST", `/tokens/${name}/rotate`, OPERATOR_TOKEN, { ...(overlap_seconds && { overlap_seconds }) }))
        .json.token;
    const second = await rotate(3_600);
    const third = await rotate(60);
    expect(await Promise.all([token, second, third].map((one) => reads(one)))).toEqual(["200", "200", "200"]);
    now += 60 * SECOND;
    expect(await Promise.all([token, second, third].map((one) => reads(one)))).toEqual([
      "401 UNAUTHORIZED",
      "401 UNAUTHORIZED",
      "200",
    ]);
    const fourth = await rotate(600);
    await call("DELETE", `/tokens/${name}`);
    expect(await Promise.all([third, fourth].map((one) => reads(one)))).toEqual([
      "401 UNAUTHORIZED",
      "401 UNAUTHORIZED",
    ]);
  });

  test("by two at once leaves one good secret", async () => {
    const { name } = await create();
    const answers = await Promise.all([1, 2, 3].map(() => call("POST", `/tokens/${name}/rotate`, OPERATOR_TOKEN, {})));
    expect(answers.map(outcome)).toEqual(["200", "200", "200"]);
    const opened = await Promise.all(answers.map(({ json }) => reads(json.token as string)));
    expect(opened.filter((one) => one === "200")).toHaveLength(1);
  });
});

describe("what is refused", () => {
  test.each([
    ["a name of the environment", { name: "environment" }, "name"],
    ["the viewer's of the environment", { name: "environment-viewer" }, "name"],
    ["the command line's name", { name: "command-line" }, "name"],
    ["capitals", { name: "Sari" }, "name"],
    ["a space", { name: "a b" }, "name"],
    ["a name that is too long", { name: "a".repeat(41) }, "name"],
    ["a line's end", { name: "sari\n" }, "name"],
    ["no name", {}, "name"],
    ["another role", { name: "x", role: "root" }, "role"],
    ["a moment of life", { name: "x", expires_in: 59 }, "expires_in"],
    ["more than ten years", { name: "x", expires_in: 315_360_001 }, "expires_in"],
    ["a secret of one's own", { name: "x", token: "op_mine" }, "token"],
  ])("%s", async (_what, body, field) => {
    expect(outcome(await call("POST", "/tokens", OPERATOR_TOKEN, body))).toBe(`422 VALIDATION_ERROR ${field}`);
  });

  test("ending or rotating a token of the environment", async () => {
    for (const name of ["environment", "environment-viewer", "nobody", "%00", "..", "__proto__"]) {
      expect(outcome(await call("DELETE", `/tokens/${name}`)), name).toMatch(/^404 /);
      expect(outcome(await call("POST", `/tokens/${name}/rotate`, OPERATOR_TOKEN, {})), name).toMatch(/^404 /);
    }
    expect(await reads(OPERATOR_TOKEN)).toBe("200");
  });

  test("an overlap that is none, or longer than a month", async () => {
    const { name } = await create();
    for (const overlap_seconds of [-1, 1.5, "60", null, 2_592_001])
      expect(outcome(await call("POST", `/tokens/${name}/rotate`, OPERATOR_TOKEN, { overlap_seconds }))).toBe(
        "422 VALIDATION_ERROR overlap_seconds",
      );
  });

  test("a life longer than that of the token that asks, new or by rotating another", async () => {
    const { token: short, name } = await create({ role: "admin", expires_in: 3_600 });
    const { name: forever } = await create({ role: "viewer" });
    const ask = async (path: string, body: unknown): Promise<string> => outcome(await call("POST", path, short, body));
    const tooLong = "422 VALIDATION_ERROR expires_in";
    expect(await ask("/tokens", { name: "longer" })).toBe(tooLong);
    expect(await ask("/tokens", { name: "longer", expires_in: 3_601 })).toBe(tooLong);
    expect(await ask(`/tokens/${forever}/rotate`, {})).toBe(tooLong);
    expect(await ask("/tokens", { name: "shorter", expires_in: 3_600 })).toBe("201");
    const rotated = (await call("POST", `/tokens/${name}/rotate`, short, { overlap_seconds: 600 })).json;
    now += 3_600 * SECOND;
    expect(await reads(rotated.token)).toBe("401 UNAUTHORIZED");
  });

  test("a person's role by a token that ends: theirs does not; but taking from it is not refused", async () => {
    const { token: short } = await create({ role: "admin", expires_in: 3_600 });
    const ask = async (method: string, path: string, role: string, by = short): Promise<string> =>
      outcome(await call(method, `/operators${path}`, by, { role }));
    expect(await ask("POST", "/invitations", "viewer")).toBe("403 FORBIDDEN");
    expect((await call("GET", "/operators/invitations")).json.data).toEqual([]);
    const person = await operates(service, "support");
    const id = (await person.get("/ops/v1/session")).json.person.person_id as string;
    expect(await ask("PATCH", `/${id}`, "admin")).toBe("403 FORBIDDEN");
    expect(await ask("PATCH", `/${id}`, "viewer")).toBe("200");
    expect(await ask("PATCH", `/${id}`, "support")).toBe("403 FORBIDDEN");
    expect(await ask("PATCH", "/prs_0", "admin")).toBe("404 OBJECT_NOT_FOUND");
    expect(await ask("PATCH", `/${id}`, "admin", OPERATOR_TOKEN)).toBe("200");
  });

  test("a role above the maker's, whoever let them ask", async () => {
    const tokens = new OperatorTokens({ database, clock, changed: () => Promise.resolve() });
    const support = { ...COMMAND_LINE, name: "ani", role: "support" } as const;
    const terms = { name: "risen", role: "admin", expiresAt: undefined } as const;
    await expect(tokens.create(terms, support)).rejects.toMatchObject({ code: "FORBIDDEN" });
    const { name } = await create({ role: "admin" });
    await expect(tokens.rotate(name, 0, support)).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  test("a second token of a name, asked for by two at once", async () => {
    const answers = await Promise.all([1, 2].map(() => call("POST", "/tokens", OPERATOR_TOKEN, { name: "twins" })));
    expect(answers.map(outcome).sort()).toEqual(["201", "422 VALIDATION_ERROR name"]);
  });

  test("more tokens than every process holds in memory, of those that are good still", async () => {
    const insert = `insert into operator_tokens (token_id, name, role, digest, created_at, created_by, expires_at)
select gen_random_uuid(), $1 || n, 'viewer', sha256(gen_random_uuid()::text::bytea), now(), 'test', $3 from generate_series(1, $2) n`;
    const revoke = (which: string) =>
      asOwner(service.database, (client) =>
        client.query(`update operator_tokens set revoked_at = now() where revoked_at is null and ${which}`),
      );
    await revoke("true");
    await asOwner(service.database, async (client) => {
      await client.query(insert, ["gone-", 5, new Date(now / 1_000 - 1)]);
      await client.query(insert, ["many-", LIVE_TOKENS_MAX - 1, null]);
    });
    const next = async (name: string): Promise<string> =>
      outcome(await call("POST", "/tokens", OPERATOR_TOKEN, { name }));
    expect(await next("last")).toBe("201");
    expect(await next("one-more")).toBe("422 VALIDATION_ERROR name");
    await revoke("name = 'many-1'");
    expect(await next("one-more")).toBe("201");
    await revoke("created_by = 'test'");
  });
});

test("the list is newest first, page by page, those that ended too", async () => {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const { json } = await call("GET", `/tokens?limit=100${cursor === null ? "" : `&starting_after=${cursor}`}`);
    found.push(...(json.data as { token_id: string }[]).map(({ token_id }) => token_id));
    cursor = json.next_cursor as string | null;
  } while (cursor !== null);
  expect(new Set(found).size).toBe(found.length);
  expect(outcome(await call("GET", `/tokens?starting_after=otk_${"0".repeat(26)}`))).toBe(
    "422 VALIDATION_ERROR starting_after",
  );
});

test("the service's role in the database can end a token, and neither raise one, revive one nor delete one", async () => {
  const { name } = await create({ expires_in: 3_600 });
  const where = ` where name = '${name}'`;
  for (const change of ["role = 'admin'", "digest = sha256('x')", "name = 'other'", "created_by = 'other'"])
    await expect(database.query({ text: `update operator_tokens set ${change}${where}` }), change).rejects.toThrow(
      "permission denied",
    );
  await expect(database.query({ text: `delete from operator_tokens${where}` })).rejects.toThrow("permission denied");
  await database.query({ text: `update operator_tokens set revoked_at = now()${where}` });
  for (const change of ["revoked_at = null", "expires_at = null", "expires_at = now() + interval '90 years'"])
    await expect(database.query({ text: `update operator_tokens set ${change}${where}` }), change).rejects.toThrow(
      "a token only ends",
    );
  const owner = (text: string): Promise<unknown> => asOwner(service.database, (client) => client.query(text));
  await expect(owner(`update operator_tokens set role = 'admin'${where}`)).rejects.toThrow("a token only ends");
  await expect(owner(`delete from operator_tokens${where}`)).rejects.toThrow("append-only");
  const insert =
    "insert into operator_tokens (token_id, name, role, digest, created_at, created_by) values (gen_random_uuid(), 'environment', 'admin', sha256('x'), now(), 'x')";
  await expect(database.query({ text: insert })).rejects.toThrow("operator_tokens_reserved");
});

test("a token that a process has not seen used is let through at an address that others have used up", async () => {
  const { token } = await create();
  const config = { unauthenticatedLimitPerMinute: 10 };
  const own = await startService({ roles: ["api"], clock, database: service.database, config });
  try {
    const headers = { cookie: "session=none" };
    const stranger = async (): Promise<number> =>
      (await fetch(`${own.operatorOrigin}/ops/v1/audit`, { headers })).status;
    await vi.waitFor(async () => expect(await stranger()).toBe(429), { timeout: 30_000 });
    await vi.waitFor(async () => expect(await reads(token, own)).toBe("200"), { timeout: 30_000 });
  } finally {
    await own.stop();
  }
});

test("while the database is away the environment's token is still known, and others are told to come back", async () => {
  const { token } = await create();
  const own = await startService({ roles: ["api"], clock, database: service.database });
  vi.spyOn(own.app.databases.operators, "query").mockRejectedValue(new Error("away"));
  try {
    await vi.waitFor(async () => expect(await reads(token, own)).toBe("503 SERVICE_UNAVAILABLE"), { timeout: 30_000 });
    expect(await reads("op_wrong", own)).toBe("503 SERVICE_UNAVAILABLE");
    expect((await reads(OPERATOR_TOKEN, own)).slice(0, 3)).not.toBe("401");
  } finally {
    vi.restoreAllMocks();
    await own.stop();
  }
});
