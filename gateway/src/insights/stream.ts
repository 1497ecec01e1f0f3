// The stream of server-sent events: tells open pages which kinds of objects changed, with ids. One read of the feed per turn serves all listeners.
import type { Readable } from "node:stream";
import { type FedRow, selectFed } from "../events/feed.sql.ts";
import { Fault } from "../ground/fault.ts";
import { idOf } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import { stopwatchMs } from "../ground/clock.ts";
import { type EventStream, EventStreams } from "../http/event-streams.ts";
import { type Book, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Scope } from "../merchants/directory.ts";
import { actionsOf } from "../people/roles.ts";
import type { Sessions } from "../people/sessions.ts";
import type { Position } from "../store/commit-order.ts";
import type { Database } from "../store/database.ts";
import { type FedToRow, selectFedTo, selectIsMore } from "./stream.sql.ts";

/** Times and limits. Tests pass shorter ones. */
export const streamLimits = {
  pollMs: 500,
  /** Time without an event after which a comment is sent, because proxies close connections that are silent for long. */
  heartbeatMs: 15_000,
  /** Time between two checks of the listeners' sessions and roles. */
  permissionsMs: 1_000,
  /** A stream ends when its session could not be checked for this long. */
  unknownMs: 10_000,
  perPerson: 8,
  /** Streams of one merchant's members, who must leave room for other merchants. */
  perMerchant: 100,
  inAll: 500,
  /** Unread bytes beyond which a slow listener is disconnected. */
  unreadBytes: 64 * 1024,
  /** Events of all books that are read at most for one listener who reconnects. */
  missedMax: 5_000,
};
export type StreamLimits = typeof streamLimits;

/** Highest number of object ids in one message. */
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

interface Listening extends Listener {
  /** When the session was known to be good. */
  allowedAtMs: number;
}
type Open = EventStream<Listening>;

interface StreamParts {
  database: Database;
  sessions: Sessions;
  log: Log;
  limits?: StreamLimits | undefined;
}

export class Streams {
  private readonly parts: StreamParts;
  private readonly limits: StreamLimits;
  readonly open: EventStreams<Listening>;
  private position: Position | undefined;
  private permissionsCheckedAt = 0;

  constructor(parts: StreamParts) {
    this.parts = parts;
    this.limits = parts.limits ?? streamLimits;
    this.open = new EventStreams({
      limits: this.limits,
      poll: () => this.poll(),
      reset: () => (this.position = undefined),
    });
  }

  /**
   * Opens a stream for a listener who may read the book. `lastId`: id of the last event that the listener received; events since then are sent first.
   * Throws RATE_LIMITED (too many streams of the person or the merchant), SERVICE_UNAVAILABLE (too many in all, or the process stops).
   */
  async listen(listener: Listener, lastId: string | undefined): Promise<Readable> {
    this.refuseTooMany(listener);
    const open = this.open.open({ ...listener, allowedAtMs: stopwatchMs() });
    try {
      const position = await this.current();
      const missed = lastId === undefined ? undefined : await this.missed(open, lastId, position);
      if (missed === undefined)
        open.begin(`id: ${position}\nevent: ${lastId === undefined ? "begin" : "reset"}\ndata: {}\n\n`);
      else open.begin(`: again\n\n${messagesFor(open.listener, missed, position)}`);
    } catch (error) {
      open.readable.destroy();
      throw error;
    }
    return open.readable;
  }

  private refuseTooMany({ personId, book: { merchantId } }: Listener): void {
    this.open.refuseTooMany();
    const tooMany = (message: string): Fault => new Fault("RATE_LIMITED", { message, retryAfterSeconds: 30 });
    const listeners = [...this.open].map(({ listener }) => listener);
    const ofMerchant = listeners.filter(({ book }) => book.merchantId === merchantId);
    if (ofMerchant.length >= this.limits.perMerchant)
      throw tooMany(`Your merchant's people have ${ofMerchant.length} pages open that listen by themselves.`);
    const own = listeners.filter((listener) => listener.personId === personId).length;
    if (own >= this.limits.perPerson)
      throw tooMany(`You have ${own} pages open that listen by themselves. Close some of them.`);
  }

