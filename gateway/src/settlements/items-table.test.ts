// Goal: in the database a batch is the sum of its items, whoever writes them and whenever. Method: one batch, whose items come in one statement as the
// service writes them; then one of its figures is another, or an item comes later. Batches of the same identity stand in other books.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";

const [merchant, another, batch] = [1, 2, 3].map((number) => `01900000-0000-7000-8000-00000000000${number}`);
const whole = { gross_minor: 150, fee_minor: 3, refund_minor: 40, net_minor: 107, payment_count: 2 };
type Item = [kind: string, amount: number, fee: number];
const items: Item[] = [
  ["payment", 60, 1],
  ["payment", 40, 2],
  ["receipt", 50, 0],
  ["refund", 30, 0],
  ["dispute", 10, 0],
];
let database: TestDatabase;

const batchRow = (figures: Partial<typeof whole> = {}, book = `'${merchant}', 'sandbox'`): string => {
  const { gross_minor, fee_minor, refund_minor, net_minor, payment_count } = { ...whole, ...figures };
  return `insert into settlements (merchant_id, environment, settlement_id, status, currency, period_start, period_end, created_at, pay_due_at, payout_date,
  gross_minor, fee_minor, refund_minor, net_minor, payment_count)
values (${book}, '${batch}', 'processing', 'IDR', now(), now(), now(), now(), now(), ${gross_minor}, ${fee_minor}, ${refund_minor}, ${net_minor}, ${payment_count})`;
};
const values = (of: readonly Item[], book = `'${merchant}', 'sandbox'`): string[] =>
  of.map(
    ([kind, amount, fee]) =>
      `(${book}, '${batch}', '${kind}', gen_random_uuid(), gen_random_uuid(), ${amount}, ${fee}, now())`,
  );
const itemRows = (rows: readonly string[]): string =>
  `insert into settlement_items (merchant_id, environment, settlement_id, kind, item_id, payment_id, amount_minor, fee_minor, occurred_at)
values ${rows.join(", ")}`;

/** How the database takes these statements in one transaction, of which nothing stays: the error's message, or "taken". */
async function outcome(...statements: string[]): Promise<string> {
  return asOwner(database, async (client) => {
    await client.query("begin");
    try {
      for (const statement of statements) await client.query(statement);
      await client.query("set constraints settlements_with_items immediate");
      return "taken";
    } catch (error) {
      return (error as Error).message;
    } finally {
      await client.query("rollback");
    }
  });
}

beforeAll(async () => {
  database = await cloneDatabase();
  await asOwner(database, async (client) => {
    for (const [id, name] of [
      [merchant, "x"],
      [another, "y"],
    ])
      await client.query(`insert into merchants (merchant_id, name, settings, epoch, created_at) values ('${id}', '${name}', '{}', 0, now());
insert into books (merchant_id, environment) values ('${id}', 'sandbox'), ('${id}', 'production')`);
    await client.query("set session_replication_role = replica"); // without the journals that would form them
    for (const book of [`'${merchant}', 'production'`, `'${another}', 'sandbox'`])
      await client.query(`${batchRow({}, book)}; ${itemRows(values(items, book))}`);
  });
});

const wrong = `settlement ${batch} is not the sum of its items`;

test("a batch with all of its items is taken, and one without any is not", async () => {
  expect(await outcome(batchRow(), itemRows(values(items)))).toBe("taken");
  expect(
    await outcome(
      batchRow({ fee_minor: 0, refund_minor: 0, net_minor: 150, payment_count: 0 }),
      itemRows(values([["receipt", 150, 0]])),
    ),
  ).toBe("taken");
  expect(await outcome(batchRow())).toBe(`settlement ${batch} has no items`);
});

test.each<[what: string, figures: Partial<typeof whole>, items: Item[]]>([
  ["of more than was paid", { gross_minor: 151, net_minor: 108 }, items],
  ["of less than was paid", { gross_minor: 149, net_minor: 106 }, items],
  ["with less fees", { fee_minor: 2, net_minor: 108 }, items],
  ["with less taken away", { refund_minor: 39, net_minor: 108 }, items],
  ["of another number of payments", { payment_count: 3 }, items],
  ...items.map(([kind, amount], at): [string, object, Item[]] => [
    `without its ${kind} of ${amount}`,
    {},
    items.filter((_item, place) => place !== at),
  ]),
  ...(["receipt", "refund", "dispute"] as const).map((kind): [string, object, Item[]] => [
    `with a ${kind} more`,
    {},
    [...items, [kind, 1, 0]],
  ]),
  ["that counts a receipt as a payment", { payment_count: 3 }, items],
  ["whose receipt is a refund", {}, [...items.filter(([kind]) => kind !== "receipt"), ["refund", 50, 0]]],
])("a batch %s is refused", async (_what, figures, of) => {
  expect(await outcome(batchRow(figures), itemRows(values(of)))).toBe(wrong);
});

test("no item comes into a batch later, and of two batches of one statement each is looked at", async () => {
  const later = values([["payment", 5, 0]]);
  const ofAnother = values([["payment", 5, 0]], `'${another}', 'sandbox'`);
  expect(await outcome(batchRow(), itemRows(values(items)), itemRows(later))).toBe(wrong);
  expect(await outcome(itemRows(ofAnother))).toBe(wrong);
  expect(await outcome(batchRow(), itemRows([...values(items), ...ofAnother]))).toBe(wrong);
});
