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
import { type LinkPurpose, deleteOpenLinks, insertLink, linkOfRow, selectLink, useLink } from "./sign-in-links.sql.ts";

const LASTS: Micros = 900 * SECOND;
/** Lifetime of links that the service prints at its start: a day, because a person may come to use them hours later. */
export const DEVELOPMENT_LINK_LASTS: Micros = 24 * 3600 * SECOND;

interface MadeLink {
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

  /**
   * Makes a single-use sign-in link that is valid for `lasts` (default: 15 minutes), and deletes unused links of the person for the same purpose.
   * Throws FORBIDDEN for the purpose `sign_in` in production.
   */
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
    const digest = sha256(token);
    const [row] = await this.parts.database.query(selectLink(digest));
    if (!row) throw refused();
    const { personId, purpose } = linkOfRow(row);
    // `make` makes no such link in production, but a development installation may have used this database before.
    if (purpose === "sign_in" && this.parts.production) throw refused();
    // In the transaction that begins the session, once the person is locked: a reset that was made meanwhile has deleted the link.
    const session = await this.sessions.begin(personId, origin, async ({ closed }, query) => {
      if (closed || (await query(useLink(digest, now))).length === 0) throw refused();
      if (purpose === "reset") {
        await query(removePassword(personId));
        await query(removeTotp(personId));
        await query(replaceRecoveryCodes(personId, []));
        await query(deletePasskeys(personId));
        await query(deleteOpenLinks(personId));
        await query(endOtherSessions(personId, undefined, now));
      }
      return true;
    });
    const action = purpose === "reset" ? "reset_by_link" : "signed_in";
    await noteAccess(this.parts, { action, personId, address: origin.address, details: { by: "link" } });
    return session;
  }
}

function refused(): Fault {
  return new Fault("UNAUTHORIZED", { message: "This link is over, or was used already. Ask for another one." });
}
