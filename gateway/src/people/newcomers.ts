// Somebody who comes by an invitation: a new person, or one who is known and proves who they are.
import type { Micros } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Database } from "../store/database.ts";
import type { PeopleParts } from "./access-audit.ts";
import { hashPassword, refuseBadPassword } from "./passwords.ts";
import { type Person, insertPerson, personOfRow, selectPersonByEmail } from "./people.sql.ts";
import type { Needs, Proofs } from "./proofs.ts";
import type { Origin } from "./sessions.ts";

const KNOWN = "You have an account by this e-mail address: send its password.";

/** What a new person says of themselves; one who is known sends a code too, where they have a second factor. */
export interface NewPerson {
  email: string;
  name: string;
  password: string;
  code?: string | undefined;
}

/** Somebody who may be let in: known, or with a password that is good and hashed. */
export type Newcomer = { known: Person } | { email: string; name: string; passwordHash: string };

/**
 * Whoever comes by an invitation that is good for their address. Gives them, or what is still to be sent. Throws VALIDATION_ERROR (the new
 * password), UNAUTHORIZED (there is such a person, and this is not their password or code), RATE_LIMITED.
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

type Query = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** Their identity; a new person is made. Throws UNAUTHORIZED when somebody took the address meanwhile: they prove who they are at the next try. */
export async function identityOf(query: Query, comer: Newcomer, now: Micros): Promise<string> {
  if ("known" in comer) return comer.known.personId;
  const personId = newId("person", now);
  const made = await query(insertPerson({ ...comer, personId, now }));
  if (made.length === 0) throw new Fault("UNAUTHORIZED", { message: KNOWN });
  return personId;
}
