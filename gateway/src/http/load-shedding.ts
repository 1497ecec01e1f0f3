// The load: how much the process holds at once, in requests and in bytes of their bodies, before memory grows.
import type { IncomingMessage } from "node:http";
import { Fault } from "../ground/fault.ts";

export interface LoadLimits {
  requests: number;
  bytes: number;
}

/**
 * Far beyond what one process answers in a second, and with all their parts some 150 MiB. When PostgreSQL hangs, this many
 * wait for it and the rest is told to come back, whoever sent them: nobody is known before the database was asked.
 */
export const LOAD_LIMITS: LoadLimits = { requests: 4096, bytes: 64 * 1024 * 1024 };

interface Ticket {
  bytes: number;
  /** The answer is not on its way yet, or the client still reads it. */
  open: boolean;
  /** A handler works for it, whether the client still waits or not. */
  working: boolean;
}

const ticketOf = Symbol("ticket");

/** A request with what it holds: as a property, which costs a fraction of what a WeakMap costs the garbage collector. */
interface Taken extends IncomingMessage {
  [ticketOf]?: Ticket;
}

export class LoadShedding {
  private readonly limits: LoadLimits;
  private requestsNow = 0;
  private bytesNow = 0;

  constructor(limits: LoadLimits) {
    this.limits = limits;
  }

  /** Requests taken in and not done with. */
  get requests(): number {
    return this.requestsNow;
  }

  /** Bytes of their bodies that have arrived. */
  get bytes(): number {
    return this.bytesNow;
  }

  /** Takes a request in, until its answer is given and nothing works for it. Throws SERVICE_UNAVAILABLE when it is one too many. */
  enter(request: IncomingMessage): void {
    if (this.requestsNow >= this.limits.requests) throw full("requests");
    const ticket: Ticket = { bytes: 0, open: true, working: false };
    (request as Taken)[ticketOf] = ticket;
    this.requestsNow++;
  }

  /** Its answer is given, or its client gone. */
  close(request: IncomingMessage): void {
    const ticket = (request as Taken)[ticketOf];
    if (!ticket?.open) return;
    ticket.open = false;
    this.leave(ticket);
  }

  /** Counts bytes that have arrived. Where they are too many for all together: why, and all of this request are given back. */
  hold(request: IncomingMessage, bytes: number): Fault | undefined {
    const ticket = (request as Taken)[ticketOf];
    if (!ticket?.open) return undefined; // nobody waits for it, so it is read no further
    if (this.bytesNow + bytes > this.limits.bytes) {
      this.bytesNow -= ticket.bytes;
      ticket.bytes = 0;
      return full("bytes");
    }
    ticket.bytes += bytes;
    this.bytesNow += bytes;
    return undefined;
  }

  /** A handler works for it from now on: what it holds stays in memory even when the client hangs up. */
  begin(request: IncomingMessage): void {
    const ticket = (request as Taken)[ticketOf];
    if (ticket?.open) ticket.working = true;
  }

  /** The handler has answered. */
  end(request: IncomingMessage): void {
    const ticket = (request as Taken)[ticketOf];
    if (!ticket?.working) return;
    ticket.working = false;
    this.leave(ticket);
  }

  private leave(ticket: Ticket): void {
    if (ticket.open || ticket.working) return;
    this.requestsNow--;
    this.bytesNow -= ticket.bytes;
  }
}

function full(what: string): Fault {
  return new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1, internal: `too many ${what} in flight` });
}
