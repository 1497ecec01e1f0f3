// A person locked for a change: two requests about one person wait for each other, and a session that has ended changes nothing any more.
import { Fault } from "../ground/fault.ts";
import type { Query } from "../store/database.ts";
import { type Person, lockPerson, personOfRow, selectPerson } from "./people.sql.ts";
import { selectOpenSession } from "./sessions.sql.ts";

/** Locks a person until the transaction ends, and reads them. */
export async function lockedPerson(query: Query, personId: string): Promise<Person | undefined> {
  await query(lockPerson(personId));
  const [row] = await query(selectPerson(personId));
  return row && personOfRow(row);
}

/** Locks a person for a request of this session: what an ended session began takes no effect. Throws UNAUTHORIZED once it has ended. */
export async function lockedInSession(query: Query, personId: string, sessionId: string): Promise<Person> {
  const person = await lockedPerson(query, personId);
  if (!person || (await query(selectOpenSession(personId, sessionId))).length === 0) throw signedOut();
  return person;
}

export function signedOut(): Fault {
  return new Fault("UNAUTHORIZED", { message: "You have been signed out. Sign in again." });
}
