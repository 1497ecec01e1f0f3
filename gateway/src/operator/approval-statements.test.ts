// Goal: an approval is asked for, decided and run once, in time, and between those alone who may still. Method: the statements themselves, on one
// approval in a database that is set to each state and age, and the rights of who asked after each change.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase, openDatabase } from "../../test/kit.ts";
import { PeopleRig, type TestPerson } from "../../test/people.ts";
import { HOUR } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { idOf, newId } from "../ground/ids.ts";
import type { OperatorRole } from "../people/operator-roles.ts";
import type { Database } from "../store/database.ts";
import { handsOf, mayStillAct } from "./approval-hands.ts";
import {
  approve,
  closeApproval,
  endApproval,
  insertApprovals,
  insertPolicy,
  selectSame,
  takeUpExecuting,
} from "./approvals.sql.ts";
import type { Identity } from "./known-tokens.ts";

let store: TestDatabase;
let database: Database;
let rig: PeopleRig;
let uuid: string;
const body = Buffer.from("{}");
const sent = { method: "POST", path: "/ops/v1/x", body, key: undefined };
const named = (name: string): Identity => ({ kind: "token", id: `otk_${name}`, name, role: "admin" });

beforeAll(async () => {
  store = await cloneDatabase();
  database = openDatabase(store);
  await database.query(insertPolicy(1, {}, "sari"));
  return () => database.end();
});
beforeEach(async () => {
  rig = new PeopleRig(database);
  const now = rig.parts.clock.now();
  uuid = newId("approval", now);
  // The tests before left theirs as they were.
  await asOwner(store, (owner) =>
    owner.query("set session_replication_role = replica; delete from operator_approvals"),
  );
  const asked = {
    uuid,
    action: "refund_payment",
    leastRole: "admin",
    policyVersion: 1,
    askedBy: named("sari"),
  } as const;
  const request = { ...sent, operation: "refund", digest: sha256(body) };
  await database.query(
    insertApprovals([{ ...asked, request, foreseen: { summary: "x" }, requestId: newId("request", now) }]),
  );
});

/** Sets columns of the approval, whatever the rules of its table say. */
async function set(columns: string): Promise<void> {
  await asOwner(store, async (owner) => {
    await owner.query("set session_replication_role = replica");
    await owner.query(`update operator_approvals set ${columns}`);
    await owner.query("set session_replication_role = origin");
  });
}
const count = async (statement: Parameters<Database["query"]>[0]): Promise<number> =>
  (await database.query(statement)).length;
const approving = () =>
  approve(uuid, named("budi"), rig.parts.clock.now() - 240 * HOUR, {
    note: undefined,
    runId: newId("request", rig.parts.clock.now()),
  });
const executing = `status = 'executing', decided_kind = 'token', decided_id = 'x', decided_by = 'budi', decided_at = now(),
  decided_made_at = asked_at - interval '1 day', run_id = gen_random_uuid(), attempts = 2`;

describe("a decision", () => {
  const decisions = {
    approve: approving,
    refuse: () => closeApproval(uuid, "refused", named("budi"), undefined),
    withdraw: () => closeApproval(uuid, "withdrawn", named("sari"), undefined),
  };
  const names = Object.keys(decisions) as (keyof typeof decisions)[];

  test.each(names)("to %s is taken for 72 hours, and once", async (name) => {
    await set("asked_at = now() - interval '72 hours 1 second'");
    expect(await count(decisions[name]())).toBe(0);
    await set("asked_at = now() - interval '71 hours'");
    expect(await count(decisions[name]())).toBe(1);
    for (const other of names) expect(await count(decisions[other]()), other).toBe(0);
  });
});

describe("a change that runs", () => {
  test("is taken up by another process once the lease of the one before is over, and by one alone", async () => {
    await set(`${executing}, leased_until = now() + interval '1 day'`);
    expect(await count(takeUpExecuting(10))).toBe(0);
    await set("leased_until = now()");
    expect(await count(takeUpExecuting(10))).toBe(1);
    expect(await count(takeUpExecuting(10))).toBe(0);
  });

  test("ends by the attempt that runs it now; that it was done any attempt may tell", async () => {
    await set(`${executing}, leased_until = now()`);
    const answer = { status: 200, body: null };
    for (const attempts of [1, 3]) {
      expect(await count(endApproval({ uuid, attempts }, "failed", answer))).toBe(0);
      expect(await count(endApproval({ uuid, attempts }, "unknown", undefined))).toBe(0);
    }
    expect(await count(endApproval({ uuid, attempts: 1 }, "executed", answer))).toBe(1);
    expect(await count(endApproval({ uuid, attempts: 2 }, "failed", answer))).toBe(0);
  });
});

