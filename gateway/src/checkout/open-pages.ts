// Streams to open payers' pages: tell when the payment's state changes, or its merchant is suspended, whichever process changed it. One statement per turn serves all pages.
import type { Readable } from "node:stream";
import { stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import { type EventStream, EventStreams } from "../http/event-streams.ts";
import type { Directory } from "../merchants/directory.ts";
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
  perMerchant: 200,
  inAll: 2_000,
  /** A page that reads leaves a few hundred bytes unread at most. */
  unreadBytes: 4_096,
};
type OpenPageLimits = typeof openPageLimits;

interface Listening extends PaymentName {
  face: Face | undefined;
}
type OpenPage = EventStream<Listening>;

interface OpenPagesParts {
  database: Database;
  directory: Pick<Directory, "merchant">;
  log: Log;
  limits?: OpenPageLimits | undefined;
}

export class OpenPages {
  private readonly parts: OpenPagesParts;
  private readonly limits: OpenPageLimits;
  readonly open: EventStreams<Listening>;
  /** Open pages by payment reference. */
  private readonly pages = new Map<string, Set<OpenPage>>();

  constructor(parts: OpenPagesParts) {
    this.parts = parts;
    this.limits = parts.limits ?? openPageLimits;
    this.open = new EventStreams({ limits: this.limits, poll: () => this.poll() });
  }

  /** Opens a stream for a page of this payment. Throws SERVICE_UNAVAILABLE when too many pages are open: the page polls instead. */
  listen(name: PaymentName): Readable {
    const { ofOnePayment, perMerchant } = this.limits;
    const beside = this.pages.get(name.reference) ?? new Set();
    const ofMerchant = [...this.open].filter(({ listener }) => listener.merchantId === name.merchantId).length;
    if (beside.size >= ofOnePayment || ofMerchant >= perMerchant)
      throw new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 5 });
    const page = this.open.open({ ...name, face: undefined });
    this.pages.set(name.reference, beside.add(page));
    page.readable.on("close", () => {
      beside.delete(page);
      if (beside.size === 0) this.pages.delete(name.reference);
    });
    page.begin("retry: 2000\n\n");
    return page.readable;
  }

  private async poll(): Promise<void> {
    const names = [...this.pages.values()].flatMap(([page]) => (page ? [page.listener] : []));
    let rows: Row[] = [];
    const suspended = new Set<string>();
    try {
      rows = await this.parts.database.query(selectSummaries(names));
      for (const merchantId of new Set(names.map((name) => name.merchantId)))
        if ((await this.parts.directory.merchant(merchantId))?.suspended === true) suspended.add(merchantId);
    } catch (error) {
      this.parts.log.debug({ err: error }, "open pages of payers could not be looked after");
    }
    for (const row of rows) {
      const name = names[(row.place as number) - 1];
      if (name) this.publish(name, row, suspended.has(name.merchantId));
    }
    const now = stopwatchMs();
    for (const page of this.open) if (now - page.openedAtMs >= this.limits.lastsMs) this.open.end(page);
  }

  private publish(name: PaymentName, row: Row, isSuspended: boolean): void {
    const { status, instructions } = summaryOfRow(row, name);
    // One second left, because the page counts the time down itself: the stream tells only changes of the payment's status.
    const risk = row.risk_decision as RiskVerdict["decision"];
    const face = faceOf({ status, secondsLeft: 1, isPayable: instructions !== undefined, risk, isSuspended });
    for (const page of this.pages.get(name.reference) ?? []) {
      if (page.listener.face === face) continue;
      page.listener.face = face;
      page.write(`event: face\ndata: ${JSON.stringify({ face })}\n\n`);
    }
  }
}
