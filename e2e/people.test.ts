// Goal: the operator lets people in from the command line, as the guide says. Method: type the guide's commands, word for word, in a
// shell beside a running service, and use the links that they print.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { actions, extentOf, memberRoles } from "../gateway/src/people/roles.ts";
import { readAnswer } from "./kit/client.ts";
import { gerbangHere } from "./kit/command-here.ts";
import { Service, gerbang, compiled } from "./kit/service.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const guide = readFileSync(join(root, "docs/guides/people.md"), "utf8");
const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? "");
const hasBash = spawnSync("bash", ["--version"]).status === 0;

let place: string;
let service: Service;
const env = (): Record<string, string> => ({ GERBANG_DATA: service.dataDirectory, PORT: String(service.port) });

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "gerbang-people-"));
  chmodSync(place, 0o711);
  symlinkSync(join(root, "node_modules"), join(place, "node_modules"));
  service = await Service.start({ dataDirectory: join(place, ".data") });
});
afterAll(async () => {
  await service.stop();
  rmSync(place, { recursive: true, force: true });
});

/** Sends a change as a page of ours does. */
const send = async (path: string, body: unknown) =>
  readAnswer(
    await fetch(service.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", origin: service.url },
      body: JSON.stringify(body),
    }),
  );

test("the link of a start signs in as the demo merchant's owner, once, and stands in no log", async () => {
  const link = service.demo.portal_sign_in;
  expect(link).toMatch(/^http:\/\/localhost:\d+\/portal\/sign-in#link=[\w-]{43}$/);
  const token = link.split("#link=")[1] ?? "";
  expect(service.output).not.toContain(token);
  const { json } = await send("/portal/v1/session/link", { token });
  expect(json.memberships).toMatchObject([{ merchant_id: service.demo.merchant_id, role: "owner" }]);
  expect((await send("/portal/v1/session/link", { token })).status).toBe(401);
});

describe.runIf(hasBash)("the guide to people", () => {
  test("every command of it runs, and its links let people in", async () => {
    const script = ["set -e", ...blocks.map((block) => `${block}\necho "--- next"`)].join("\n");
    const path = {
      PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH ?? ""}`,
      HOME: process.env.HOME ?? "/",
      ...compiled(),
    };
    const options = { cwd: place, env: { ...path, PORT: String(service.port) }, encoding: "utf8" } as const;
    const [invited = "", listed = "", reset = ""] = execFileSync("bash", ["-c", script], options).split("--- next");
    const invitation = /#([\w-]{43})/.exec(invited)?.[1];
    const looked = await send("/portal/v1/invitations/look", { token: invitation });
    expect(looked.json).toMatchObject({ role: "owner", email: "sari@toko.example" });
    expect(JSON.parse(listed.trim())).toMatchObject({ email: "owner@demo.test", role: "owner" });
    const { json } = await send("/portal/v1/session/link", { token: /#link=([\w-]{43})/.exec(reset)?.[1] });
    expect(json.person).toMatchObject({ email: "owner@demo.test", has_password: false });
  });
});

test("what cannot be done is said, with an exit code", async () => {
  expect(await gerbangHere(["people", "reset-link", "--email", "nobody@toko.example"], env())).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("nobody by this e-mail"),
  });
  for (const args of [
    ["reset-link"],
    ["list"],
    ["list", "--merchant", "mer_1"],
    ["invite", "--merchant", "x", "--role", "king"],
  ])
    expect(await gerbangHere(["people", ...args], env())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Help: gerbang people"),
    });
  const stranger = "mer_00000000000000000000000000";
  const invited = await gerbangHere(["people", "invite", "--merchant", stranger, "--role", "owner"], env());
  expect(invited).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(`There is no merchant ${stranger}`),
  });
});

test("another link for the demo owner is printed, in development alone", async () => {
  // The service was started with other ports than this command knows.
  const environment = { GERBANG_DATA: service.dataDirectory };
  const { code, stdout } = await gerbang(["people", "sign-in-link"], environment);
  expect(stdout).toContain(`http://localhost:${service.port}/portal/sign-in#link=`);
  const toConsole = await gerbang(["people", "sign-in-link", "--console"], environment);
  expect(toConsole.stdout).toContain(`${new URL(service.opsUrl).origin.replace("127.0.0.1", "localhost")}/console/`);
  const { json } = await send("/portal/v1/session/link", { token: /#link=([\w-]{43})$/.exec(stdout.trim())?.[1] });
  expect([code, json.person.email]).toEqual([0, "owner@demo.test"]);
});

test("the guide's table of roles is that of the code", () => {
  const words = { both: "yes", sandbox: "sandbox", none: "–" };
  const rows = [...guide.matchAll(/^\| `([\w:]+)`\s*\|(.*)\|$/gm)].map(([, action, cells = ""]) => [
    action,
    ...cells.split("|").map((cell) => cell.trim()),
  ]);
  expect(rows).toEqual(actions.map((action) => [action, ...memberRoles.map((role) => words[extentOf(role, action)])]));
});
