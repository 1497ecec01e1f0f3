// Load shedding bounds the requests and body bytes that the process holds at once, so that memory does not grow. Unauthenticated callers
// have a capacity of their own, so that they cannot take what merchants need.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressGroup } from "../ground/address-group.ts";
import { type Fault, unavailable } from "../ground/fault.ts";

interface Room {
  requests: number;
  bytes: number;
}

export interface LoadLimits {
  /** Capacity for requests of authenticated senders. */
  known: Room;
  /** Capacity for all other requests together. Every request begins here. */
  unauthenticated: Room;
  /** Capacity for unauthenticated requests of one address. */
  address: Room;
  /** Unanswered requests of one connection, authenticated or not, whatever they ask for. */
  connection: number;
}

/**
 * Far more than one process answers in a second; about 150 MiB in all. When PostgreSQL hangs, this many requests wait and the others get
 * SERVICE_UNAVAILABLE. A signed request leaves the unauthenticated capacity within a millisecond of its last byte.
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
  /** Unauthenticated requests of the same address, this one included; undefined once the sender is authenticated. */
  neighbours: Crowd | undefined;
  /** True until the answer has been sent to its end or the client has gone. */
  open: boolean;
  /** True while a handler works on the request, whether the client still waits or not. */
  working: boolean;
}

/** Unauthenticated requests, the oldest first, and their bytes. */
interface Crowd {
  address: string;
  tickets: Set<Ticket>;
  bytes: number;
}

const ticketOf = Symbol("ticket");
const unanswered = Symbol("unanswered requests");
const proved = Symbol("proved");

/** A request with its ticket. The ticket is a property, which costs the garbage collector a fraction of a WeakMap. */
interface Taken extends IncomingMessage {
  [ticketOf]?: Ticket;
}

interface Connection extends Socket {
  /** In the order of their requests, in which they are sent. */
  [unanswered]?: ServerResponse[];
  [proved]?: true;
}

/** True for a connection that has carried an authenticated request. */
export function hasProved(socket: Connection): boolean {
  return socket[proved] === true;
}

export class LoadShedding {
  private readonly limits: LoadLimits;
  private readonly known: Room = { requests: 0, bytes: 0 };
  private readonly unauthenticated: Crowd = crowdAt("");
  private readonly crowds = new Map<string, Crowd>();
  /** Number of connections that were cut to free capacity. */
  cut = 0;

  constructor(limits: LoadLimits) {
    this.limits = limits;
  }

  /** Number of requests that hold capacity. */
  get requests(): number {
    return this.known.requests + this.unauthenticated.tickets.size;
  }

  /** Number of body bytes of these requests that have arrived. */
  get bytes(): number {
    return this.known.bytes + this.unauthenticated.bytes;
  }

  /** Notes a request by its answer. False when its connection has too many that are not answered: it is cut, since each takes time of its own. */
  arrive(response: ServerResponse): boolean {
    const socket: Connection = response.req.socket;
    const pending = (socket[unanswered] ??= []);
    while (pending[0]?.writableFinished) pending.shift();
    if (pending.push(response) > this.limits.connection) this.cutOff(response.req);
    return !socket.destroyed;
  }

  /**
   * Takes capacity for a request until it is answered and no handler works on it. When none is free, the oldest unauthenticated request
   * that no handler works on is cut. Throws SERVICE_UNAVAILABLE when handlers work on all of them.
   */
  enter(request: IncomingMessage, address: string): void {
    const group = addressGroup(address);
    const neighbours = this.crowds.get(group) ?? crowdAt(group);
    const { address: room, unauthenticated: all } = this.limits;
    if (neighbours.tickets.size >= room.requests && !this.cutOldest(neighbours)) throw full("requests of one address");
    if (this.unauthenticated.tickets.size >= all.requests && !this.cutOldest(this.unauthenticated))
      throw full("requests");
    const ticket: Ticket = { request, bytes: 0, neighbours, open: true, working: false };
    (request as Taken)[ticketOf] = ticket;
    this.unauthenticated.tickets.add(ticket);
    neighbours.tickets.add(ticket);
    this.crowds.set(neighbours.address, neighbours);
  }

  /** Moves a request to the capacity of authenticated senders. Throws SERVICE_UNAVAILABLE when that is full. */
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

  /** Notes that the answer of a request was sent, or that its client has gone. */
  close(request: IncomingMessage): void {
    const ticket = (request as Taken)[ticketOf];
    if (!ticket?.open) return;
    ticket.open = false;
    this.leave(ticket);
  }

  /** True when a connection has unanswered requests. */
  isWaiting(socket: Connection): boolean {
    return socket[unanswered]?.some(({ writableFinished }) => !writableFinished) === true;
  }

  /** Counts bytes that have arrived. When they are too many, gives the fault and releases all bytes of the request. */
  hold(request: IncomingMessage, bytes: number): Fault | undefined {
    const ticket = (request as Taken)[ticketOf];
    if (!ticket?.open) return undefined; // the client has gone, so no more bytes are read
    if (!this.hasRoomFor(ticket, bytes)) {
      this.add(ticket, -ticket.bytes);
      return full("bytes");
    }
    this.add(ticket, bytes);
    return undefined;
  }

  /** Notes that a handler works on a request: its body stays in memory even when the client hangs up. */
  begin(request: IncomingMessage): void {
    const ticket = (request as Taken)[ticketOf];
    if (ticket?.open) ticket.working = true;
  }

  /** Notes that the handler has answered. */
  end(request: IncomingMessage): void {
    const ticket = (request as Taken)[ticketOf];
    if (!ticket?.working) return;
    ticket.working = false;
    this.leave(ticket);
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

  /** Cuts the connection of the oldest request that no handler works on. False when there is none. */
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
    // Requests that the client had sent before the cut still come, so the socket may be destroyed already.
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
  return unavailable(`too many ${what} in flight`);
}