  /** The position where the next turn begins. It is unknown while there are no listeners. */
  private async current(): Promise<Position> {
    if (this.position !== undefined) return this.position;
    const { fed_to: fedTo } = await this.fedTo();
    return (this.position ??= fedTo);
  }

  private async fedTo(): Promise<FedToRow> {
    const [row] = await this.parts.database.query<FedToRow>(selectFedTo);
    return row ?? { fed_to: "0", watermark: "0" };
  }

  /** Events that a listener missed; undefined when `lastId` is no valid position, or more than `missedMax` events lie behind it. */
  private async missed(open: Open, lastId: string, to: Position): Promise<FedRow[] | undefined> {
    if (!/^\d{1,18}$/.test(lastId) || BigInt(lastId) > BigInt(to)) return undefined;
    const { database } = this.parts;
    const [row] = await database.query(selectIsMore(lastId, to, this.limits.missedMax));
    if (row?.more !== false) return undefined;
    return database.query<FedRow>(selectFed([open.listener.book], lastId, to, IDS_MAX));
  }

  private async poll(): Promise<void> {
    try {
      if (stopwatchMs() - this.permissionsCheckedAt >= this.limits.permissionsMs) await this.checkPermissions();
      await this.publish();
    } catch (error) {
      this.parts.log.debug({ err: error }, "the stream could not look at the feed");
    }
    const now = stopwatchMs();
    for (const open of this.open) if (now - open.listener.allowedAtMs > this.limits.unknownMs) this.open.end(open);
  }

  /** Ends streams whose session has ended or whose person is no member of the merchant any more, and updates the scopes of the others. */
  private async checkPermissions(): Promise<void> {
    const asked = [...this.open];
    const now = stopwatchMs();
    const roles = await this.parts.sessions.roles(
      asked.map(({ listener: { sessionId, book } }) => ({ sessionId, merchantId: book.merchantId })),
    );
    this.permissionsCheckedAt = now;
    asked.forEach((open, at) => {
      const role = roles[at];
      if (role === undefined) return this.open.end(open);
      const { listener } = open;
      open.listener = { ...listener, allowedAtMs: now, scopes: actionsOf(role, listener.book.environment) };
    });
  }

  private async publish(): Promise<void> {
    const from = this.position;
    const { fed_to: to, watermark } = await this.fedTo();
    // Only a server that took over without the newest transactions goes back. Listeners that come back load everything anew.
    if (from !== undefined && BigInt(watermark) < BigInt(from)) {
      this.position = undefined;
      for (const open of this.open) this.open.end(open);
    }
    if (from === undefined || BigInt(to) <= BigInt(from)) return;
    const listeners = [...this.open];
    const books = new Map(listeners.map(({ listener: { book } }) => [bookKey(book), book]));
    // Whoever comes while these events are read begins behind them, and reads itself what it missed up to there.
    this.position = to;
    const rows = await this.parts.database
      .query<FedRow>(selectFed([...books.values()], from, to, IDS_MAX))
      .catch((error: unknown) => {
        if (this.position === to) this.position = from;
        throw error;
      });
    const byBook = Map.groupBy(rows, (row) => bookKey(bookOfRow(row)));
    for (const open of listeners) {
      const own = byBook.get(bookKey(open.listener.book));
      if (own) open.write(messagesFor(open.listener, own, to));
    }
  }
}

/** Text of the messages, one for each event type. Only the last carries the position, so that a listener cut off in between gets all of them again. */
function messagesFor({ scopes }: Listener, rows: readonly FedRow[], position: Position): string {
  const messages = rows.flatMap(({ type, events, subject_ids: ids }) => {
    const kind = type.split(".")[0] as Kind;
    if (!Object.hasOwn(kinds, kind) || !scopes.has(kinds[kind])) return [];
    const data = { count: events, ids: ids.map((id) => idOf(kind, id)) };
    return [`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`];
  });
  return messages.map((text, at) => (at === messages.length - 1 ? `id: ${position}\n${text}` : text)).join("");
}
