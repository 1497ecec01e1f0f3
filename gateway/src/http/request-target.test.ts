// Goal: every spelling of a target is brought to one form, and no two that mean different things to the same. Method: a table; properties over
// generated targets beside the framework's own decoding; the service over a bare socket, where routes, replays and logs show it.
import { connect } from "node:net";
import fc from "fast-check";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bareServer } from "../../test/bare-server.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import type { Acquirer, Message } from "../acquirers/acquirer.ts";
import { Fault } from "../ground/fault.ts";
import { canonicalTarget } from "./request-target.ts";
import { computing, slowness } from "../../test/slowness.ts";

test.each([
  ["as it should be", "/v1/payments?limit=5&status=paid", "/v1/payments?limit=5&status=paid"],
  ["an unreserved letter", "/v1/%62alances", "/v1/balances"],
  ["every kind of unreserved character", "/%41%7a%30%2d%2E%5f%7E", "/Az0-._~"],
  ["the hex of other escapes", "/v1/payments/a%2fb%c3%a9", "/v1/payments/a%2Fb%C3%A9"],
  ["a slash that is none", "/v1%2Fbalances", "/v1%2Fbalances"],
  ["an escape of an escape", "/v1/%2562alances", "/v1/%2562alances"],
  ["an empty query", "/v1/balances?", "/v1/balances"],
  ["a query of nothing", "/v1/balances?&&", "/v1/balances"],
  ["nothing between two pairs", "/v1/payments?&a=1&&b=2&", "/v1/payments?a=1&b=2"],
  ["a query of a question mark", "/v1/balances??", "/v1/balances??"],
  ["the query too", "/v1/payments?re%66erence_id=%61%2b", "/v1/payments?reference_id=a%2B"],
  ["what should have been escaped", '/v1/payments?reference_id="a|b"', "/v1/payments?reference_id=%22a%7Cb%22"],
  ["a fragment, which no request has", "/v1/balances#top", "/v1/balances%23top"],
  ["absolute form", "http://shop.test/v1/balances", "/v1/balances"],
  ["absolute form with a query alone", "https://shop.test?limit=5", "/?limit=5"],
  ["absolute form with nothing", "HTTP://shop.test", "/"],
  ["absolute form, spelt otherwise", "http://shop.test:80/v1/%62alances?", "/v1/balances"],
  ["absolute form without a host", "http:///v1/balances", "http:///v1/balances"],
  ["absolute form of a broken host", "http://[::/v1/balances", "http://[::/v1/balances"],
  ["a fragment for a host", "http://#/v1/balances", "http://#/v1/balances"],
  ["another scheme", "ftp://shop.test/v1/balances", "ftp://shop.test/v1/balances"],
  ["asterisk form", "*", "*"],
  ["a broken escape in the path", "/v1/%62alances/%zz", "/v1/%62alances/%zz"],
  ["a broken escape that a decoding would repair", "/v1/%%36%32alances", "/v1/%%36%32alances"],
  ["a broken escape at the end", "/v1/%", "/v1/%"],
  ["a broken escape in the query alone", "/v1/%62alances?a=%%361", "/v1/balances?a=%%361"],
  ["bytes that are no UTF-8", "/v1/%fF", "/v1/%FF"],
])("%s: %s", (_name, sent, expected) => {
  expect(canonicalTarget(sent)).toBe(expected);
});

test.each(["?", "&", "?&a", "&&", "%", "%3f", "=", "/?", "#"])(
  "a target of many %s takes no longer than any other of its length",
  (piece) => {
    // Quadratic, it took 13 s; a line of any length passes here, whatever the edge would take.
    const took = computing(() => void canonicalTarget(`/${piece.repeat(150_000 / piece.length)}`));
    expect(took).toBeLessThan(2_000 * slowness());
  },
);

