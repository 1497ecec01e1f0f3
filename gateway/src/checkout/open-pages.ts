// Streams to open payers' pages: tell when the payment's state changes, whichever process changed it. One statement per turn serves all pages.
import { Readable } from "node:stream";
import { stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import { type PaymentName, selectSummaries, summaryOfRow } from "../payments/payments.sql.ts";
import type { RiskVerdict } from "../risk/risk.ts";
import type { Database, Row } from "../store/database.ts";
import { type Face, faceOf } from "./checkout.ts";

/** Times and limits. Tests pass shorter ones. */
export const openPageLimits = {
  pollMs: 500,
  /** Time without an event after which a comment is sent, because proxies close connections that are silent for long. */
  heartbeatMs: 20_000,
  /** A stream ends after this time. The browser reconnects by itself, perhaps to another process. */
  lastsMs: 15 * 60_000,
  ofOnePayment: 8,
  inAll: 2_000,
};
export type OpenPageLimits = typeof openPageLimits;

interface OpenPage extends PaymentName {
  stream: Readable;
  told: Face | undefined;
  openedAt: number;
  heardAt: number;
}

export interface OpenPagesParts {
  database: Database;
  log: Log;
  limits?: OpenPageLimits | undefined;
}

export class OpenPages {
  private readonly parts: OpenPagesParts;
  private readonly limits: OpenPageLimits;
  /** Open pages by payment reference. */
  private readonly pages = new Map<string, Set<OpenPage>>();
  private open = 0;
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<void> | undefined;
  private stopped = false;

  constructor(parts: OpenPagesParts) {
    this.parts = parts;
    this.limits = parts.limits ?? openPageLimits;
  }

  get size(): number {
    return this.open;
  }

  /** Opens a stream for a page of this payment. Throws SERVICE_UNAVAILABLE when too many pages are open: the page polls instead. */
  listen(name: PaymentName): Readable {
    const beside = this.pages.get(name.reference) ?? new Set();
    if (this.stopped || this.open >= this.limits.inAll || beside.size >= this.limits.ofOnePayment)
      throw new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 5 });
    const now = stopwatchMs();
    const stream = new Readable({ read: () => undefined });
    const page: OpenPage = { ...name, stream, told: undefined, openedAt: now, heardAt: now };
    this.pages.set(name.reference, beside.add(page));
    this.open++;
    stream.on("close", () => this.forget(page));
    stream.push("retry: 2000\n\n");
    this.timer ??= setInterval(() => {
      this.turn ??= this.poll().finally(() => (this.turn = undefined));
    }, this.limits.pollMs);
    return stream;
  }

  /** Ends all streams, so that their browsers reconnect to another process. */
  stop(): void {
    this.stopped = true;
    for (const page of this.all()) page.stream.destroy();
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private all(): OpenPage[] {
    return [...this.pages.values()].flatMap((pages) => [...pages]);
  }

  private forget(page: OpenPage): void {
    const pages = this.pages.get(page.reference);
    if (pages?.delete(page) !== true) return;
    this.open--;
    if (pages.size === 0) this.pages.delete(page.reference);
    if (this.open > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async poll(): Promise<void> {
    const names = [...this.pages.values()].flatMap(([page]) => (page ? [page] : []));
    let rows: Row[] = [];
    try {
      rows = await this.parts.database.query(selectSummaries(names));
    } catch (error) {
      this.parts.log.debug({ err: error }, "open pages of payers could not be looked after");
    }
    for (const row of rows) {
      const name = names[(row.place as number) - 1];
      if (name) this.publish(name, row);
    }
    const now = stopwatchMs();
    for (const page of this.all()) {
      if (now - page.openedAt >= this.limits.lastsMs) page.stream.destroy();
      else if (now - page.heardAt >= this.limits.heartbeatMs) write(page, ": still here\n\n");
    }
  }

  private publish(name: PaymentName, row: Row): void {
    const { status, instructions } = summaryOfRow(row, name);
    // One second left, because the page counts the time down itself: the stream tells only changes of the payment's status.
    const face = faceOf(status, 1, instructions !== undefined, row.risk_decision as RiskVerdict["decision"]);
    for (const page of this.pages.get(name.reference) ?? []) {
      if (page.told === face) continue;
      page.told = face;
      write(page, `event: face\ndata: ${JSON.stringify({ face })}\n\n`);
    }
  }
}

/** Unread bytes beyond which a stream is closed: a page that reads leaves a few hundred at most. */
const UNREAD_MAX = 4_096;

function write(page: OpenPage, text: string): void {
  page.heardAt = stopwatchMs();
  if (page.stream.destroyed) return;
  if (page.stream.readableLength > UNREAD_MAX) page.stream.destroy();
  else page.stream.push(text);
}
