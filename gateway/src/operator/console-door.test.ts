// Goal: an answer that lasts ends with its session, and not with the session's token, which a fresh proof replaces. Method: the door over sessions
// that are open or ended.
import type { FastifyReply, FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { movableClock } from "../../test/acquiring.ts";
import { ConsoleDoor, type ConsoleDoorParts } from "./console-door.ts";
import type { OperatorEndpoint } from "./endpoint.ts";

const person = { personId: "per_1", email: "sari@gateway.example" };
const session = { sessionId: "ses_1" };

function door(open: { token: string; sessions: { sessionId: string }[]; role?: string }): ConsoleDoor {
  const sessions = {
    signedIn: (token: string) => Promise.resolve(token === open.token ? { person, session } : undefined),
    list: (personId: string) => Promise.resolve(personId === person.personId ? open.sessions : []),
  };
  const operators = {
    read: () => Promise.resolve(open.role === undefined ? undefined : { ...person, role: open.role }),
  };
  const cookie = { name: "console", secure: false };
  const parts = { sessions, operators, cookie, clock: movableClock(), origins: () => undefined };
  return new ConsoleDoor({ ...parts, operatorsNeedSecondFactor: false } as unknown as ConsoleDoorParts);
}

const request = {
  headers: { cookie: `console=${"a".repeat(43)}` },
  raw: { headersDistinct: {} },
} as unknown as FastifyRequest;
const reply = { proven: () => undefined } as unknown as FastifyReply;
const reading = { method: "GET" } as OperatorEndpoint;

test("a session whose token a fresh proof has replaced goes on, and one that ended does not", async () => {
  const open = { token: "a".repeat(43), sessions: [session], role: "admin" };
  const console = door(open);
  expect(await console.operator(request, reply, reading)).toMatchObject({ id: "per_1", role: "admin" });
  open.token = "b".repeat(43);
  expect(await console.roleOf(request)).toBe("admin");
  open.role = "viewer";
  expect(await console.roleOf(request)).toBe("viewer");
  open.sessions = [{ sessionId: "ses_2" }];
  expect(await console.roleOf(request)).toBeUndefined();
});

test("a request that came in by no session has no role", async () => {
  expect(await door({ token: "", sessions: [session], role: "admin" }).roleOf(request)).toBeUndefined();
});
