// Goal: a mistake in acquirers.json is found before anything starts, with its place. Method: one mistake at a time.
import { expect, test } from "vitest";
import { profile } from "../../test/remote-rig.ts";
import { isLoopback, remoteProfileSchema, remoteProfilesSchema } from "./remote-profile.ts";

const good = profile("https://api.rimba.example/v1");
const [capability] = good.capabilities;

/** Where the mistakes are. */
function places(value: unknown): string[] {
  const parsed = remoteProfilesSchema.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join("."));
}

test("a good file passes, and a deadline need not be given", () => {
  const { deadline_ms: _, ...rest } = good;
  expect(remoteProfilesSchema.parse([rest])).toEqual([{ ...good, deadline_ms: 8_000 }]);
  expect(remoteProfilesSchema.parse([])).toEqual([]);
});

test.for([
  ["code", { code: "Rimba" }],
  ["code", { code: "" }],
  ["name", { name: " " }],
  ["environment", { environment: "test" }],
  ["secret", { secret: "x".repeat(31) }],
  ["deadline_ms", { deadline_ms: 99 }],
  ["deadline_ms", { deadline_ms: 30_001 }],
  ["deadline_ms", { deadline_ms: 100.5 }],
  ["capabilities", { capabilities: [] }],
  ["capabilities.0.method", { capabilities: [{ ...capability, method: "cash" }] }],
  ["capabilities.0.currencies", { capabilities: [{ ...capability, currencies: [] }] }],
  ["capabilities.0.currencies.1", { capabilities: [{ ...capability, currencies: ["IDR", "XXX"] }] }],
  ["capabilities.0.currencies.1", { capabilities: [{ ...capability, currencies: ["IDR", "IDR"] }] }],
  ["capabilities.1.currencies.0", { capabilities: [capability, capability] }],
  ["capabilities.0.minimum_minor", { capabilities: [{ ...capability, minimum_minor: 0 }] }],
  ["capabilities.0.maximum_minor", { capabilities: [{ ...capability, minimum_minor: 2, maximum_minor: 1 }] }],
  [
    "capabilities.0.cost.basis_points",
    { capabilities: [{ ...capability, cost: { basis_points: -1, flat_minor: 0 } }] },
  ],
  ["", { deadline: 5_000 }],
] as const)("a mistake in %s is found there", ([place, changes]) => {
  expect(places([good, { ...good, code: "other", ...changes }])).toEqual([place === "" ? "1" : `1.${place}`]);
});

test("two acquirers of one code are one too many", () => {
  expect(places([good, { ...good, code: "other" }, good])).toEqual(["2.code"]);
});

test("addresses are https, and http on this machine alone", () => {
  const fine = [
    "https://a.example",
    "https://a.example/x/",
    "http://localhost:1",
    "http://127.9.9.9",
    "http://[::1]:80/x",
  ];
  for (const url of fine) expect(remoteProfileSchema.safeParse({ ...good, url }).success, url).toBe(true);
  for (const url of [
    "http://a.example",
    "http://127.0.0.1.example.com",
    "http://10.0.0.1",
    "http://0.0.0.0",
    "https://user:password@a.example",
    "https://a.example?x=1",
    "https://a.example/#x",
    "ftp://a.example",
    "a.example",
    "",
  ]) {
    expect(places([{ ...good, url }]), url).toEqual(["0.url"]);
  }
  expect(["localhost", "127.0.0.1", "::1", "[::1]"].every(isLoopback)).toBe(true);
  expect(["127.example.com", "10.0.0.1", "::2", "0.0.0.0"].some(isLoopback)).toBe(false);
});

test("a mistake never shows the secret", () => {
  const parsed = remoteProfilesSchema.safeParse([{ ...good, secret: "short and secret", code: "?" }]);
  expect(JSON.stringify(parsed.error)).not.toContain("short and secret");
});
