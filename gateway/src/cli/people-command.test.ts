// Goal: whoever lets people in by the command line leaves a row in the operators' audit of what was done and about whom, and no secret. Method: the
// commands, beside a service on the same database.
import { afterAll, beforeAll, expect, test } from "vitest";
import { gerbangHere } from "../../../e2e/kit/command-here.ts";
import { OPERATOR_TOKEN, type TestService, startService } from "../../test/kit.ts";

let service: TestService;
let merchantId: string;
const email = "sari@toko.example";
const from = { address: "192.0.2.1", userAgent: "" };
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  ({ merchantId } = await service.merchant());
  const { token } = await service.app.people.invitations.invite(merchantId, { role: "owner" }, undefined);
  await service.app.people.invitations.accept(token, { email, name: "Sari", password: "kopi tubruk senja 7" }, from);
});
afterAll(() => service.stop());

const environment = { MASTER_KEY: "11".repeat(32), OPERATOR_TOKEN };
const people = (args: string[], more: Record<string, string> = {}): ReturnType<typeof gerbangHere> =>
  gerbangHere(["people", ...args], { DATABASE_URL: service.database.url, ...environment, ...more });
const newest = async (): Promise<Record<string, unknown>> => (await service.operate("GET", "/audit?limit=1")).data[0];

test.each([
  ["sign-in-link", ["--email", email], { email, surface: "portal" }],
  ["sign-in-link", ["--email", email, "--console"], { email, surface: "console" }],
  ["reset-link", ["--email", email], { email, surface: "portal" }],
  ["invite-operator", ["--role", "support", "--email", email], { role: "support", email }],
])("%s %j is in the audit as command-line, without its secret", async (name, args, body) => {
  const { code, stdout } = await people([name, ...args]);
  const secret = /([\w-]{43})\n$/.exec(stdout)?.[1];
  const row = await newest();
  expect([code, secret]).toEqual([0, expect.any(String)]);
  expect(row).toMatchObject({ actor: "command-line", path: `gerbang people ${name}`, body, status: 200 });
  expect(JSON.stringify(row)).not.toContain(secret);
});

test("an invitation is among what was done to its merchant, and what cannot be done is on record, too", async () => {
  const { code } = await people(["invite", "--merchant", merchantId, "--role", "viewer"]);
  expect(code).toBe(0);
  const { data } = await service.operate("GET", `/audit?merchant_id=${merchantId}`);
  expect(data[0]).toMatchObject({ path: "gerbang people invite", body: { role: "viewer" }, status: 200 });

  const removed = await people(["remove-operator", "--email", email]);
  expect([removed.code, removed.stderr]).toEqual([1, "There is no operator by this e-mail address.\n"]);
  expect(await newest()).toMatchObject({ path: "gerbang people remove-operator", body: { email }, status: 404 });
});
