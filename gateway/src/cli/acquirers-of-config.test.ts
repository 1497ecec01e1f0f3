// Goal: whoever starts the service with a wrong configuration learns of all mistakes at once, before anything is made.
// Method: the program itself on an empty folder, and the reading alone for each mistake.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gerbang } from "../../../e2e/kit/service.ts";
import { profile } from "../../test/remote-rig.ts";
import { readConfigAndAcquirers } from "./acquirers-of-config.ts";
import { ConfigError } from "../ground/config.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-config-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What is said of an acquirers' file of this text, beside a wrong port. */
function complaints(text: string, environment: Record<string, string> = {}): string {
  const file = join(folder, "acquirers.json");
  writeFileSync(file, text);
  try {
    readConfigAndAcquirers({ PORT: "http", GERBANG_DATA: folder, ...environment });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.replaceAll(file, "FILE");
  }
  return expect.unreachable("the port is wrong");
}

test("a start with mistakes of every kind tells all of them, without a trace, and makes nothing", async () => {
  const data = join(folder, "data");
  const env = { PORT: "http", MASTER_KEY: "short", ACQUIRERS_FILE: join(folder, "nowhere.json"), GERBANG_DATA: data };
  const { code, stderr } = await gerbang(["serve"], { ...env, NODE_ENV: "development" });
  expect(code).toBe(1);
  expect(stderr.trim().split("\n")).toEqual([
    "The configuration has mistakes:",
    "  - PORT: must be a port number",
    "  - MASTER_KEY: must be 32 bytes, as 64 hex digits or in base64",
    `  - ACQUIRERS_FILE: there is no ${join(folder, "nowhere.json")}`,
  ]);
  expect(existsSync(data)).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

test.for([
  ["FILE: is not JSON", "[{"],
  ["FILE: the file: must be a list", "{}"],
  ["FILE: 0.code: ", JSON.stringify([{ ...profile("https://rimba.example"), code: "Rimba" }])],
  ["FILE: cendana: is the code of a simulated", JSON.stringify([profile("https://a.example", { code: "cendana" })])],
  ["FILE: rimba: url must be https in production", JSON.stringify([profile("http://127.0.0.1:1")])],
] as const)("beside the other mistakes it says: %s", ([expected, text]) => {
  const said = complaints(text, { NODE_ENV: "production" });
  expect(said).toContain("  - PORT: must be a port number\n");
  expect(said).toContain(`  - ${expected}`);
});

test.each([
  ["names none, or does not exist", undefined],
  ["names rimba", [profile("https://rimba.example")]],
])("asked about an acquirer that is not there, it tells which file it read, and that it %s", async (said, list) => {
  const data = mkdtempSync(join(folder, "data-"));
  if (list) writeFileSync(join(data, "acquirers.json"), JSON.stringify(list));
  const { code, stderr } = await gerbang(["provider", "check", "--code", "samba"], { GERBANG_DATA: data });
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${join(data, "acquirers.json")} has no samba: it ${said}.\n` });
});

test("a master key is 64 hex digits or the base64 of 32 bytes, and nothing else", () => {
  const bytes = Buffer.alloc(32, 7);
  for (const key of [bytes.toString("hex"), bytes.toString("hex").toUpperCase(), bytes.toString("base64")]) {
    expect(complaints("[]", { MASTER_KEY: key })).not.toContain("MASTER_KEY");
  }
  for (const key of ["short", "ab".repeat(31), bytes.subarray(1).toString("base64"), "ab".repeat(33)]) {
    expect(complaints("[]", { MASTER_KEY: key }), key).toContain("MASTER_KEY: must be 32 bytes");
  }
});

test("without mistakes it gives the acquirers", async () => {
  writeFileSync(join(folder, "acquirers.json"), JSON.stringify([profile("https://rimba.example")]));
  const { config, acquirers } = readConfigAndAcquirers({ GERBANG_DATA: folder });
  expect(config.dataDirectory).toBe(folder);
  expect(acquirers.map(({ code }) => code)).toEqual(["rimba"]);
  await Promise.all(acquirers.map((acquirer) => acquirer.close()));
});
