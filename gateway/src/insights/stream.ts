// The stream: tells open pages what kinds of things changed, and which, by server-sent events. One look at the feed a turn for all of them.
import { Readable } from "node:stream";
import { type FedRow, selectFed } from "../events/feed.sql.ts";
import { Fault } from "../ground/fault.ts";
import { idOf } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import { stopwatchMs } from "../ground/clock.ts";
import { type Book, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Scope } from "../merchants/directory.ts";
import { actionsOf } from "../people/roles.ts";
import type { Sessions } from "../people/sessions.ts";
import type { Position } from "../store/commit-order.ts";
import type { Database } from "../store/database.ts";
import { selectIsMore, selectToldTo } from "./stream.sql.ts";

/** Times and limits; tests have shorter ones. */
export const streamLimits = {
  lookMs: 500,
  /** A connection that is silent for longer is taken for lost by what lies between. */
  heartbeatMs: 15_000,
  /** How soon a session that ended ends its streams. */
  standingMs: 1_000,
  /** A stream of which it is not known for so long whether its session stands is ended. */
  unknownMs: 10_000,
  perPerson: 8,
  /** However many persons they invite, the people of one merchant leave room for others. */
  perMerchant: 100,
  inAll: 500,
  /** What a listener that reads too slowly may leave unread. */
  unreadBytes: 64 * 1024,
  /** Events of all books that are looked through for one listener who comes back. */
  missedMax: 5_000,
};
export type StreamLimits = typeof streamLimits;

/** Objects that are named of one kind and turn. */
const IDS_MAX = 20;

const kinds = {
  payment: "payments:read",
  refund: "refunds:read",
  settlement: "settlements:read",
  dispute: "disputes:read",
} as const satisfies Record<string, Scope>;
type Kind = keyof typeof kinds;

export interface Listener {
  book: Book;
  personId: string;
  sessionId: string;
  scopes: ReadonlySet<string>;
}

interface Open extends Listener {
  stream: Readable;
  heardAt: number;
  stoodAt: number;
}

export interface StreamParts {
  database: Database;
  sessions: Sessions;
  log: Log;
  limits?: StreamLimits | undefined;
}

export class Streams {
  private readonly parts: StreamParts;
  private readonly limits: StreamLimits;
  private readonly open = new Set<Open>();
  private position: Position | undefined;
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<void> | undefined;
  private lookedAtStanding = 0;
  private stopped = false;

  constructor(parts: StreamParts) {
    this.parts = parts;
    this.limits = parts.limits ?? streamLimits;
  }

  get size(): number {
    return this.open.size;
  }

  /**
   * A stream for somebody who may read the book. `lastId`: of the last event that they heard; what they missed since is told first.
   * Throws RATE_LIMITED (they or their merchant have too many), SERVICE_UNAVAILABLE (all together have).
   */
  async listen(listener: Listener, lastId: string | undefined): Promise<Readable> {
    this.refuseTooMany(listener);
    const now = stopwatchMs();
    const stream = new Readable({ read: () => undefined, highWaterMark: this.limits.unreadBytes });
    const open: Open = { ...listener, stream, heardAt: now, stoodAt: now };
    this.open.add(open);
    stream.on("close", () => this.open.delete(open));
    try {
      const position = await this.current();
      const missed = lastId === undefined ? undefined : await this.missed(open, lastId, position);
      if (missed === undefined)
        say(open, `id: ${position}\nevent: ${lastId === undefined ? "begin" : "reset"}\ndata: {}\n\n`);
      else say(open, `: again\n\n${this.told(open, missed, position)}`);
    } catch (error) {
      stream.destroy();
      throw error;
    }
    this.timer ??= setInterval(() => {
      this.turn ??= this.look().finally(() => (this.turn = undefined));
    }, this.limits.lookMs);
    return stream;
  }