describe("the same change without a key", () => {
  test.each([
    ["waits", "status = 'waiting'", 1],
    ["was refused", "status = 'refused', decided_kind = 'token', decided_id = 'x', decided_at = now()", 0],
    ["runs", `${executing}, leased_until = now()`, 0],
    ["was asked for under a key", "request_key = 'the-first-key'", 0],
  ])("that %s is found when it is asked for again, or is not", async (_what, state, found) => {
    await set(state);
    expect(await count(selectSame(sent, sha256(body)))).toBe(found);
    expect(await count(selectSame({ ...sent, path: "/ops/v1/y" }, sha256(body)))).toBe(0);
    expect(await count(selectSame({ ...sent, method: "PUT" }, sha256(body)))).toBe(0);
    expect(await count(selectSame(sent, sha256("other")))).toBe(0);
  });
});

describe("who asked", () => {
  const still = (who: Identity, least: OperatorRole = "admin"): Promise<boolean> =>
    mayStillAct({ database, clock: rig.parts.clock }, who, least);
  let tokens = 0;
  /** A token of a name, made at a time; gives its identity. */
  async function token(name: string, role: OperatorRole, createdAt = "now()"): Promise<Identity> {
    const id = `01900000-0000-7000-8000-${String(++tokens).padStart(12, "0")}`;
    await asOwner(store, (owner) =>
      owner.query(
        `insert into operator_tokens (token_id, name, role, digest, created_at, created_by)
values ($1::uuid, $2::text, $3::text, sha256($1::text::bytea), ${createdAt}, 'command-line')`,
        [id, name, role],
      ),
    );
    return { kind: "token", id: idOf("operatorToken", id), name, role };
  }
  const ends = (name: string, change: string): Promise<unknown> =>
    asOwner(store, (owner) => owner.query(`update operator_tokens set ${change} where name = $1`, [name]));

  test.each([
    ["revoked", "revoked_at = now()"],
    ["expired", "expires_at = '2020-01-01'"],
  ])(
    "with a token may do it until that has %s, and again by another one of the name and of the role",
    async (name, end) => {
      const who = await token(name, "admin");
      expect(await still(who)).toBe(true);
      await ends(name, end);
      expect(await still(who)).toBe(false);
      await ends(name, "revoked_at = coalesce(revoked_at, now())");
      await token(name, "support");
      expect([await still(who), await still(who, "support")]).toEqual([false, true]);
    },
  );

  test("as a person may do it with the role that they have by now", async () => {
    const person = await invited();
    const who: Identity = { kind: "person", id: person.personId, name: person.email, role: "admin" };
    await rig.people.operators.add(person.personId, "admin", "command-line");
    expect(await still(who)).toBe(true);
    await rig.people.operators.changeRole(person.personId, "support");
    expect([await still(who), await still(who, "support")]).toEqual([false, true]);
    await rig.people.operators.remove(person.personId);
    expect(await still(who, "viewer")).toBe(false);
  });

  test("is an operator since they were made one, a person too, and nobody without access is", async () => {
    const person = await invited();
    const who: Identity = { kind: "person", id: person.personId, name: person.email, role: "admin" };
    expect((await handsOf(database, who)).madeAt).toBeUndefined();
    const before = rig.parts.clock.now();
    await rig.people.operators.add(person.personId, "admin", "command-line");
    const { madeAt } = await handsOf(database, who);
    expect(madeAt).toBeGreaterThan(before);
    expect(madeAt).toBeLessThan(rig.parts.clock.now());
    const one = await token("dated", "admin", "'2026-01-02T03:04:05Z'");
    expect((await handsOf(database, one)).madeAt).toBe(Date.parse("2026-01-02T03:04:05Z") * 1_000);
  });

  async function invited(): Promise<TestPerson> {
    const merchant = `01900000-0000-7000-9000-${String(++tokens).padStart(12, "0")}`;
    await asOwner(store, (owner) =>
      owner.query(
        "insert into merchants (merchant_id, name, settings, epoch, created_at) values ($1, 'x', '{}', 0, now())",
        [merchant],
      ),
    );
    return rig.joined(idOf("merchant", merchant));
  }
});
