// Goal: whoever reaches the database hands out tokens by the command line: a token on standard output and nowhere else, at once good in a running
// service, and every change on record. Method: the commands, beside a service on the same database.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gerbangHere } from "../../../e2e/kit/command-here.ts";
import { gerbang } from "../../../e2e/kit/service.ts";
import { type TestService, asOwner, startService } from "../../test/kit.ts";
import { secondsOf } from "./operator-command.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

const token = (...args: string[]): ReturnType<typeof gerbangHere> =>
  gerbangHere(["operator", "token", ...args], { DATABASE_URL: service.database.url });
const opens = async (secret: string): Promise<number> => {
  const headers = { authorization: `Bearer ${secret.trim()}` };
  return (await fetch(`${service.operatorOrigin}/ops/v1/acquirers`, { headers })).status;
};

test("a token is made, listed, rotated with an overlap, and revoked; the audit has it without a secret", async () => {
  const made = await token("create", "--name", "sari", "--role", "support", "--expires-in", "90d");
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^op_[0-9a-hjkmnp-tv-z]{38,}\n$/)]);
  expect(made.stderr).toMatch(/^sari, role support, good until 20\d\d-.*shown this once:\n$/);
  expect(made.stderr).not.toContain(made.stdout.trim());
  expect(await opens(made.stdout)).toBe(200);

  const rotated = await token("rotate", "--name", "sari", "--overlap", "1h");
  expect([rotated.code, rotated.stderr.split("\n")[0]]).toEqual([
    0,
    "The token before is good for 1h more, unless it ends sooner.",
  ]);
  expect([await opens(made.stdout), await opens(rotated.stdout)]).toEqual([200, 200]);

  const listed = await token("list");
  const lines = listed.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatchObject({ name: "sari", role: "support", created_by: "command-line", replaced_by: null });
  expect(lines[1]?.replaced_by).toBe(lines[0]?.token_id);

  expect((await token("revoke", "--name", "sari")).code).toBe(0);
  await expect.poll(async () => [await opens(made.stdout), await opens(rotated.stdout)]).toEqual([401, 401]);

  const { rows } = await asOwner(service.database, (client) =>
    client.query("select * from operator_audit where actor = 'command-line' and status is null order by audit_id"),
  );
  expect(rows.map(({ path }: { path: string }) => path)).toEqual(
    ["create", "rotate", "revoke"].map((what) => `gerbang operator token ${what}`),
  );
  for (const secret of [made.stdout.trim(), rotated.stdout.trim()]) {
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(listed.stdout).not.toContain(secret);
  }
});

test("without a role a token is a viewer's, and without an overlap a rotation ends the one before", async () => {
  const made = await token("create", "--name", "looker");
  expect(made.stderr).toContain("looker, role viewer, good until it is revoked.");
  const rotated = await token("rotate", "--name", "looker");
  await expect.poll(async () => [await opens(made.stdout), await opens(rotated.stdout)]).toEqual([401, 200]);
});

test.each([
  [["create", "--name", "environment"], 1, "name must be 1 to 40"],
  [["create", "--name", "Sari"], 2, "is not 1 to 40 lower-case letters"],
  [["create"], 2, "--name"],
  [["create", "--name", "x", "--role", "root"], 2, "viewer, support"],
  [["create", "--name", "x", "--expires-in", "soon"], 2, "is not a time such as 90d"],
  [["create", "--name", "x", "--expires-in", "59s"], 2, "--expires-in is a time from 1m to 3650d"],
  [["rotate", "--name", "nobody"], 1, "There is no good token named nobody."],
  [["rotate", "--name", "nobody", "--overlap", "31d"], 2, "--overlap is a time of at most 30d"],
  [["revoke", "--name", "nobody"], 1, "There is no good token named nobody."],
])("%j exits with %d and says why, without a stack", async (args, code, words) => {
  const ended = await token(...args);
  expect([ended.code, ended.stdout]).toEqual([code, ""]);
  expect(ended.stderr).toContain(words);
  expect(ended.stderr).not.toMatch(/^ +at /m);
});

test("a change whose outcome cannot be recorded does not count as failed; its secret is kept back, and a rotation gives another", async () => {
  await token("create", "--name", "budi");
  const rotated = await asOwner(service.database, async (client) => {
    await client.query(
      "alter table operator_audit add constraint no_success check (status is distinct from 200) not valid",
    );
    const ran = await token("rotate", "--name", "budi");
    await client.query("alter table operator_audit drop constraint no_success");
    return ran;
  });
  expect([rotated.code, rotated.stdout]).toEqual([1, ""]);
  const { rows } = await asOwner(service.database, (client) =>
    client.query<{ status: number | null }>(
      "select status from operator_audit where request_id = (select audit_id from operator_audit where status is null order by audit_id desc limit 1)",
    ),
  );
  expect(rows).toEqual([{ status: null }]);
  expect(rotated.stderr).toContain("could not be recorded. Read the object before you repeat it: it may have been");
  expect(rotated.stderr).not.toMatch(/^ +at /m);
  const again = await token("rotate", "--name", "budi");
  expect(await opens(again.stdout)).toBe(200);
});

test("where there is no database none is made", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gerbang-tokens-"));
  const { code, stderr } = await gerbang(["operator", "token", "list"], { GERBANG_DATA: join(folder, "data") });
  expect([code, stderr]).toEqual([1, expect.stringContaining("There is no database under")]);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

test.each([
  ["90d", 7_776_000],
  ["12h", 43_200],
  ["30m", 1_800],
  ["45s", 45],
  ["0", 0],
  ["5", undefined],
  ["1.5h", undefined],
  ["-1h", undefined],
  ["1w", undefined],
  ["", undefined],
  ["9999999999d", undefined],
])("the time %j is %j seconds", (text, seconds) => {
  expect(secondsOf(text)).toBe(seconds);
});
