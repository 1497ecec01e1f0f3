// The audit of what people did with their own access, and what the parts of this room are made of.
import type { Clock } from "../ground/clock.ts";
import type { Vault } from "../ground/crypto.ts";
import { newId } from "../ground/ids.ts";
import type { Database } from "../store/database.ts";
import { type PeopleAuditEntry, insertPeopleAudit } from "./access-audit.sql.ts";
import type { RelyingParty } from "./relying-party.ts";
import type { Surface } from "./sessions.sql.ts";

export interface PeopleParts {
  database: Database;
  vault: Vault;
  clock: Clock;
  /** Names the installation in authenticators. */
  serviceName: string;
  /** True where owners must have a second factor, and links that skip it are not accepted. */
  production: boolean;
  /** Where these people sign in: a session counts there alone. */
  surface: Surface;
  /** For whom passkeys are made; undefined where browsers make none. */
  relyingParty(): RelyingParty | undefined;
}

/** Writes one entry. Never a secret. */
export async function noteAccess(
  { database, clock }: Pick<PeopleParts, "database" | "clock">,
  entry: Pick<PeopleAuditEntry, "action"> & Partial<Omit<PeopleAuditEntry, "action" | "at">>,
): Promise<void> {
  const now = clock.now();
  const { action, personId, merchantId, address, details } = entry;
  const whole: PeopleAuditEntry = { at: now, action, personId, merchantId, address: address?.slice(0, 60), details };
  await database.query(insertPeopleAudit(newId("request", now), whole));
}
