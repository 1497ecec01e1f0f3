// Goal: no browser, proxy or history keeps an answer that is for somebody: only contracts, static files and logos may be kept. Method: every route
// of both listeners is asked by somebody who may and by nobody, and each kind of route has its one header.
import type { FastifyInstance } from "fastify";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../e2e/kit/client.ts";
import { pngOf } from "../test/files.ts";
import { OPERATOR_TOKEN, type TestService, paymentBody, startService } from "../test/kit.ts";
import { type Browser, joins } from "../test/portal.ts";

const NEVER = "no-store";
const FOR_GOOD = "public, max-age=31536000, immutable";
/** What may be kept, by its path. Everything else never. Pages are asked about each time; where they are not built the answer says so, once. */
const kinds: [RegExp, readonly string[]][] = [
  [/^(\/portal\/v1|\/ops\/v1)?\/openapi\.json$/, ["public, max-age=300"]],
  [/^\/portal\/v1\//, [NEVER]],
  [/^\/(portal|console|docs)(\/.*)?$/, ["no-cache", FOR_GOOD, NEVER]],
  [/^\/llms(-full)?\.txt$/, ["no-cache", NEVER]],
  [/^\/status(\.json|\.rss)?$/, ["public, max-age=10", "public, max-age=2"]],
  [/^\/status\//, [FOR_GOOD, NEVER]],
];
const kindOf = (path: string): readonly string[] => kinds.find(([pattern]) => pattern.test(path))?.[1] ?? [NEVER];

let service: TestService;
let merchantId: string;
let client: Client;
let owner: Browser;
beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { unauthenticatedLimitPerMinute: 100_000 } });
  ({ client, merchantId } = await service.merchant());
  owner = await joins(service, merchantId);
});
afterAll(() => service.stop());

/** Every route of a server, by what its framework prints of them: a tree of parts of paths, each with its methods. */
function routesOf(server: FastifyInstance): { path: string; methods: string[] }[] {
  const above: string[] = [];
  return server
    .printRoutes({ commonPrefix: false })
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, indent = "", part = "", methods = ""] = /^([│ ]*)[├└]── (.+) \(([A-Z, ]+)\)$/.exec(line) ?? [];
      const depth = indent.length / 4;
      above.splice(depth, above.length, part);
      return { path: above.join(""), methods: methods.split(", ") };
    });
}

/** A path of the route, with something in the place of each of its parameters. */
const pathOf = (route: string): string => route.replaceAll(/:\w+(\(.*?\+\$\))?/g, "x").replace("*", "x");

async function headersOf(url: string, method: string, headers: Record<string, string>): Promise<Headers> {
  const { headers: answered, body } = await fetch(url, { method, headers, redirect: "manual" });
  await body?.cancel();
  return answered;
}

test("every route's answers may be kept as its kind says, whoever asks", async () => {
  const servers: [FastifyInstance, string][] = [
    [service.app.server, service.origin],
    [service.app.operatorServer, service.operatorOrigin],
  ];
  let asked = 0;
  for (const [server, origin] of servers) {
    for (const { path: route, methods } of routesOf(server)) {
      const path = pathOf(route);
      for (const method of methods) {
        const mayBe = kindOf(path);
        const nobody = await headersOf(origin + path, method, {});
        expect(mayBe, `${method} ${path}`).toContain(nobody.get("cache-control"));
        if (method === "GET" || method === "HEAD") {
          const somebody = await headersOf(origin + path, method, {
            ...(path.startsWith("/v1/") ? client.headers("") : {}),
            ...(path.startsWith("/ops/") ? { authorization: `Bearer ${OPERATOR_TOKEN}` } : {}),
            cookie: owner.cookie ?? "",
            "x-merchant-id": merchantId,
            "x-environment": "sandbox",
          });
          expect(mayBe, `${method} ${path}, by somebody`).toContain(somebody.get("cache-control"));
        }
        asked++;
      }
    }
  }
  expect(asked).toBeGreaterThan(250);
});

test("answers with secrets are never kept", async () => {
  const operate = async (method: string, path: string, body: unknown): Promise<Headers> =>
    (
      await fetch(`${service.operatorOrigin}/ops/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      })
    ).headers;
  const answers: [string, Headers][] = [
    ["a merchant", await operate("POST", "/merchants", { name: "Kopi" })],
    ["its key", await operate("POST", `/merchants/${merchantId}/credentials`, { environment: "sandbox" })],
    ["a key of its own", (await owner.post("/portal/v1/credentials", { name: "till" })).headers],
    ["a webhook's secret", (await owner.send("PUT", "/portal/v1/webhook", { url: "https://a.example/x" })).headers],
    ["a session", (await owner.get("/portal/v1/session")).headers],
    ["an invitation", (await owner.post("/portal/v1/team/invitations", { role: "viewer" })).headers],
    ["an authenticator", (await owner.post("/portal/v1/person/authenticator")).headers],
    ["a payment", (await client.post("/v1/payments", paymentBody())).headers],
  ];
  for (const [what, headers] of answers) expect(headers.get("cache-control"), what).toBe(NEVER);
});

test("a payer's page is never kept, and tells its address to no other site, whatever it answers", async () => {
  const { json } = await client.post("/v1/payments", paymentBody({ payment_method: "ewallet" }));
  const page = String(json.instructions.redirect_url);
  const { origin } = new URL(page);
  for (const [url, method, status] of [
    [page, "GET", 200],
    [page, "HEAD", 200],
    [page, "POST", 303],
    [`${origin}/pay/x`, "GET", 404],
    [`${origin}/pay/x`, "POST", 404],
    [`${page}x`, "GET", 404],
  ] as const) {
    const answer = await fetch(url, { method, redirect: "manual" });
    const { headers } = answer;
    await answer.body?.cancel();
    expect([answer.status, headers.get("cache-control"), headers.get("referrer-policy")], `${method} ${url}`).toEqual([
      status,
      NEVER,
      "no-referrer",
    ]);
  }
});

test("a logo is kept for good; the answer that it is not there is not", async () => {
  const { json } = await owner.send("PUT", "/portal/v1/settings/logo", {
    picture: pngOf(320, 96).toString("base64"),
  });
  const logo = service.origin + String(json.logo.url);
  expect((await headersOf(logo, "GET", {})).get("cache-control")).toBe(FOR_GOOD);
  expect((await headersOf(`${logo}0`, "GET", {})).get("cache-control")).toBe(NEVER);
});

test("what no route answers is never kept either: unknown paths, wrong methods, bytes that are not HTTP", async () => {
  for (const [path, method] of [
    ["/nowhere", "GET"],
    ["/openapi.json", "POST"],
    ["/portal/assets/gone.js", "GET"],
    ["/v1/payments/%zz", "GET"],
  ] as const)
    expect((await headersOf(service.origin + path, method, {})).get("cache-control"), path).toBe(NEVER);
  const socket = connect(Number(new URL(service.origin).port), "127.0.0.1");
  socket.write("this is no HTTP\r\n\r\n");
  expect(await text(socket)).toMatch(/^cache-control: no-store\r$/im);
});
