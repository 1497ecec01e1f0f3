// Goal: the database refuses each change of a refund that breaks a rule, whatever the code does. Method: refunds in a database, changed one by one. The
// checks of their tables, their keys and the service's rights are tested with those of all tables, in the store.
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";

const merchant = "01900000-0000-7000-8000-000000000001";
let database: TestDatabase;

const refundRow = (refundId: string, paymentId: string): string =>
  `insert into refunds (merchant_id, environment, refund_id, payment_id, status, amount_minor, currency, reason, created_at)
values ('${merchant}', 'sandbox', ${refundId}, ${paymentId}, 'pending', 5, 'IDR', 'broken', now())`;

beforeAll(async () => {
  database = await cloneDatabase();
  await asOwner(database, async (client) => {
    await client.query(`insert into merchants (merchant_id, name, settings, epoch, created_at) values ('${merchant}', 'x', '{}', 0, now());
insert into books (merchant_id, environment) values ('${merchant}', 'sandbox')`);
  });
});

describe("refunds of two payments", () => {
  const [first, second] = ["01900000-0000-7000-8000-0000000000a1", "01900000-0000-7000-8000-0000000000a2"] as const;
  const refundIds = {
    [first]: "01900000-0000-7000-8000-0000000000b1",
    [second]: "01900000-0000-7000-8000-0000000000b2",
  };
  const capture = "01900000-0000-7000-8000-0000000000c1";
  const ofBook = `merchant_id = '${merchant}' and environment = 'sandbox'`;
  let seq = 0;

  /** Rows that stand already, whatever the rules say. */
  const stands = async (client: pg.Client, ...statements: string[]): Promise<void> => {
    await client.query("set local session_replication_role = replica");
    for (const statement of statements) await client.query(statement);
    await client.query("set local session_replication_role = origin");
  };
  const journalRow = (kind: string, group: string, id = "gen_random_uuid()"): string =>
    `insert into journals (merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash)
values ('${merchant}', 'sandbox', ${++seq}, ${id}, '${group}', '${kind}', '${kind}:${seq}', now(), sha256('x'), sha256('x'))`;
  const paymentRow = (id: string): string =>
    `insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at,
  payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing, paid_at)
values ('${merchant}', 'sandbox', '${id}', 'succeeded', 100, 1, now(), now(), now(), 'qris', 0, 'IDR', '${id}', 'approve', '[]', '{}', now())`;
  const set = (id: string, changes: string): string =>
    `update payments set ${changes} where ${ofBook} and payment_id = '${id}'`;
  const complete = (id: string, status: string): string =>
    `update refunds set status = '${status}', completed_at = now() where ${ofBook} and payment_id = '${id}'`;

  /** Each payment has a pending refund of 5 with its journal. What `work` does is not kept. */
  const withRefunds = (work: (client: pg.Client) => Promise<void>): Promise<void> =>
    asOwner(database, async (client) => {
      await client.query("begin");
      await stands(client, journalRow("capture", first, `'${capture}'`));
      for (const id of [first, second]) {
        await stands(client, paymentRow(id), journalRow("refund", id, `'${refundIds[id]}'`));
        await client.query(set(id, "refund_pending_minor = 5"));
        await client.query(refundRow(`'${refundIds[id]}'`, `'${id}'`));
      }
      await work(client);
      await client.query("rollback");
    });
  const totalsOf = async (client: pg.Client): Promise<string[]> => {
    const { rows } = await client.query<{ totals: string }>(
      `select refunded_minor || ' ' || pending_minor as totals from refund_totals where ${ofBook} and payment_id = any($1::uuid[]) order by payment_id`,
      [[first, second]],
    );
    return rows.map(({ totals }) => totals);
  };

  test("each change moves the totals of its own payment", async () => {
    await withRefunds(async (client) => {
      expect(await totalsOf(client)).toEqual(["0 5", "0 5"]);
      await client.query(set(first, "refund_pending_minor = 0, refunded_minor = 5, status = 'partially_refunded'"));
      await client.query(complete(first, "succeeded"));
      expect(await totalsOf(client)).toEqual(["5 0", "0 5"]);
      await stands(client, journalRow("refund_returned", second));
      await client.query(set(second, "refund_pending_minor = 0"));
      await client.query(complete(second, "failed"));
      expect(await totalsOf(client)).toEqual(["5 0", "0 0"]);
    });
  });

  const another = refundRow("gen_random_uuid()", `'${first}'`);
  const posted = journalRow("refund", first);
  const raised = set(first, "refund_pending_minor = 10");
  const contested = (status: string): string => set(first, `dispute_status = '${status}'`);
  test.each<[name: string, statements: string[], message: string | undefined]>([
    ["another refund", [raised, another], undefined],
    ["one that its payment does not count", [another], "not the sums"],
    ["one that its payment counts twice", [set(first, "refund_pending_minor = 15"), another], "not the sums"],
    [
      "one that its payment counts as done",
      [set(first, "refund_pending_minor = 5, refunded_minor = 5, status = 'partially_refunded'"), another],
      "not the sums",
    ],
    ["one in a dispute that waits for the merchant", [contested("needs_response"), raised, another], "is in a dispute"],
    ["one in a dispute that waits for the bank", [contested("under_review"), raised, another], "is in a dispute"],
    ["one after a dispute that was won", [contested("won"), raised, another], undefined],
    [
      "one that was begun before a dispute, and ends",
      [
        contested("under_review"),
        set(first, "refund_pending_minor = 0, refunded_minor = 5, status = 'partially_refunded'"),
        complete(first, "succeeded"),
      ],
      undefined,
    ],
    ["one that ends while its payment still counts it as pending", [complete(first, "succeeded")], "not the sums"],
    [
      "one that fails and is not given back",
      [set(first, "refund_pending_minor = 0"), complete(first, "failed")],
      "was not given back",
    ],
  ])("%s", async (_name, statements, message) => {
    await withRefunds(async (client) => {
      await stands(client, posted);
      for (const statement of statements.slice(0, -1)) await client.query(statement);
      const last = client.query(statements.at(-1) ?? "");
      if (message === undefined) await last;
      else await expect(last).rejects.toThrow(message);
    });
  });

  test("each that fails is given back by a journal of its own payment, whatever became of the others", async () => {
    const failing = complete(first, "failed") + ` and refund_id = '${refundIds[first]}'`;
    for (const [givenBack, message] of [
      [[journalRow("refund_returned", first)], undefined],
      [[journalRow("refund_returned", second)], "was not given back"],
      [[journalRow("refund", first)], "was not given back"],
    ] as const)
      await withRefunds(async (client) => {
        await stands(client, posted);
        for (const statement of [raised, another, set(first, "refund_pending_minor = 5")])
          await client.query(statement);
        await stands(client, ...givenBack);
        const failed = client.query(failing);
        if (message === undefined) await failed;
        else await expect(failed).rejects.toThrow(message);
      });
  });

  test("one without a journal of its own is refused, also when it is named like another journal of its payment", async () => {
    for (const id of ["gen_random_uuid()", `'${capture}'`])
      await withRefunds(async (client) => {
        await client.query(raised);
        await expect(client.query(refundRow(id, `'${first}'`))).rejects.toThrow("has no journal");
      });
  });
});
