// Authorization of page requests: the signed-in person, and the check that the request comes from one of our pages.
import type { FastifyReply, FastifyRequest } from "fastify";
import { PersonalRequests, tooMany } from "../auth/rate.ts";
import type { Clock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Sessions, SignedIn } from "../people/sessions.ts";
import { type Cookie, tokenOf } from "./cookie.ts";

/** Requests of one person in a minute. Several open pages and windows that all keep asking for the session stay far below. */
const PERSONAL_PER_MINUTE = 300;

export interface PersonDoorParts {
  sessions: Sessions;
  clock: Clock;
  cookie: Cookie;
  /** Allowed values of the Origin header; undefined when the service has many names: then the request's Host decides. */
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

  /** Throws FORBIDDEN for requests that a page of another origin made a browser send (CSRF). */
  refuseForeign(request: FastifyRequest): void {
    const { origin, "sec-fetch-site": site, host } = request.headers;
    const ours = this.door.origins() ?? [`${this.cookie.secure ? "https" : "http"}://${host}`];
    if (site === "same-origin" && origin !== undefined && ours.includes(origin)) return;
    throw new Fault("FORBIDDEN", {
      message: `Changes are taken from our own pages alone: Sec-Fetch-Site must be same-origin, and Origin ${ours.join(" or ")}.`,
    });
  }

  /** True when a browser sent the request for a page. Every browser adds one of these headers to requests other than GET, and no page can prevent it. */
  isFromPage({ headers }: FastifyRequest): boolean {
    return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined || headers.cookie !== undefined;
  }

  token(request: FastifyRequest): string | undefined {
    return tokenOf(request.headers.cookie, this.cookie);
  }

  /**
   * The signed-in person of a request, and the person's role for `merchantId`, if given. Throws UNAUTHORIZED, also when the page names another person:
   * someone else has signed in in its browser since, and nothing that it sends is theirs.
   */
  async person(request: FastifyRequest, merchantId?: string): Promise<SignedIn> {
    const token = this.token(request);
    const signedIn = token === undefined ? undefined : await this.door.sessions.signedIn(token, merchantId);
    if (!signedIn) throw notSignedIn();
    if ((headerOf(request, "x-person-id") ?? signedIn.person.personId) !== signedIn.person.personId)
      throw anotherPerson();
    request.actor = signedIn.person.personId;
    return signedIn;
  }

  /** Counts a request that belongs to no merchant against the person's own limit. Throws RATE_LIMITED. */
  enterAlone({ person }: Pick<SignedIn, "person">, reply: FastifyReply): void {
    const { rate, isWithin } = this.personal.count(person.personId);
    reply.rate = rate;
    reply.proven();
    if (!isWithin) throw tooMany(rate.reset, this.door.clock);
  }

  /** Throws PROOF_REQUIRED when the session's last proof of identity is older than ten minutes. */
  refuseUnlessFresh({ session }: Pick<SignedIn, "session">): void {
    if (!this.door.sessions.isFresh(session)) throw new Fault("PROOF_REQUIRED");
  }
}

export const notSignedIn = (): Fault =>
  new Fault("UNAUTHORIZED", { message: "You are not signed in, or your session is over." });

const anotherPerson = (): Fault =>
  new Fault("UNAUTHORIZED", {
    message: "Someone else has signed in in this browser since this page was opened. Nothing was changed.",
  });

/** Value of a header; undefined unless it was sent exactly once. */
export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const sent = request.raw.headersDistinct[name];
  return sent?.length === 1 ? sent[0] : undefined;
}