  /** Ends all of them: whoever listens asks another process. */
  stop(): void {
    this.stopped = true;
    for (const open of this.open) this.end(open);
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private refuseTooMany({ personId, book: { merchantId } }: Listener): void {
    if (this.stopped || this.open.size >= this.limits.inAll)
      throw new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 5 });
    const tooMany = (message: string): Fault => new Fault("RATE_LIMITED", { message, retryAfterSeconds: 30 });
    const ofMerchant = [...this.open].filter(({ book }) => book.merchantId === merchantId);
    if (ofMerchant.length >= this.limits.perMerchant)
      throw tooMany(`Your merchant's people have ${ofMerchant.length} pages open that listen by themselves.`);
    const own = [...this.open].filter((open) => open.personId === personId).length;
    if (own >= this.limits.perPerson)
      throw tooMany(`You have ${own} pages open that listen by themselves. Close some of them.`);
  }

  /** Where the next turn begins. While nobody listens it is forgotten. */
  private async current(): Promise<Position> {
    if (this.position !== undefined) return this.position;
    const toldTo = await this.toldTo();
    return (this.position ??= toldTo);
  }

  private async toldTo(): Promise<Position> {
    const [row] = await this.parts.database.query<{ told_to: Position }>(selectToldTo());
    return row?.told_to ?? "0";
  }

  /** What a listener missed; undefined when it cannot be told any more, or is too much to look through. */
  private async missed(open: Open, lastId: string, to: Position): Promise<FedRow[] | undefined> {
    if (!/^\d{1,18}$/.test(lastId) || BigInt(lastId) > BigInt(to)) return undefined;
    const { database } = this.parts;
    const [row] = await database.query(selectIsMore(lastId, to, this.limits.missedMax));
    if (row?.more !== false) return undefined;
    return database.query<FedRow>(selectFed([open.book], lastId, to, IDS_MAX));
  }

  private async look(): Promise<void> {
    if (this.open.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      this.position = undefined;
      return;
    }
    try {
      if (stopwatchMs() - this.lookedAtStanding >= this.limits.standingMs) await this.holdStanding();
      await this.tell();
    } catch (error) {
      this.parts.log.debug({ err: error }, "the stream could not look at the feed");
    }
    const now = stopwatchMs();
    for (const open of this.open) {
      if (now - open.stoodAt > this.limits.unknownMs) this.end(open);
      else if (now - open.heardAt >= this.limits.heartbeatMs) this.say(open, ": still here\n\n");
    }
  }

  /** Ends the streams of those whose session is over, or who do not belong to the merchant any more. */
  private async holdStanding(): Promise<void> {
    const asked = [...this.open];
    const now = stopwatchMs();
    const roles = await this.parts.sessions.roles(
      asked.map(({ sessionId, book }) => ({ sessionId, merchantId: book.merchantId })),
    );
    this.lookedAtStanding = now;
    asked.forEach((open, at) => {
      const role = roles[at];
      if (role === undefined) return this.end(open);
      open.stoodAt = now;
      open.scopes = actionsOf(role, open.book.environment);
    });
  }

  private async tell(): Promise<void> {
    const from = this.position;
    const to = await this.toldTo();
    if (from === undefined || BigInt(to) <= BigInt(from)) return;
    const listeners = [...this.open];
    const books = new Map(listeners.map(({ book }) => [bookKey(book), book]));
    const rows = await this.parts.database.query<FedRow>(selectFed([...books.values()], from, to, IDS_MAX));
    this.position = to;
    const byBook = Map.groupBy(rows, (row) => bookKey(bookOfRow(row)));
    for (const open of listeners) {
      const own = byBook.get(bookKey(open.book));
      if (own) this.say(open, this.told(open, own, to));
    }
  }

  /** What happened, kind by kind. The last one carries the position: whoever heard half of it comes back to the whole. */
  private told({ scopes }: Open, rows: readonly FedRow[], position: Position): string {
    const heard = rows.flatMap(({ type, events, subject_ids: ids }) => {
      const kind = type.split(".")[0] as Kind;
      if (!Object.hasOwn(kinds, kind) || !scopes.has(kinds[kind])) return [];
      const data = { count: events, ids: ids.map((id) => idOf(kind, id)) };
      return [`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`];
    });
    return heard.map((text, at) => (at === heard.length - 1 ? `id: ${position}\n${text}` : text)).join("");
  }

  private say(open: Open, text: string): void {
    if (text === "" || open.stream.destroyed) return;
    // It reads too slowly, or not at all: it comes back when it does.
    if (open.stream.readableLength + text.length > this.limits.unreadBytes) open.stream.destroy();
    else say(open, text);
  }

  /** The listener hears the end, and may come back. */
  private end(open: Open): void {
    if (this.open.delete(open) && !open.stream.destroyed) open.stream.push(null);
  }
}

function say(open: Open, text: string): void {
  if (text === "" || open.stream.destroyed) return;
  open.stream.push(text);
  open.heardAt = stopwatchMs();
}
