// Goal: an answer that lasts, such as the download of a book, ends when whoever asked may not ask for it any more: their access ended, or their
// role became lower. Method: a route of an endpoint that keeps its question, with a token that changes meanwhile.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { movableClock } from "../../test/acquiring.ts";
import type { OperatorRole } from "../people/operator-roles.ts";
import type { OperatorCall, OperatorEndpoint } from "./endpoint.ts";
import { openOperatorApi } from "./operator.routes.ts";

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Lets the token of a role in for an answer that lasts. Gives its question and a function that changes the token's role, or ends it. */
async function lasting(least: OperatorRole, role: OperatorRole) {
  let now: OperatorRole | undefined = role;
  let mayStill: OperatorCall["mayStill"];
  const routes: { onRequest: Hook; handler: Hook }[] = [];
  const server = { decorateRequest: () => undefined, route: (route: (typeof routes)[number]) => routes.push(route) };
  const operator = { kind: "token", id: "otk_1", name: "leaver", expiresAt: undefined } as const;
  const parts = {
    door: undefined,
    tokens: { find: async () => (now === undefined ? { ended: "leaver" } : { operator: { ...operator, role: now } }) },
    uses: { note: () => undefined },
    refusals: { note: () => undefined },
    audit: undefined as never,
    approvals: { judge: async () => ({ freeUpToMinor: undefined }) },
    clock: movableClock(),
  };
  const endpoint = {
    method: "GET",
    path: "/ops/v1/lasting",
    role: least,
    handle: async (call: OperatorCall) => {
      ({ mayStill } = call);
      return { status: 200, body: "{}" };
    },
  };
  openOperatorApi(server as unknown as FastifyInstance, parts, [endpoint as unknown as OperatorEndpoint]);
  const [route = expect.unreachable()] = routes;
  const request = {
    headers: { authorization: "Bearer op_x" },
    method: "GET",
    url: endpoint.path,
    params: {},
    query: {},
  };
  const reply = new Proxy({}, { get: (_, name) => (name === "then" ? undefined : () => reply) }) as FastifyReply;
  await route.onRequest(request as FastifyRequest, reply);
  await route.handler(request as FastifyRequest, reply);
  const ask = mayStill ?? expect.unreachable("the endpoint was not reached");
  return { ask, become: (next: OperatorRole | undefined) => void (now = next) };
}

test("goes on while the role allows it, and ends with a lower role and with the access", async () => {
  const { ask, become } = await lasting("support", "admin");
  expect(await ask()).toBe(true);
  become("support");
  expect(await ask()).toBe(true);
  become("viewer");
  expect(await ask()).toBe(false);
  become(undefined);
  expect(await ask()).toBe(false);
});
