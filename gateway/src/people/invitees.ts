// Persons who accept an invitation: a new person, or a known one who proves their identity.
import type { Micros } from "../ground/clock.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Query } from "../store/database.ts";
import type { PeopleParts } from "./access-audit.ts";
import { lockedPerson } from "./locked-person.ts";
import { hashPassword, refuseBadPassword } from "./passwords.ts";
import { type Person, insertPerson, personOfRow, selectPersonByEmail } from "./people.sql.ts";
import type { Needs, Proofs } from "./proofs.ts";
import type { Origin } from "./sessions.ts";
import { ofStranger } from "./sign-in-throttle.ts";

const KNOWN = "You have an account by this e-mail address: send its password.";

/** Data of a person who accepts an invitation. `code` is for a known person with a second factor. */
export interface NewPerson {
  email: string;
  name: string;
  password: string;
  code?: string | undefined;
}

/** A person who may be let in: known and proved, or new with the hash of an accepted password. */
type Invitee = { known: Person } | { email: string; name: string; passwordHash: string };

export interface Admitted {
  personId: string;
  /** Whether the password by which the person was let in is theirs still; for `Sessions.begin`. */
  stands: (now: Person) => boolean;
}

/**
 * Checks a person who accepts an invitation, which the caller has found open. Gives the invitee, or the factor that is still needed. Throws
 * VALIDATION_ERROR (the invitation is for another e-mail address, or nobody may have this password), UNAUTHORIZED (the e-mail address belongs to a
 * person, and the password or code is not theirs), RATE_LIMITED.
 */
export async function checkInvitee(
  parts: PeopleParts,
  proofs: Proofs,
  invitation: { email: string | undefined },
  given: NewPerson,
  origin: Origin,
): Promise<Invitee | Needs> {
  const email = given.email.toLowerCase();
  if (invitation.email !== undefined && invitation.email !== email)
    throw validationFault("email", given.email, "This invitation is for another e-mail address.");
  // Before the account is looked for: of a password that nobody may have, the answer must not tell which addresses have one.
  await refuseBadPassword("password", given.password, [email, given.name, parts.serviceName]);
  const [row] = await parts.database.query(selectPersonByEmail(email));
  if (row) {
    const known = personOfRow(row);
    const attempt = ofStranger(parts.surface, email, origin.address);
    const needs = await proofs.byPassword(known, given, attempt, { action: "sign_in_failed", message: KNOWN });
    return needs ?? { known };
  }
  return {
    email,
    name: given.name,
    passwordHash: await hashPassword(parts.surface, given.password, parts.passwordCost),
  };
}

/**
 * Admits the invitee, after creating a new person or locking a known one. Throws UNAUTHORIZED when another request created a person of this e-mail
 * address meanwhile, or when the password that was checked is not the person's any more: hashing takes a while, in which the account may be reset.
 */
export async function admit(query: Query, invitee: Invitee, now: Micros): Promise<Admitted> {
  const { passwordHash } = "known" in invitee ? invitee.known : invitee;
  const stands = (person: Person): boolean => person.passwordHash === passwordHash;
  if ("known" in invitee) {
    const person = await lockedPerson(query, invitee.known.personId);
    if (!person || !stands(person)) throw new Fault("UNAUTHORIZED", { message: KNOWN });
    return { personId: person.personId, stands };
  }
  const personId = newId("person", now);
  const made = await query(insertPerson({ ...invitee, personId, now }));
  if (made.length === 0) throw new Fault("UNAUTHORIZED", { message: KNOWN });
  return { personId, stands };
}

export function noInvitation(): Fault {
  return new Fault("OBJECT_NOT_FOUND", {
    message: "This invitation does not exist, is over, or was accepted already. Ask for another one.",
  });
}
