// Goal: a change comes from our own page, in the browser of the person who is signed in, and from nobody too often. Method: the door over headers
// and sessions that the tests give; the portal's and the console's tests have the pages.
import type { FastifyReply, FastifyRequest } from "fastify";
import { describe, expect, test } from "vitest";
import { movableClock } from "../../test/acquiring.ts";
import { SECOND } from "../ground/clock.ts";
import type { SignedIn } from "../people/sessions.ts";
import { PersonDoor, type PersonDoorParts, headerOf } from "./door.ts";

const OURS = "https://pay.example";
const TOKEN = "a".repeat(43);
const signedIn = { person: { personId: "per_1" }, session: { sessionId: "ses_1" } } as SignedIn;

function aDoor({ hasManyNames = false, secure = true, isFresh = true } = {}) {
  const clock = movableClock();
  const sessions = {
    signedIn: (token: string) => Promise.resolve(token === TOKEN ? signedIn : undefined),
    isFresh: () => isFresh,
  };
  const parts = {
    sessions,
    clock,
    cookie: { name: "session", secure },
    origins: () => (hasManyNames ? undefined : [OURS]),
  };
  return { door: new PersonDoor(parts as unknown as PersonDoorParts), clock };
}

const asking = (headers: Record<string, string | undefined>, distinct: Record<string, string[]> = {}): FastifyRequest =>
  ({ headers, raw: { headersDistinct: distinct } }) as unknown as FastifyRequest;

describe("a change", () => {
  const page = { origin: OURS, "sec-fetch-site": "same-origin", host: "10.0.0.7:8080" };

  test.each<[string, Record<string, string | undefined>, boolean]>([
    ["our own page", page, true],
    ["a page of another site", { ...page, origin: "https://evil.example", "sec-fetch-site": "cross-site" }, false],
    ["a page of another origin of our site", { ...page, "sec-fetch-site": "same-site" }, false],
    ["a browser that says only that it is the same origin", { ...page, origin: undefined }, false],
    ["a browser that says only the origin", { ...page, "sec-fetch-site": undefined }, false],
    ["another origin that calls itself the same", { ...page, origin: "https://evil.example" }, false],
    ["our name without https", { ...page, origin: "http://pay.example" }, false],
    ["an address that somebody typed", { ...page, "sec-fetch-site": "none" }, false],
    ["a frame without an origin", { ...page, origin: "null" }, false],
    ["a program", {}, false],
  ])("from %s: %o", (_what, headers, isOurs) => {
    const { door } = aDoor();
    const change = () => door.refuseForeign(asking(headers));
    if (isOurs) change();
    else expect(change).toThrow(expect.objectContaining({ code: "FORBIDDEN" }));
  });

  test("to a service of many names comes from the name that was asked", () => {
    const { door } = aDoor({ hasManyNames: true, secure: false });
    const from = (origin: string) => asking({ ...page, origin, host: "10.0.0.7:8080" });
    door.refuseForeign(from("http://10.0.0.7:8080"));
    for (const other of ["https://10.0.0.7:8080", "http://10.0.0.7", OURS])
      expect(() => door.refuseForeign(from(other))).toThrow(expect.objectContaining({ code: "FORBIDDEN" }));
    const other = aDoor({ hasManyNames: true }).door;
    other.refuseForeign(from("https://10.0.0.7:8080"));
  });
});

test.each<[Record<string, string>, boolean]>([
  [{}, false],
  [{ "user-agent": "curl" }, false],
  [{ origin: "https://evil.example" }, true],
  [{ "sec-fetch-site": "cross-site" }, true],
  [{ cookie: "session=x" }, true],
])("with %o a browser sent it: %s", (headers, isFromPage) => {
  expect(aDoor().door.isFromPage(asking(headers))).toBe(isFromPage);
});

describe("a person", () => {
  const cookie = `session=${TOKEN}`;

  test.each<[string, Record<string, string>, Record<string, string[]>, string]>([
    ["is signed in by the cookie", { cookie }, {}, "per_1"],
    ["is the one that the page shows", { cookie }, { "x-person-id": ["per_1"] }, "per_1"],
    ["is not the one that the page shows", { cookie }, { "x-person-id": ["per_2"] }, "UNAUTHORIZED"],
    ["has a session that is over", { cookie: "session=old" }, {}, "UNAUTHORIZED"],
    ["has no session", {}, {}, "UNAUTHORIZED"],
    ["has two cookies, of which one was planted", { cookie: `${cookie}; session=x` }, {}, "UNAUTHORIZED"],
  ])("who %s", async (_what, headers, distinct, found) => {
    const request = asking(headers, distinct);
    const person = aDoor().door.person(request);
    const code = await person.then(
      (one) => one.person.personId,
      (error: { code: string }) => error.code,
    );
    expect([code, request.actor]).toEqual([found, found === "per_1" ? "per_1" : undefined]);
  });

  test("is let in three hundred times a minute, and each request is counted as that of somebody known", () => {
    const { door, clock } = aDoor();
    let proven = 0;
    const reply = { proven: () => void proven++ } as unknown as FastifyReply;
    for (let count = 0; count < 300; count++) door.enterAlone(signedIn, reply);
    expect(reply.rate).toMatchObject({ limit: 300, remaining: 0 });
    expect(() => door.enterAlone(signedIn, reply)).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
    door.enterAlone({ person: { ...signedIn.person, personId: "per_2" } }, reply);
    clock.at += 60 * SECOND;
    door.enterAlone(signedIn, reply);
    expect(proven).toBe(303);
  });

  test("proves who they are again once the last proof is old", () => {
    aDoor().door.refuseUnlessFresh(signedIn);
    const { door } = aDoor({ isFresh: false });
    expect(() => door.refuseUnlessFresh(signedIn)).toThrow(expect.objectContaining({ code: "PROOF_REQUIRED" }));
  });
});

test.each([
  [undefined, undefined],
  [["a"], "a"],
  [["a", "b"], undefined],
])("a header that was sent as %o is %s", (sent, value) => {
  expect(headerOf(asking({}, sent ? { "x-merchant-id": sent } : {}), "x-merchant-id")).toBe(value);
});
