// Goal: in production an operator without a second factor can do one thing, which is to make one. Method: the configuration as production reads it; a
// session of an admin who just joined; every operation of the contract; then the same after a code of an authenticator.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestService, startService } from "../../test/kit.ts";
import { bytesOf } from "../../test/people.ts";
import { Browser, PASSWORD } from "../../test/portal.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { readConfig } from "../ground/config.ts";
import { codeOf } from "../people/totp.ts";

const CONSOLE = "https://console.gateway.example";
const EMAIL = "ratna@gateway.example";
const production = {
  NODE_ENV: "production",
  MASTER_KEY: "3b1f6a0c9d2e47588f6b1c0d9e8a7f65443322110f0e0d0c1b2a394857667584",
  OPERATOR_TOKEN: "op_9f2c71e04d5b8a6630c1e7f2",
  BASE_URL: "https://pay.example/v1",
  DATABASE_URL: "postgres://gerbang@db.example/gerbang?sslmode=verify-full",
};

interface Operation {
  method: string;
  path: string;
  tag: string;
}

let service: TestService;
let operations: Operation[];
beforeAll(async () => {
  const config = readConfig({ ...production, CONSOLE_URL: CONSOLE, UNAUTHENTICATED_LIMIT_PER_MINUTE: "1000000" });
  service = await startService({ roles: ["api"], config });
  const { paths } = JSON.parse(service.app.contracts.operator()) as {
    paths: Record<string, Record<string, { operationId?: string; security?: unknown[]; tags?: string[] }>>;
  };
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId, security }]) => operationId !== undefined && security?.length !== 0)
      .map(([method, { tags }]) => ({ method: method.toUpperCase(), path, tag: tags?.[0] ?? "" })),
  );
});
afterAll(() => service.stop());

/** An operator who joined by a link, and has a password alone. */
async function newcomer(email: string): Promise<Browser> {
  const browser = new Browser(service.operatorOrigin, "");
  browser.email = email;
  const { token } = await service.app.consolePeople.operators.invite({ role: "admin" }, "command-line");
  const person = { token, email, name: "Ratna Dewi", password: PASSWORD };
  const answer = await browser.post("/ops/v1/invitations/accept", person, { origin: CONSOLE });
  expect(answer.status, answer.text).toBe(200);
  const [cookie = ""] = answer.headers.getSetCookie();
  expect(cookie).toMatch(/^__Host-console-session=.*; Secure/);
  return browser;
}

/** What an operation says to somebody; a path's parts name nothing. */
async function outcome(browser: Browser, { method, path }: Pick<Operation, "method" | "path">): Promise<string> {
  const body = method === "GET" || method === "DELETE" ? undefined : {};
  const { status, json } = await browser.send(method, path.replaceAll(/\{\w+\}/g, "nobody"), body, { origin: CONSOLE });
  return `${status} ${json?.error?.code ?? ""}`.trim();
}

const account = ["Session", "Person", "Passkeys"];

test("an operator without a second factor is refused every operation, and may do all that makes one", async () => {
  const ratna = await newcomer(EMAIL);
  const { json } = await ratna.get("/ops/v1/session");
  expect(json.service.second_factor_required).toBe(true);
  expect([json.person.has_authenticator, json.person.passkeys]).toEqual([false, 0]);

  const refused = operations.filter(({ tag }) => !account.includes(tag));
  expect(refused.length).toBeGreaterThan(60);
  for (const operation of refused)
    expect(await outcome(ratna, operation), `${operation.method} ${operation.path}`).toBe("403 SECOND_FACTOR_REQUIRED");

  const own = async (method: string, path: string, body?: unknown) =>
    ratna.send(method, `/ops/v1/person${path}`, body, { origin: CONSOLE });
  const { secret } = (await own("POST", "/authenticator")).json;
  // Begun is not made.
  expect(await outcome(ratna, { method: "GET", path: "/ops/v1/acquirers" })).toBe("403 SECOND_FACTOR_REQUIRED");
  expect((await own("POST", "/authenticator/confirm", { code: "000000" })).status).toBe(422);
  expect(await outcome(ratna, { method: "GET", path: "/ops/v1/acquirers" })).toBe("403 SECOND_FACTOR_REQUIRED");
  const code = codeOf(bytesOf(secret as string), Math.floor(systemClock.now() / SECOND / 30));
  expect((await own("POST", "/authenticator/confirm", { code })).status).toBe(200);
  expect(await outcome(ratna, { method: "GET", path: "/ops/v1/acquirers" })).toBe("200");

  // Who has one keeps one.
  const { status, json: kept } = await own("DELETE", "/authenticator");
  expect([status, kept.error.code]).toEqual([422, "VALIDATION_ERROR"]);
  expect(await outcome(ratna, { method: "GET", path: "/ops/v1/acquirers" })).toBe("200");
});

test("the password alone signs in nobody who has a second factor", async () => {
  const stranger = new Browser(service.operatorOrigin, "");
  const answer = await stranger.post("/ops/v1/session", { email: EMAIL, password: PASSWORD }, { origin: CONSOLE });
  expect([answer.status, answer.json]).toEqual([200, { needs: "code" }]);
  expect(stranger.cookie).toBeUndefined();
});

test("a change that comes from any other address than CONSOLE_URL is refused, the listener's own included", async () => {
  const other = await newcomer("wulan@gateway.example");
  for (const origin of [service.operatorOrigin, "http://console.gateway.example", "https://pay.example"]) {
    const answer = await other.post("/ops/v1/person/authenticator", {}, { origin });
    expect([origin, answer.status, answer.json.error.code]).toEqual([origin, 403, "FORBIDDEN"]);
  }
});

test("without CONSOLE_URL nobody signs in", async () => {
  const config = readConfig({ ...production, UNAUTHENTICATED_LIMIT_PER_MINUTE: "1000000" });
  const closed = await startService({ roles: ["api"], config });
  try {
    const browser = new Browser(closed.operatorOrigin, "");
    const answer = await browser.post("/ops/v1/session", { email: EMAIL, password: PASSWORD }, { origin: CONSOLE });
    expect(answer.status).toBe(404);
    expect((await fetch(`${closed.operatorOrigin}/console/sign-in`)).status).toBe(404);
  } finally {
    await closed.stop();
  }
});
