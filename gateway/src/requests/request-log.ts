// The request log: keeps answered requests in memory and writes them later in batches, outside the lanes that batch commands. Requests beyond the
// limits are dropped and counted. No request waits for the log, which takes a small share of one database connection's time.
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Counter } from "prom-client";
import { stopwatchMs } from "../ground/clock.ts";
import { KeyedCount } from "../ground/keyed-count.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import type { Client, Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import { STEP } from "../store/retention.ts";
import { type Gap, addGaps, insertRequests, trimRequests } from "./request-log.sql.ts";
import { RequestQuotas } from "./request-quotas.ts";
import { type Answered, BODY_MAX_BYTES, type RequestRecord, type Sent, recordOf } from "./request-record.ts";
import { TimeBudget } from "./time-budget.ts";

const WAITING_MAX = 1_000; // at most a quarter of one book: a busy book leaves room for others
const WAITING_BYTES_MAX = 4 * 1024 * 1024;
const BATCH_MAX = 100;
const GATHER_MS = 40;
/** Rows written for a book between two trims of its log. */
const TRIM_EVERY = 1_000;
const GAPS_EVERY_MS = 2_000;
/** Highest number of books whose gaps and row counts are held in memory. */
const BOOKS_MAX = 10_000;

interface RequestLogParts {
  database: Database;
  directory: Directory;
  metrics: Metrics;
  log: Log;
  /** Share of one connection's time, if not the default. */
  share?: number | undefined;
}

/** True for requests that list the log. They are not logged, or a program that follows the log would find little else in it. */
const isOwnList = ({ url }: FastifyRequest): boolean => /^\/v1\/sandbox\/requests(\?|$)/.test(url);

/** An answered request in memory. Without `book`, the owner of `clientId` must be looked up before it is written. */
type Waiting = Omit<Answered, "book" | "clientId"> & { book: Book | undefined; clientId: string };

export class RequestLog {
  private readonly parts: RequestLogParts;
  private readonly quotas = new RequestQuotas();
  private readonly budget: TimeBudget;
  private waiting: Waiting[] = [];
  private bytes = 0;
  private readonly held = new KeyedCount(); // how many wait, by the name of their book
  private gaps = new Map<string, Gap>();
  private gapsWrittenAt = 0;
  /** Rows written since the last trim, by book. */
  private readonly grown = new Map<string, number>();
  private working: Promise<void> | undefined;
  private isFailing = false;
  private readonly ending = new AbortController();
  private readonly counts: Record<"written" | "dropped", Counter.Internal>;

  constructor(parts: RequestLogParts) {
    this.parts = parts;
    this.budget = new TimeBudget(stopwatchMs(), parts.share);
    const { requestLog } = parts.metrics;
    this.counts = { written: requestLog.labels("written"), dropped: requestLog.labels("dropped") };
  }

  /** Keeps an answered request for the log, if it belongs there and fits the limits. Does no I/O, so it costs the request next to nothing. */
  note(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    const { sender, isProven } = request;
    const refused = reply.statusCode >= 400;
    if (!refused && isOwnList(request)) return;
    if (sender) {
      const { book, clientId } = sender;
      if (book.environment === "production" && !refused) return;
      const name = bookKey(book);
      const now = stopwatchMs();
      const fits = isProven ? this.quotas.takesProven(name, refused, now) : this.quotas.takesUnproven(name, now);
      if (fits && this.hasRoom(book)) this.keep(request, reply, payload, book, clientId);
      else this.drop(book, isProven);
      return;
    }
    // The request was refused before its sender was looked up: a missing signature, an unknown path, a body that is too large.
    if (!refused || reply.statusCode === 429 || this.ending.signal.aborted || !request.url.startsWith("/v1/")) return;
    const clientId = claimedClient(request.headers.authorization);
    if (clientId === undefined || !this.hasRoom() || !this.quotas.takesUnnamed(stopwatchMs())) return;
    this.keep(request, reply, payload, undefined, clientId);
  }

  /** Writes the waiting requests, unless the database fails, and ends. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.working;
  }

  private hasRoom(book?: Book): boolean {
    if (this.held.inAll >= WAITING_MAX || this.bytes >= WAITING_BYTES_MAX || this.ending.signal.aborted) return false;
    return this.held.of(nameOf({ book })) < WAITING_MAX / 4;
  }

  private count(one: Waiting, change: 1 | -1): void {
    this.bytes += change * weightOf(one);
    this.held.add(nameOf(one), change);
  }

  private keep(
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    book: Book | undefined,
    clientId: string,
  ): void {
    const kept: Waiting = {
      requestId: request.id,
      book,
      clientId,
      isProven: request.isProven,
      method: request.method,
      target: request.url,
      status: reply.statusCode,
      tookMs: stopwatchMs() - request.begunAt,
      replayed: reply.hasHeader("x-idempotent-replay"),
      idempotencyKey: sentKey(request.raw.headersDistinct["idempotency-key"]),
      request: sentOf(request.body),
      response: sentOf(payload),
    };
    this.waiting.push(kept);
    this.count(kept, 1);
    this.working ??= this.work();
  }

  /** Counts a request that is not logged. Its gap is told to the merchant, if that is known. */
  private drop(book: Book | undefined, isProven: boolean): void {
    this.counts.dropped.inc();
    if (!book) return;
    const name = bookKey(book);
    let gap = this.gaps.get(name);
    if (!gap) {
      if (this.gaps.size >= BOOKS_MAX) return;
      this.gaps.set(name, (gap = { book, dropped: 0, unproven: 0 }));
    }
    if (isProven) gap.dropped++;
    else gap.unproven++;
    this.working ??= this.work();
  }

