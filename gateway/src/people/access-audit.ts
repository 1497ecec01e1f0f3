// The audit of persons' own access (sign-ins, factors, invitations), and the dependencies that the classes of this room share.
import type { Clock } from "../ground/clock.ts";
import type { Vault } from "../ground/crypto.ts";
import { newId } from "../ground/ids.ts";
import type { Database } from "../store/database.ts";
import { type PeopleAuditEntry, insertPeopleAudit } from "./audit.sql.ts";
import type { PasswordCost } from "./passwords.ts";
import type { RelyingParty } from "./relying-party.ts";
import type { Surface } from "./sessions.sql.ts";

export interface PeopleParts {
  database: Database;
  vault: Vault;
  clock: Clock;
  /** Name of the installation, shown in authenticators and by passkeys. */
  serviceName: string;
  /** When true, owners and operators keep a second factor, and sign-in links that skip it are refused. */
  production: boolean;
  /** Of new passwords; the usual one when absent. */
  passwordCost?: PasswordCost | undefined;
  /** The application that these persons sign in to. A session is valid on its own surface only. */
  surface: Surface;
  /** The relying party of passkeys; undefined when browsers make none for this address. */
  relyingParty(): RelyingParty | undefined;
}

/** Writes one entry, stamped with the time of the clock. The entry must hold no secret. */
export async function noteAccess(
  { database, clock }: Pick<PeopleParts, "database" | "clock">,
  entry: PeopleAuditEntry,
): Promise<void> {
  const now = clock.now();
  await database.query(insertPeopleAudit([{ ...entry, auditId: newId("request", now), at: now }]));
}
