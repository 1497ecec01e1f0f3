// The load: how much the process holds at once, in requests and in bytes of their bodies, before memory grows, and for whom.
// Whoever has not proved who they are shares a room of their own, so that nobody can take what merchants need.
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { addressGroup } from "../ground/address-group.ts";
import { Fault } from "../ground/fault.ts";

export interface Room {
  requests: number;
  bytes: number;
}

export interface LoadLimits {
  /** For requests whose sender has proved who they are. */
  known: Room;
  /** For all others together: every request begins here. */
  unauthenticated: Room;
  /** For those others of one address. */
  address: Room;
  /** Requests of one connection that are not answered, whoever sends them. */
  connection: number;
}

/**
 * Far beyond what one process answers in a second, and with all their parts some 150 MiB. When PostgreSQL hangs, this many wait for it and
 * the rest is told to come back. Clients that sign leave the room of unauthenticated callers within a millisecond of their last byte.
 */
export const LOAD_LIMITS: LoadLimits = {
  known: { requests: 3072, bytes: 48 * 2 ** 20 },
  unauthenticated: { requests: 1024, bytes: 16 * 2 ** 20 },
  address: { requests: 512, bytes: 8 * 2 ** 20 },
  connection: 32,
};

interface Ticket {
  request: IncomingMessage;
  bytes: number;
  /** Unauthenticated callers of the same address, and this one among them; undefined once the sender is known. */
  neighbours: Crowd | undefined;
  /** The answer is not on its way yet, or the client still reads it. */
  open: boolean;
  /** A handler works for it, whether the client still waits or not. */
  working: boolean;
}

/** Tickets of unauthenticated callers, the oldest first, and their bytes. */
interface Crowd {
  address: string;
  tickets: Set<Ticket>;
  bytes: number;
}

const ticketOf = Symbol("ticket");
const unanswered = Symbol("unanswered requests");
const proved = Symbol("proved");

/** A request with what it holds: as a property, which costs a fraction of what a WeakMap costs the garbage collector. */
interface Taken extends IncomingMessage {
  [ticketOf]?: Ticket;
}

interface Connection extends Socket {
  [unanswered]?: number;
  [proved]?: true;
}

/** True of a connection over which somebody has proved who they are. */
export function hasProved(socket: Connection): boolean {
  return socket[proved] === true;
}

export class LoadShedding {
  private readonly limits: LoadLimits;
  private readonly known: Room = { requests: 0, bytes: 0 };
  private readonly unauthenticated: Crowd = crowdAt("");
  private readonly crowds = new Map<string, Crowd>();
  /** How many connections were cut to make room. */
  cut = 0;

  constructor(limits: LoadLimits) {
    this.limits = limits;
  }

  /** Requests taken in and not done with. */
  get requests(): number {
    return this.known.requests + this.unauthenticated.tickets.size;
  }

  /** Bytes of their bodies that have arrived. */
  get bytes(): number {
    return this.known.bytes + this.unauthenticated.bytes;
  }

  /**
   * Takes a request in, until its answer is given and nothing works for it. Where there is no room for it, the unauthenticated caller that has been sending or
   * reading longest is cut. Throws SERVICE_UNAVAILABLE when there is none: all are being worked for.
   */
  enter(request: IncomingMessage, address: string): void {
    const socket: Connection = request.socket;
    const pending = (socket[unanswered] ?? 0) + 1;
    if (pending > this.limits.connection) {
      this.cutOff(request);
      throw full("requests on one connection");
    }
    const neighbours = this.crowdOf(addressGroup(address));
    const { address: room, unauthenticated: all } = this.limits;
    if (neighbours.tickets.size >= room.requests && !this.cutOldest(neighbours)) throw full("requests of one address");
    if (this.unauthenticated.tickets.size >= all.requests && !this.cutOldest(this.unauthenticated))
      throw full("requests");
    socket[unanswered] = pending;
    const ticket: Ticket = { request, bytes: 0, neighbours, open: true, working: false };
    (request as Taken)[ticketOf] = ticket;
    this.unauthenticated.tickets.add(ticket);
    neighbours.tickets.add(ticket);
    this.crowds.set(neighbours.address, neighbours);
  }

