// Quotas of the request log: one busy merchant must leave room for others, and unauthenticated callers must not fill a merchant's log. Pure.
import { FixedWindow } from "../ground/fixed-window.ts";

/** Authenticated requests of each book in a second; successful and refused ones are counted separately. */
export const PER_SECOND = 50;
/** Unauthenticated requests of each book in a minute: everybody who knows a client_id can send them. */
export const UNPROVEN_PER_MINUTE = 30;
/** Requests of unknown senders in a minute, for all books together: the look-up of each may cost a query. */
const UNNAMED_PER_MINUTE = 120;

/** Times are in milliseconds of a stopwatch. */
export class RequestQuotas {
  private readonly seconds = new FixedWindow(1_000);
  private readonly minutes = new FixedWindow(60_000);

  /** `name`: key of the book. */
  takesProven(name: string, refused: boolean, nowMs: number): boolean {
    return this.seconds.count(refused ? `refused ${name}` : name, nowMs) <= PER_SECOND;
  }

  takesUnproven(name: string, nowMs: number): boolean {
    return this.minutes.count(name, nowMs) <= UNPROVEN_PER_MINUTE;
  }

  /** For a request whose sender must still be looked up. */
  takesUnnamed(nowMs: number): boolean {
    return this.minutes.count("", nowMs) <= UNNAMED_PER_MINUTE;
  }
}
