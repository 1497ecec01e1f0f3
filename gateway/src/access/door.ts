// The door of pages: who is signed in, and whether their browser was really on one of our pages.
import type { FastifyReply, FastifyRequest } from "fastify";
import { PersonalRequests, tooMany } from "../auth/rate.ts";
import type { Clock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Sessions, SignedIn } from "../people/sessions.ts";
import { type Cookie, tokenOf } from "./cookie.ts";

/** In a minute: several open pages that ask again who is signed in, with every window of them, stay far below. */
const PERSONAL_PER_MINUTE = 300;

export interface PersonDoorParts {
  sessions: Sessions;
  clock: Clock;
  cookie: Cookie;
  /** Origins that pages may have, as browsers name them; undefined where the service is known by many names: then that of the request's Host. */
  origins(): readonly string[] | undefined;
}

export class PersonDoor {
  readonly cookie: Cookie;
  private readonly door: PersonDoorParts;
  private readonly personal: PersonalRequests;

  constructor(door: PersonDoorParts) {
    this.door = door;
    this.cookie = door.cookie;
    this.personal = new PersonalRequests(PERSONAL_PER_MINUTE, door.clock);
  }

  /** Refuses what a page of somebody else's made a browser send. Throws FORBIDDEN. */
  refuseForeign(request: FastifyRequest): void {
    const { origin, "sec-fetch-site": site, host } = request.headers;
    const ours = this.door.origins() ?? [`${this.cookie.secure ? "https" : "http"}://${host}`];
    if (site === "same-origin" && origin !== undefined && ours.includes(origin)) return;
    throw new Fault("FORBIDDEN", {
      message: `Changes are taken from our own pages alone: Sec-Fetch-Site must be same-origin, and Origin ${ours.join(" or ")}.`,
    });
  }

  /** Whether a browser sent it for a page. Every browser says so of what is no GET, and no page can keep it from that. */
  isFromPage({ headers }: FastifyRequest): boolean {
    return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined || headers.cookie !== undefined;
  }

  /** The token of the session that a request carries. */
  token(request: FastifyRequest): string | undefined {
    return tokenOf(request.headers.cookie, this.cookie);
  }

  /** Who is signed in. Throws UNAUTHORIZED. */
  async person(request: FastifyRequest, merchantId?: string): Promise<SignedIn> {
    const token = this.token(request);
    const signedIn = token === undefined ? undefined : await this.door.sessions.signedIn(token, merchantId);
    if (!signedIn) throw notSignedIn();
    request.actor = signedIn.person.personId;
    return signedIn;
  }

  /** Counts a request that is about nobody but the person who asks. Throws RATE_LIMITED. */
  enterAlone({ person }: Pick<SignedIn, "person">, reply: FastifyReply): void {
    const { rate, isWithin } = this.personal.count(person.personId);
    reply.rate = rate;
    reply.proven();
    if (!isWithin) throw tooMany(rate.reset, this.door.clock);
  }

  /** Throws PROOF_REQUIRED when the person last proved who they are too long ago. */
  refuseUnlessFresh({ session }: Pick<SignedIn, "session">): void {
    if (!this.door.sessions.isFresh(session)) throw new Fault("PROOF_REQUIRED");
  }
}

export const notSignedIn = (): Fault =>
  new Fault("UNAUTHORIZED", { message: "You are not signed in, or your session is over." });

/** A header that was sent exactly once. */
export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const sent = request.raw.headersDistinct[name];
  return sent?.length === 1 ? sent[0] : undefined;
}