  /** Its sender has proved who they are: it moves to the room of those. Throws SERVICE_UNAVAILABLE when that is full. */
  prove(request: IncomingMessage): void {
    const ticket = (request as Taken)[ticketOf];
    if (!ticket?.neighbours) return;
    const { known } = this.limits;
    if (this.known.requests >= known.requests) throw full("requests");
    if (this.known.bytes + ticket.bytes > known.bytes) throw full("bytes");
    this.leaveUnauthenticated(ticket, ticket.neighbours);
    (request.socket as Connection)[proved] = true;
    this.known.requests++;
    this.known.bytes += ticket.bytes;
  }

  /** Its answer is given, or its client gone. */
  close(request: IncomingMessage): void {
    const ticket = (request as Taken)[ticketOf];
    if (!ticket?.open) return;
    ticket.open = false;
    const socket: Connection = request.socket;
    socket[unanswered] = (socket[unanswered] ?? 1) - 1;
    this.leave(ticket);
  }

  /** Whether a connection has requests that are not answered. */
  isWaiting(socket: Connection): boolean {
    return (socket[unanswered] ?? 0) > 0;
  }

  /** Counts bytes that have arrived. Where they are too many: why, and all of this request are given back. */
  hold(request: IncomingMessage, bytes: number): Fault | undefined {
    const ticket = (request as Taken)[ticketOf];
    if (!ticket?.open) return undefined; // nobody waits for it, so it is read no further
    if (!this.hasRoomFor(ticket, bytes)) {
      this.add(ticket, -ticket.bytes);
      return full("bytes");
    }
    this.add(ticket, bytes);
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

  private crowdOf(address: string): Crowd {
    return this.crowds.get(address) ?? crowdAt(address);
  }

  private hasRoomFor(ticket: Ticket, bytes: number): boolean {
    const { known, unauthenticated, address } = this.limits;
    if (!ticket.neighbours) return this.known.bytes + bytes <= known.bytes;
    if (ticket.neighbours.bytes + bytes > address.bytes) return false;
    while (this.unauthenticated.bytes + bytes > unauthenticated.bytes) {
      if (!this.cutOldest(this.unauthenticated, (other) => other !== ticket && other.bytes > 0)) return false;
    }
    return true;
  }

  /** Ends the connection of the oldest that nothing works for. False when there is none. */
  private cutOldest({ tickets }: Crowd, fits: (ticket: Ticket) => boolean = () => true): boolean {
    for (const ticket of tickets) {
      if (ticket.working || !fits(ticket)) continue;
      this.cutOff(ticket.request);
      this.close(ticket.request);
      return true;
    }
    return false;
  }

  private cutOff({ socket }: IncomingMessage): void {
    // What it had sent before comes all the same, request by request.
    if (socket.destroyed) return;
    this.cut++;
    socket.destroy();
  }

  private add(ticket: Ticket, bytes: number): void {
    ticket.bytes += bytes;
    if (!ticket.neighbours) this.known.bytes += bytes;
    else {
      this.unauthenticated.bytes += bytes;
      ticket.neighbours.bytes += bytes;
    }
  }

  private leave(ticket: Ticket): void {
    if (ticket.open || ticket.working) return;
    if (ticket.neighbours) this.leaveUnauthenticated(ticket, ticket.neighbours);
    else {
      this.known.requests--;
      this.known.bytes -= ticket.bytes;
    }
  }

  private leaveUnauthenticated(ticket: Ticket, neighbours: Crowd): void {
    for (const crowd of [this.unauthenticated, neighbours]) {
      crowd.tickets.delete(ticket);
      crowd.bytes -= ticket.bytes;
    }
    if (neighbours.tickets.size === 0) this.crowds.delete(neighbours.address);
    ticket.neighbours = undefined;
  }
}

function crowdAt(address: string): Crowd {
  return { address, tickets: new Set(), bytes: 0 };
}

function full(what: string): Fault {
  return new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1, internal: `too many ${what} in flight` });
}