  private async work(): Promise<void> {
    const { signal } = this.ending;
    try {
      while (this.waiting.length > 0 || this.gaps.size > 0) {
        if (this.waiting.length < BATCH_MAX) await rest(GATHER_MS, signal);
        const begunAt = stopwatchMs();
        if (this.waiting.length > BATCH_MAX) this.waiting = inTurns(this.waiting);
        const batch = this.waiting.splice(0, BATCH_MAX);
        for (const one of batch) this.count(one, -1);
        const isWritten = batch.length === 0 || (await this.write(batch));
        const areGapsWritten = await this.writeGaps();
        // The process stops, and the database fails: the remaining requests are lost.
        if (signal.aborted && !(isWritten && areGapsWritten)) return;
        await rest(this.budget.spend(begunAt, stopwatchMs()), signal);
      }
    } finally {
      this.working = undefined; // in the step of the last look, so that no note comes in between
    }
  }

  /** False when the database failed. */
  private async write(batch: readonly Waiting[]): Promise<boolean> {
    const records: RequestRecord[] = [];
    /** What a failure loses: each request as far as its sender is known, without those that do not belong into the log. */
    const lost: (Waiting | undefined)[] = [...batch];
    const isWritten = await this.trying(async () => {
      for (const [place, one] of batch.entries()) {
        const named = await this.named(one);
        lost[place] = named;
        if (named) records.push(recordOf(named));
      }
      if (records.length > 0) await this.parts.database.query(insertRequests(records));
    });
    if (isWritten) this.counts.written.inc(records.length);
    else for (const one of lost) if (one) this.drop(one.book, one.isProven);
    return isWritten && this.trying(() => this.trim(records));
  }

  /** The request with its book; undefined when the client_id is unknown, or the book's quota of unauthenticated requests is used up. */
  private async named(one: Waiting): Promise<Answered | undefined> {
    if (one.book) return { ...one, book: one.book };
    const client: Client | undefined = await this.parts.directory.client(one.clientId);
    if (!client) return undefined;
    const { book } = client;
    if (this.quotas.takesUnproven(bookKey(book), stopwatchMs())) return { ...one, book };
    this.drop(book, false);
    return undefined;
  }

  /** Trims a book's log when this process first writes to it, and after every thousand rows, so that restarts do not let it grow. */
  private async trim(records: readonly RequestRecord[]): Promise<void> {
    const due = new Map<string, Book>();
    for (const { book } of records) {
      const name = bookKey(book);
      if (this.grown.size >= BOOKS_MAX) this.grown.clear();
      const rows = (this.grown.get(name) ?? TRIM_EVERY) + 1;
      this.grown.set(name, rows);
      if (rows > TRIM_EVERY) due.set(name, book);
    }
    for (const [name, book] of due) {
      this.grown.set(name, 0);
      while ((await this.parts.database.query(trimRequests(book))).length >= STEP) await rest(50, this.ending.signal);
    }
  }

  /** Writes the gaps. False when the database failed: the gaps stay in memory for the next time. */
  private async writeGaps(): Promise<boolean> {
    const now = stopwatchMs();
    const isDue = now - this.gapsWrittenAt >= GAPS_EVERY_MS || this.ending.signal.aborted;
    if (this.gaps.size === 0 || !isDue) return true;
    this.gapsWrittenAt = now;
    const gaps = [...this.gaps].slice(0, BATCH_MAX);
    for (const [name] of gaps) this.gaps.delete(name);
    const areGapsWritten = await this.trying(async () => {
      await this.parts.database.query(addGaps(gaps.map(([, gap]) => gap)));
    });
    for (const [name, gap] of areGapsWritten ? [] : gaps) {
      const since = this.gaps.get(name);
      this.gaps.set(name, {
        ...gap,
        dropped: gap.dropped + (since?.dropped ?? 0),
        unproven: gap.unproven + (since?.unproven ?? 0),
      });
    }
    return areGapsWritten;
  }

  /** False when work threw. Errors are only logged, the first of several: the request log must not fail anything else. */
  private async trying(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.parts.log.warn({ err: error }, "the portal's list of requests could not be written");
      this.isFailing = true;
    }
    return !this.isFailing;
  }
}

const nameOf = ({ book }: Pick<Waiting, "book">): string => (book ? bookKey(book) : "");

/** Sorts requests so that the books take turns: a busy book does not delay another. Those of one book stay in their order. */
function inTurns(waiting: readonly Waiting[]): Waiting[] {
  const turns = [...Map.groupBy(waiting, nameOf).values()].flatMap((ofBook) => [...ofBook.entries()]);
  return turns.toSorted(([a], [b]) => a - b).map(([, one]) => one);
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined); // rejects when `stop` aborts the pause: the rest is written at once
}

/** The client_id that an Authorization header claims; undefined when it has no valid form. */
function claimedClient(authorization: string | undefined): string | undefined {
  return /^bearer (ak_(?:test|live)_[0-9a-z]{20,60})$/i.exec(authorization ?? "")?.[1];
}

/** The idempotency key as sent, if it can be stored as text. Keys that the interface does not allow are kept too. */
function sentKey(sent: string[] | undefined): string | undefined {
  const [key] = sent ?? [];
  return key !== undefined && sent?.length === 1 && /^[\t -~]{1,255}$/.test(key) ? key : undefined;
}

function sentOf(payload: unknown): Sent {
  if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return { size: 0, bytes: undefined };
  const size = Buffer.byteLength(payload);
  if (size > BODY_MAX_BYTES) return { size, bytes: undefined };
  return { size, bytes: Buffer.isBuffer(payload) ? payload : Buffer.from(payload) };
}

/** Approximate bytes of memory that a waiting request takes. */
function weightOf({ request, response, target }: Waiting): number {
  return 500 + target.length + (request.bytes?.length ?? 0) + (response.bytes?.length ?? 0);
}
