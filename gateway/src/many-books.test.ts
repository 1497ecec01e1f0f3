// Goal: what the service asks all the time costs by what there is to do, and not by how many merchants there are. Method: twenty thousand books with
// nothing to do, and the pages of the database that each statement looks at.
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asOwner, cloneDatabase } from "../test/kit.ts";
import { selectExpiredDisputes } from "./disputes/disputes.sql.ts";
import { claimDeliveries } from "./events/claim.sql.ts";
import { booksWithHistory } from "./events/history.sql.ts";
import { oldestDue } from "./events/outbox.sql.ts";
import { systemClock } from "./ground/clock.ts";
import type { DueBooks } from "./merchants/due-books.sql.ts";
import { selectQueues } from "./operator/system.sql.ts";
import {
  waitingDeadlines,
  waitingEndpoints,
  waitingPayouts,
  waitingRefunds,
  waitingReturns,
} from "./operator/waiting.sql.ts";
import { selectExpiredPayments } from "./payments/payments.sql.ts";
import { selectDueBooks, selectPayable } from "./settlements/settlements.sql.ts";
import { countBooksByDeliveryDelay } from "./status/status.sql.ts";
import { limits } from "./store/database.ts";
import type { Statement } from "./store/database.ts";

const MERCHANTS = 10_000;
/** So many have payments that wait, for hours yet. */
const WAITING = 1_000;
let client: pg.Client;

beforeAll(async () => {
  const database = await cloneDatabase();
  await asOwner(database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // no triggers and no foreign keys
    await owner.query(
      `create temporary table made as select gen_random_uuid() as id, n from generate_series(1, ${MERCHANTS}) n`,
    );
    await owner.query(
      "insert into merchants (merchant_id, name, settings, epoch, created_at) select id, 'x', '{}', 0, now() from made",
    );
    for (const environment of ["sandbox", "production"]) {
      await owner.query(`insert into books (merchant_id, environment) select id, '${environment}' from made`);
      await owner.query(
        `insert into settlement_clocks select id, '${environment}', now() + interval '1 day' from made`,
      );
    }
    await owner.query(`insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at,
  expires_at, payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing)
select id, 'production', gen_random_uuid(), 'pending', 1, 0, now(), now(), now() + interval '9 hours', 'qris', 0, 'IDR', 'x', 'approve', '[]', '{}'
from made where n <= ${WAITING}`);
    await owner.query("analyze");
  });
  client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
});
afterAll(() => client.end());

const realNow = systemClock.now();
const due: DueBooks = { realNow, most: 500, without: [] };
const asked = { now: realNow, environment: undefined };
const claim = (which: "first" | "retry"): Statement =>
  claimDeliveries({
    which,
    books: undefined,
    limit: 100,
    perBook: 10,
    capacities: new Map(),
    realNow,
    leaseMs: 1,
    token: "00000000-0000-0000-0000-000000000000",
    capacityElsewhere: 1,
  });

test.each<[string, Statement]>([
  ["expired payments", selectExpiredPayments(due)],
  ["expired disputes", selectExpiredDisputes(due)],
  ["settlement runs", selectDueBooks(due)],
  ["payouts of sandboxes", selectPayable(due)],
  ["first deliveries", claim("first")],
  ["deliveries to repeat", claim("retry")],
  ["the oldest delivery", oldestDue(realNow)],
  ["late deliveries", countBooksByDeliveryDelay(realNow)],
  ["old events", booksWithHistory(realNow, 90)],
  ["queues", selectQueues(realNow)],
  ["disputes near their deadline", waitingDeadlines(asked)],
  ["late payouts", waitingPayouts(asked)],
  ["returned payouts", waitingReturns(asked)],
  ["late refunds", waitingRefunds(asked)],
  ["events that were given up", waitingEndpoints(asked)],
])("%s: no book without any is looked at", async (_what, { text, values }) => {
  await client.query("begin");
  const { text: set, values: limitValues } = limits(1_000);
  await client.query(set, limitValues as string[]);
  const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
    `explain (analyze, buffers, timing off, format json) ${text}`,
    values as unknown[],
  );
  await client.query("rollback");
  const plan = rows[0]?.["QUERY PLAN"][0].Plan ?? {};
  expect((plan["Shared Hit Blocks"] ?? NaN) + (plan["Shared Read Blocks"] ?? NaN)).toBeLessThan(100);
});

test("a backlog of production keeps no sandbox from expiring", async () => {
  await client.query("begin");
  await client.query("set session_replication_role = replica");
  await client.query("update payments set expires_at = now() - interval '1 second'");
  await client.query(`insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at,
  payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing)
select merchant_id, 'sandbox', gen_random_uuid(), 'pending', 1, 0, now(), now(), now() - interval '1 second', 'qris', 0, 'IDR', 'x', 'approve', '[]', '{}'
from merchants limit 1`);
  const { text, values } = selectExpiredPayments({ ...due, realNow: systemClock.now(), most: 10 });
  const { rows } = await client.query<{ environment: string }>(text, values as unknown[]);
  await client.query("rollback");
  expect(Object.groupBy(rows, ({ environment }) => environment)).toMatchObject({
    production: { length: 10 },
    sandbox: { length: 1 },
  });
});
