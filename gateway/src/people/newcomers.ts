// Persons who accept an invitation: a new person, or a known one who proves their identity.
import type { Micros } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { PeopleParts } from "./access-audit.ts";
import type { Query } from "./locked-person.ts";
import { hashPassword, refuseBadPassword } from "./passwords.ts";
import { type Person, insertPerson, personOfRow, selectPersonByEmail } from "./people.sql.ts";
import type { Needs, Proofs } from "./proofs.ts";
import type { Origin } from "./sessions.ts";

const KNOWN = "You have an account by this e-mail address: send its password.";

/** Data of a person who accepts an invitation. `code` is for a known person with a second factor. */
export interface NewPerson {
  email: string;
  name: string;
  password: string;
  code?: string | undefined;
}

/** A person who may be let in: known and proved, or new with the hash of an accepted password. */
type Newcomer = { known: Person } | { email: string; name: string; passwordHash: string };

/**
 * Checks a person who accepts an invitation; the caller has checked the invitation. Gives the newcomer, or the factor that is still needed. Throws
 * VALIDATION_ERROR (the new password), UNAUTHORIZED (the e-mail address belongs to a person, and the password or code is not theirs), RATE_LIMITED.
 */
export async function newcomer(
  parts: PeopleParts,
  proofs: Proofs,
  given: NewPerson,
  origin: Origin,
): Promise<Newcomer | Needs> {
  const email = given.email.toLowerCase();
  const [row] = await parts.database.query(selectPersonByEmail(email));
  if (row) {
    const known = personOfRow(row);
    const attempt = { email, address: origin.address };
    const needs = await proofs.byPassword(known, given, attempt, { action: "sign_in_failed", message: KNOWN });
    return needs ?? { known };
  }
  await refuseBadPassword("password", given.password, [email, given.name, parts.serviceName]);
  return { email, name: given.name, passwordHash: await hashPassword(given.password) };
}

/** The newcomer's `personId`, after creating a new person. Throws UNAUTHORIZED when another request created a person of this e-mail address meanwhile. */
export async function identityOf(query: Query, comer: Newcomer, now: Micros): Promise<string> {
  if ("known" in comer) return comer.known.personId;
  const personId = newId("person", now);
  const made = await query(insertPerson({ ...comer, personId, now }));
  if (made.length === 0) throw new Fault("UNAUTHORIZED", { message: KNOWN });
  return personId;
}
