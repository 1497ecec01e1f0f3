// Goal: a token opens what it does now, not what it did when this process last read it. Method: the tokens of a process over a list that changes,
// and a watch that says when it was read; tokens.test.ts has the processes and the database.
import { expect, test } from "vitest";
import { movableClock } from "../../test/acquiring.ts";
import { SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { KnownTokens } from "./known-tokens.ts";

const rowOf = (token: string, changes: Record<string, unknown> = {}) => ({
  token_id: "01900000-0000-7000-8000-000000000001",
  name: "ci",
  role: "support",
  digest: sha256(token),
  expires_at: null,
  revoked_at: null,
  ...changes,
});

/** A process that has read `rows`. `isOld`: what it read is older than a second. */
async function processWith(rows: Record<string, unknown>[], viewer?: string) {
  const clock = movableClock();
  const state = { rows, isOld: false };
  let load = (): Promise<void> => Promise.resolve();
  const watch = {
    subscribe: (reload: () => Promise<void>) => void (load = reload),
    fresh: () => (state.isOld ? load() : undefined),
    ask: () => load(),
  };
  const database = { query: () => Promise.resolve(state.rows) };
  const parts = { database, watch, clock, environment: { admin: "op_admin", viewer } };
  const tokens = new KnownTokens(parts as unknown as ConstructorParameters<typeof KnownTokens>[0]);
  await load();
  return { tokens, state, clock };
}

test("one that was revoked since opens nothing once the process has to read again", async () => {
  const { tokens, state } = await processWith([rowOf("op_1")]);
  expect(await tokens.find("op_1")).toMatchObject({ operator: { kind: "token", name: "ci", role: "support" } });
  state.rows = [rowOf("op_1", { revoked_at: 1 })];
  state.isOld = true;
  expect(await tokens.find("op_1")).toEqual({ ended: "ci" });
  expect(tokens.isKnown("op_1")).toBe(false);
});

test("one that has expired is no known one: its caller waits with those whom nobody knows", async () => {
  const { tokens, clock } = await processWith([rowOf("op_1", { expires_at: movableClock().at + SECOND })]);
  expect(tokens.isKnown("op_1")).toBe(true);
  clock.at += SECOND;
  expect(tokens.isKnown("op_1")).toBe(false);
  expect(await tokens.find("op_1")).toEqual({ ended: "ci" });
});

test("one that another process has just made is looked for, and one that nobody made is none", async () => {
  const { tokens, state } = await processWith([]);
  state.rows = [rowOf("op_new")];
  expect(tokens.isKnown("op_new")).toBe(false);
  expect(await tokens.find("op_new")).toMatchObject({ operator: { name: "ci" } });
  expect(await tokens.find("op_other")).toBeUndefined();
});

test("the environment's two tokens are an admin and a viewer, and without the second there is one", async () => {
  const both = (await processWith([], "op_viewer")).tokens;
  expect(await both.find("op_admin")).toMatchObject({ operator: { name: "environment", role: "admin" } });
  expect(await both.find("op_viewer")).toMatchObject({ operator: { name: "environment-viewer", role: "viewer" } });
  expect(["op_admin", "op_viewer", "op_other"].map((token) => both.isKnown(token))).toEqual([true, true, false]);
  expect(await (await processWith([])).tokens.find("op_viewer")).toBeUndefined();
});
