// What a receiver keeps, in SQLite: the events it knows, the newest state of each payment, and the work that is to be done. In your shop these are
// three tables beside your orders.
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

const database = new DatabaseSync(process.env.INBOX ?? "inbox.sqlite", { timeout: 5_000 });
database.exec(`
  create table if not exists events (id text primary key, kept_at integer not null);
  create table if not exists payments (
    reference text primary key, order_id text not null, status text not null, version text not null
  );
  create table if not exists jobs (id integer primary key, order_id text not null, due_at integer not null);
`);
const know = database.prepare("insert into events values (?, ?) on conflict do nothing");
const update = database.prepare(`
  insert into payments values (?, ?, ?, ?)
  on conflict (reference) do update set status = excluded.status, version = excluded.version
  where excluded.version > payments.version
`);
const queue = database.prepare("insert into jobs (order_id, due_at) values (?, ?)");
const claim = database.prepare(`
  update jobs set due_at = ? where id = (select id from jobs where due_at <= ? order by due_at, id limit 1)
  returning id, order_id
`);
const done = database.prepare("delete from jobs where id = ?");
const seconds = () => Math.floor(Date.now() / 1000);

/**
 * Keeps an event of a payment, in one transaction: it is known, the payment is as it says, and the work is queued; or nothing of all that, and the
 * event comes again. An event that is known, or older than what is known of the payment, changes nothing.
 */
export function keep({ id, type, created_at, data }) {
  database.exec("begin immediate");
  try {
    const isNew = know.run(id, seconds()).changes > 0;
    const rank = { pending: 0, processing: 1 }[data.status] ?? 2; // what is over stays over, whatever the clocks say
    const version = `${rank} ${created_at} ${id}`; // within a second, ids are in the order of the events
    const isNewer = isNew && update.run(data.reference, data.reference_id, data.status, version).changes > 0;
    if (isNewer && type === "payment.succeeded") queue.run(data.reference_id, seconds());
    database.exec("commit");
  } catch (error) {
    database.exec("rollback");
    throw error;
  }
}

/** Does what is queued, for ever. What fails, or a crash interrupts, is done again after a minute: let `fulfil` bear that. */
export async function work(fulfil) {
  for (;;) {
    const job = claim.get(seconds() + 60, seconds());
    if (job === undefined) {
      await sleep(200);
      continue;
    }
    const order = String(job.order_id);
    try {
      await fulfil(order);
      done.run(job.id);
    } catch (error) {
      console.error(`order ${order} is not fulfilled yet: ${error.message}`);
    }
  }
}
