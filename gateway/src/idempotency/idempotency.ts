// Idempotency (section 4.11): one transaction writes the record of the key, the effect of the request, the stored answer and who asked.
import { setTimeout as pause } from "node:timers/promises";
import { type Micros, SECOND, stopwatchMs, wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { type Book, bookClocks, bookKey, bookNow } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import type { Command, Moment } from "../store/command.ts";
import { type WorkingSet, need } from "../store/working-set.ts";
import { consume } from "../auth/nonces.ts";
import { type Nonce, usedNonces } from "../auth/nonces.sql.ts";
import { type Reply, faultReply } from "../ground/reply.ts";
import { type SignedChange, clientAudit } from "./client-audit.sql.ts";
import { KEY_RETENTION_HOURS, type KeyRecord, keyRecords, openKeys, selectKeyRecord } from "./idempotency.sql.ts";

/** A write request as it arrived: its idempotency key and everything that the key is bound to. */
export interface Intent {
  book: Book;
  key: string;
  /** Method and path. */
  endpoint: string;
  bodyDigest: Buffer;
  requestId: string;
  /** Who signed the request and what it asks for; undefined where nothing changes, and where a person or an operator asks: another audit records it. */
  signed?: SignedChange | undefined;
  /** Real time. */
  receivedAt: Micros;
  /** Nonce of the request's signature, consumed in the same transaction; undefined when it has been consumed already. */
  nonce?: Nonce | undefined;
}

/** Gives the key of the `Idempotency-Key` headers. Throws IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID. */
export function checkKey(sent: string[] | undefined): string {
  if (sent === undefined) throw new Fault("IDEMPOTENCY_KEY_REQUIRED");
  const header = sent.length === 1 ? sent[0] : undefined; // two headers are invalid
  // oxlint-disable-next-line no-control-regex -- ASCII is what the interface says, all of it
  if (typeof header !== "string" || !/^[\x00-\x7f]{8,255}$/.test(header)) throw new Fault("IDEMPOTENCY_KEY_INVALID");
  return header;
}

/** True when the key was used with this path, method and body. */
function isOf(record: KeyRecord, { endpoint, bodyDigest }: Intent): boolean {
  return record.endpoint === endpoint && record.bodyDigest.equals(bodyDigest);
}

/** Gives the stored answer. Throws IDEMPOTENCY_CONFLICT, IDEMPOTENCY_IN_PROGRESS. */
function replay(record: KeyRecord, intent: Intent): Reply {
  if (!isOf(record, intent)) {
    const details = { idempotency_key: intent.key, first_seen_at: wireTime(record.firstSeenAt) };
    throw new Fault("IDEMPOTENCY_CONFLICT", { details });
  }
  if (record.status === undefined || record.response === undefined) throw new Fault("IDEMPOTENCY_IN_PROGRESS");
  // A stored success is replayed with 200, anything else with its own status.
  const status = record.status < 300 && record.status !== 202 ? 200 : record.status;
  return { status, body: record.response, replayed: true };
}

function isKept(record: KeyRecord, now: Micros): boolean {
  return now - record.firstSeenAt < KEY_RETENTION_HOURS * 3600 * SECOND;
}

/**
 * A command that consumes the request's signature and answers a key that was used before from its record. `decide` runs for a new key, or for one
 * whose record (`before`) has expired. Throws IDEMPOTENCY_CONFLICT, IDEMPOTENCY_IN_PROGRESS, SIGNATURE_REPLAYED, and what `decide` throws.
 */
function underKey(
  intent: Intent,
  { name, needs }: Pick<Command<Reply>, "name" | "needs">,
  decide: (set: WorkingSet, moment: Moment, now: Micros, before: KeyRecord | undefined) => Reply,
): Command<Reply> {
  const { book, nonce } = intent;
  return {
    name,
    book,
    needs: [...(nonce ? [need(usedNonces, nonce)] : []), ...needs, need(keyRecords, intent), need(bookClocks, book)],
    execute(set, moment) {
      if (nonce) consume(set, nonce);
      const now = bookNow(set, book, moment.realNow);
      const before = set.get(keyRecords, intent);
      return before && isKept(before, now) ? replay(before, intent) : decide(set, moment, now, before);
    },
    onLocked: (table) => (table === keyRecords.name ? new Fault("IDEMPOTENCY_IN_PROGRESS") : undefined),
  };
}

/**
 * Makes a command that runs `inner` at most once for its key and stores the answer. A key that was used before is replayed or refused.
 * Throws IDEMPOTENCY_CONFLICT, IDEMPOTENCY_IN_PROGRESS, SIGNATURE_REPLAYED, and what `inner` throws.
 */
export function idempotently(intent: Intent, inner: Command<Reply>, database: Database): Command<Reply> {
  const { book, key, endpoint, bodyDigest, requestId, signed, receivedAt } = intent;
  return {
    ...underKey(intent, inner, (set, moment, now, before) => {
      let decided: Reply;
      let changes = true;
      try {
        decided = inner.execute(set, moment);
      } catch (error) {
        if (!(error instanceof Fault) || !error.stored) throw error;
        changes = error.keepsChanges;
        if (!changes) set.drop(); // only the refusal is stored, not the changes that led to it
        decided = faultReply(error, requestId);
      }
      // An answer that `continues` comes after the commit: until then the key is in progress.
      const isOpen = decided.continues !== undefined;
      const status = isOpen ? undefined : decided.status;
      const response = isOpen ? undefined : decided.body;
      const firstSeenAt = decided.keptFrom ?? now;
      const record: KeyRecord = { book, key, endpoint, bodyDigest, firstSeenAt, status, response };
      if (before) set.update(keyRecords, record);
      else set.insert(keyRecords, record);
      if (changes && signed) {
        const { named, ...asked } = signed;
        const { id = named, status: shown } = decided.subject ?? {};
        set.insert(clientAudit, { ...asked, book, requestId, at: receivedAt, subject: id, status: shown });
      }
      return decided;
    }),
    async recall() {
      const record = await readRecord(database, intent);
      if (!record) return undefined;
      const arrived = receivedAt + record.bookOffsetSeconds * SECOND;
      // A record that had expired when the request came is not this request's: the request's own record was not committed.
      if (!isKept(record, arrived)) return undefined;
      // The record is older than this request, so this request wrote nothing: the record answers it.
      if (record.firstSeenAt < arrived) return replay(record, intent);
      if (!isOf(record, intent) || record.status === undefined) return undefined;
      return { status: record.status, body: record.response ?? "" };
    },
  };
}

/**
 * The command for a request that breaks a field rule. The record of the key comes first in the order of errors (section 7.4), so a key that
 * was used before is answered from its record. Otherwise the command throws `fault` and stores nothing.
 */
export function refuseUnlessRecorded(intent: Intent, fault: Fault): Command<Reply> {
  return underKey(intent, { name: "refuse", needs: [] }, () => {
    throw fault;
  });
}

/** Identifies the request of a key by its first use, because an expired key may stand for another request by now. */
export interface KeptKey {
  book: Book;
  key: string | undefined;
  firstSeenAt: Micros;
}

/** Gives the record of a request that continues after its first commit, while it is kept. `now` is the book's time. */
export function openRecord(set: WorkingSet, { book, key, firstSeenAt }: KeptKey, now: Micros): KeyRecord | undefined {
  const record = key === undefined ? undefined : set.get(openKeys, { book, key });
  return record?.firstSeenAt === firstSeenAt && isKept(record, now) ? record : undefined;
}

/** Stores the answer of a key that is in progress. Does nothing when the key has expired or has an answer. */
export function completeKey(set: WorkingSet, kept: KeptKey, answer: Reply, now: Micros): void {
  const record = openRecord(set, kept, now);
  if (record && record.status === undefined)
    set.update(openKeys, { ...record, status: answer.status, response: answer.body });
}

async function readRecord(
  database: Database,
  intent: Intent,
): Promise<(KeyRecord & { bookOffsetSeconds: number }) | undefined> {
  const [row] = await database.query(selectKeyRecord(intent));
  const record = row && keyRecords.parse?.(row);
  return record && { ...record, bookOffsetSeconds: Number(row.clock_offset_seconds) };
}

/** Time that a second request of a key waits for the first: well under the 200 ms within which IDEMPOTENCY_IN_PROGRESS is answered. */
const FIRST_REQUEST_WAIT_MS = 120;

/** Lets one request of a key run at a time in this process: two at once would write the same row, and their batches would fail. */
export class RunningKeys {
  private readonly running = new Map<string, Promise<void>>();

  /** Runs `work` once no other request of the key is running. Throws IDEMPOTENCY_IN_PROGRESS after FIRST_REQUEST_WAIT_MS. */
  async alone<T>(intent: Intent, work: () => Promise<T>): Promise<T> {
    const name = `${bookKey(intent.book)} ${intent.key}`;
    for (const until = stopwatchMs() + FIRST_REQUEST_WAIT_MS; ;) {
      const before = this.running.get(name);
      if (!before) break;
      if (stopwatchMs() >= until) throw new Fault("IDEMPOTENCY_IN_PROGRESS");
      await Promise.race([before, pause(until - stopwatchMs())]);
    }
    const ended = Promise.withResolvers<void>();
    this.running.set(name, ended.promise);
    try {
      return await work();
    } finally {
      this.running.delete(name);
      ended.resolve();
    }
  }
}

/** Gives the stored answer of a key; undefined when the key is new. Throws IDEMPOTENCY_CONFLICT, IDEMPOTENCY_IN_PROGRESS. */
export async function recordedAnswer(database: Database, intent: Intent, realNow: Micros): Promise<Reply | undefined> {
  const record = await readRecord(database, intent);
  if (!record || !isKept(record, realNow + record.bookOffsetSeconds * SECOND)) return undefined;
  return replay(record, intent);
}
