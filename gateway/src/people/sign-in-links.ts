// Single-use links that sign a person in: for development, and for persons who have lost all their factors.
import { randomBytes } from "node:crypto";
import { type Micros, SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { type PeopleParts, noteAccess } from "./access-audit.ts";
import { deletePasskeys } from "./passkeys.sql.ts";
import { removePassword } from "./people.sql.ts";
import { lockedPerson } from "./locked-person.ts";
import { removeTotp, replaceRecoveryCodes } from "./second-factors.sql.ts";
import { endOtherSessions } from "./sessions.sql.ts";
import type { Origin, Sessions } from "./sessions.ts";
import { type LinkPurpose, deleteOpenLinks, insertLink, linkOfRow, useLink } from "./sign-in-links.sql.ts";

const LASTS: Micros = 900 * SECOND;
/** Lifetime of links that the service prints at its start: a day, because a person may come to use them hours later. */
export const DEVELOPMENT_LINK_LASTS: Micros = 24 * 3600 * SECOND;

export interface MadeLink {
  /** The link's secret. Only its digest is stored. */
  token: string;
  expiresAt: Micros;
}

export class SignInLinks {
  private readonly parts: PeopleParts;
  private readonly sessions: Sessions;

  constructor(parts: PeopleParts, sessions: Sessions) {
    this.parts = parts;
    this.sessions = sessions;
  }

  /** See `People.makeLink`. */
  async make(personId: string, purpose: LinkPurpose, lasts: Micros = LASTS): Promise<MadeLink> {
    if (purpose === "sign_in" && this.parts.production)
      throw new Fault("FORBIDDEN", {
        message: "In production a link resets how somebody signs in. It does not skip it.",
      });
    const now = this.parts.clock.now();
    const token = randomBytes(32).toString("base64url");
    const expiresAt = now + lasts;
    await this.parts.database.transaction(async (query) => {
      await lockedPerson(query, personId);
      await query(deleteOpenLinks(personId, purpose));
      await query(insertLink(sha256(token), { personId, purpose, now, expiresAt }));
    });
    await noteAccess(this.parts, { action: "link_made", personId, details: { purpose } });
    return { token, expiresAt };
  }

  /**
   * Signs in the link's person, and gives the session's token. A `reset` link first removes password, authenticator, recovery codes and passkeys, and ends
   * every session: the person chooses a password next. Throws UNAUTHORIZED.
   */
  async use(token: string, origin: Origin): Promise<string> {
    if (!/^[\w-]{43}$/.test(token)) throw refused();
    const now = this.parts.clock.now();
    const { personId, purpose } = await this.parts.database.transaction(async (query) => {
      const [row] = await query(useLink(sha256(token), now));
      if (!row) throw refused();
      const link = linkOfRow(row);
      const person = await lockedPerson(query, link.personId);
      if (!person || person.closed) throw refused();
      // `make` makes no such link in production, but a development installation may have used this database before.
      if (link.purpose === "sign_in" && this.parts.production) throw refused();
      if (link.purpose === "reset") {
        await query(removePassword(person.personId));
        await query(removeTotp(person.personId));
        await query(replaceRecoveryCodes(person.personId, []));
        await query(deletePasskeys(person.personId));
        await query(deleteOpenLinks(person.personId));
        await query(endOtherSessions(person.personId, undefined, now));
      }
      return link;
    });
    const session = await this.sessions.begin(personId, origin);
    const action = purpose === "reset" ? "reset_by_link" : "signed_in";
    await noteAccess(this.parts, { action, personId, address: origin.address, details: { by: "link" } });
    return session;
  }
}

function refused(): Fault {
  return new Fault("UNAUTHORIZED", { message: "This link is over, or was used already. Ask for another one." });
}
