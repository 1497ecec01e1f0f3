// Goal: an operator whose access ended, or whose role became lower, while the body of a request was on its way changes nothing by it. Method: requests over
// a real socket whose last byte is held back until the service has let their sender in and an admin has taken the access away.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { OPERATOR_TOKEN, type TestService, startService } from "../../test/kit.ts";
import { type Browser, operates } from "../../test/portal.ts";
import { ConsoleDoor } from "./console-door.ts";
import { KnownTokens } from "./known-tokens.ts";

let service: TestService;
let admin: Browser;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  admin = await operates(service, "admin");
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => service.stop());

type Headers = Record<string, string>;

/** Sends a request for a new admin's token whose last byte follows only after `meanwhile`. Gives the status and the code of the answer. */
async function late(headers: Headers, meanwhile: () => Promise<unknown>): Promise<string> {
  const inside = [vi.spyOn(ConsoleDoor.prototype, "operator"), vi.spyOn(KnownTokens.prototype, "find")];
  const body = JSON.stringify({ name: "kept-for-later", role: "admin" });
  const fixed = { "content-type": "application/json", "content-length": String(body.length) };
  const sent = request(`${service.operatorOrigin}/ops/v1/tokens`, {
    method: "POST",
    headers: { ...fixed, ...headers },
  });
  sent.write(body.slice(0, -1));
  const letIn = (): unknown[] => inside.flatMap(({ mock }) => mock.results.map(({ value }) => value as unknown));
  await vi.waitFor(() => expect(letIn()).toHaveLength(1), { timeout: 30_000 });
  await letIn()[0];
  await meanwhile();
  sent.end(body.slice(-1));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const { error } = JSON.parse((await response.toArray()).join("")) as { error?: { code: string } };
  return [response.statusCode, error?.code].join(" ");
}

const ofPage = ({ cookie = "", origin }: Browser): Headers => ({ cookie, origin, "sec-fetch-site": "same-origin" });
const path = async (leaver: Browser): Promise<string> =>
  `/ops/v1/operators/${(await leaver.get("/ops/v1/session")).json.person.person_id as string}`;

test.each([
  ["a removed operator", "DELETE", undefined, "401 UNAUTHORIZED"],
  ["an operator who became a viewer", "PATCH", { role: "viewer" }, "403 FORBIDDEN"],
] as const)("%s makes no token", async (_, method, body, refusal) => {
  const leaver = await operates(service, "admin");
  const self = await path(leaver);
  expect(await late(ofPage(leaver), () => admin.send(method, self, body))).toBe(refusal);
});

test("somebody who was signed out makes no token", async () => {
  const leaver = await operates(service, "admin");
  expect(await late(ofPage({ ...leaver } as Browser), () => leaver.send("DELETE", "/ops/v1/session"))).toBe(
    "401 UNAUTHORIZED",
  );
});

test("a revoked token makes no other", async () => {
  const { token } = (await admin.post("/ops/v1/tokens", { name: "leaver", role: "admin" })).json as { token: string };
  const authorization = `Bearer ${token}`;
  expect(await late({ authorization }, () => admin.send("DELETE", "/ops/v1/tokens/leaver"))).toBe("401 UNAUTHORIZED");
});

test("a body that takes its time is taken from whoever has access still", async () => {
  const leaver = await operates(service, "admin");
  expect(await late(ofPage(leaver), () => Promise.resolve())).toBe("201 ");
  expect(
    await late({ authorization: `Bearer ${OPERATOR_TOKEN}` }, () =>
      admin.send("DELETE", "/ops/v1/tokens/kept-for-later"),
    ),
  ).toBe("201 ");
});