describe("over generated targets", () => {
  const piece = fc.oneof(
    fc.stringMatching(/^[!-~]$/),
    fc.constantFrom("%2F", "%2f", "%25", "%62", "%7E", "%c3%a9", "%3F", "%23", "a", "/", "?"),
    fc.nat({ max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, "0")}`),
  );
  const target = fc.array(piece, { maxLength: 20 }).map((pieces) => `/${pieces.join("")}`);

  test("the form of a form is itself", () => {
    fc.assert(
      fc.property(target, (sent) => {
        expect(canonicalTarget(canonicalTarget(sent))).toBe(canonicalTarget(sent));
      }),
    );
  });

  test("what is decoded from it, part by part, is what is decoded from what was sent", () => {
    const decoded = (text: string): string[][] | undefined => {
      const [path = "", ...query] = text.replaceAll("#", "%23").split("?");
      try {
        const pairs = query
          .join("?")
          .split("&")
          .filter((pair) => pair !== "");
        return [path.split("/"), ...pairs.map((pair) => pair.split("="))].map((parts) => parts.map(decodeURIComponent));
      } catch {
        return undefined;
      }
    };
    fc.assert(
      fc.property(target, (sent) => {
        const meant = decoded(sent);
        fc.pre(meant !== undefined);
        expect(decoded(canonicalTarget(sent))).toEqual(meant);
      }),
    );
  });

  test("each unreserved character may be escaped in either case, and nothing else changes the form", () => {
    const plain = fc.stringMatching(/^\/[\w.~!$&'()*+,;=:@/-]{0,30}$/);
    fc.assert(
      fc.property(plain, fc.array(fc.boolean(), { minLength: 31, maxLength: 31 }), (form, escapes) => {
        const spelt = [...form]
          .map((character, index) =>
            /[\w.~-]/.test(character) && escapes[index]
              ? `%${character.charCodeAt(0).toString(16)[index % 2 ? "toLowerCase" : "toUpperCase"]()}`
              : character,
          )
          .join("");
        expect(canonicalTarget(spelt)).toBe(form);
      }),
    );
  });
});

describe("over HTTP", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ roles: ["api"] });
  });
  afterAll(() => service.stop());

  /** Status and code of a GET of exactly this target. */
  async function get(target: string, headers: Record<string, string>): Promise<string> {
    const { hostname, port } = new URL(service.origin);
    const lines = Object.entries({ host: "x", connection: "close", ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    const socket = connect(Number(port), hostname);
    socket.write([`GET ${target} HTTP/1.1`, ...lines, "", ""].join("\r\n"), "latin1");
    const text = (await socket.toArray()).join("");
    const [, code] = /"code":"([A-Z_]+)"/.exec(text) ?? [];
    const status = text.split(" ")[1] ?? "";
    return code === undefined ? status : `${status} ${code}`;
  }

  test.each(["/v1/%62alances", "/v1/balances?", "http://anything.test/v1/balances", "/v1/b%61l%61nces?"])(
    "%s is answered like /v1/balances, and is the same request to replay protection",
    async (spelling) => {
      const { client } = await service.merchant();
      const headers = client.headers("");
      expect(await get("/v1/balances", headers)).toBe("200");
      expect(await get(spelling, headers)).toBe("401 SIGNATURE_REPLAYED");
      const others = client.headers("");
      expect(await get(spelling, others)).toBe("200");
      expect(await get("/v1/balances", others)).toBe("401 SIGNATURE_REPLAYED");
    },
  );

  test.each([
    ["/v1/%2562alances", "404 ROUTE_NOT_FOUND"],
    ["/v1%2Fbalances", "404 ROUTE_NOT_FOUND"],
    ["/v1/payments/%zz", "404 ROUTE_NOT_FOUND"],
    ["/v1/payments/%ff", "404 ROUTE_NOT_FOUND"],
    ["/v1/balances#x", "404 ROUTE_NOT_FOUND"],
    ["/v1/payments/pay_1%2Fcancel", "404 PAYMENT_NOT_FOUND"],
    ["/v1/payments/pay_1%2562", "404 PAYMENT_NOT_FOUND"],
  ])("%s is no other path: %s", async (target, expected) => {
    const { client } = await service.merchant();
    expect(await get(target, client.headers(""))).toBe(expected);
  });

  test("an idempotency key is bound to the path in any of its spellings", async () => {
    const { client } = await service.merchant();
    const { reference } = (await client.post("/v1/payments", paymentBody())).json;
    const key = "one-cancel-two-spellings";
    const first = await client.post(`/v1/payments/${reference}/cancel`, {}, { key });
    const spelt = await client.post(`/v1/payments/${reference.replace("pay_", "%70ay%5f")}/cancel`, {}, { key });
    expect([first.status, spelt.status, spelt.headers.get("x-idempotent-replay")]).toEqual([200, 200, "true"]);
    expect(spelt.text).toBe(first.text);
  });
});

test("an acquirer's notification is held against the target as the acquirer signed it", async () => {
  const scripted = scriptedAcquirer("rimba");
  const targets: string[] = [];
  const receive = ({ target }: Message): never => {
    targets.push(target);
    throw new Fault("SIGNATURE_INVALID");
  };
  const acquirer = { ...scripted, calls: { ...(scripted.calls as NonNullable<Acquirer["calls"]>), receive } };
  const service = await startService({ roles: ["api"], acquirers: [acquirer] });
  try {
    const target = "/acquirers/rimb%61/callbacks?from=%72imba";
    expect((await fetch(service.origin + target, { method: "POST", body: "{}" })).status).toBe(401);
    expect(targets).toEqual([target]);
  } finally {
    await service.stop();
  }
});

test("the log names the path in its one form", async () => {
  const lines: string[] = [];
  const server = bareServer({ log: pino({}, { write: (line: string) => void lines.push(line) }) });
  server.get("/things/:id", async (request) => request.url);
  const origin = await server.listen({ port: 0, host: "127.0.0.1" });
  expect(await (await fetch(`${origin}/th%69ngs/%61%2fb?`)).text()).toBe("/things/a%2Fb");
  await server.close();
  expect(lines.map((line) => (JSON.parse(line) as { path: string }).path)).toEqual(["/things/a%2Fb"]);
});
