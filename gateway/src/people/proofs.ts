// Proof of a person's identity by password and, if needed, a code of a second factor. Wrong guesses are throttled and written into the audit.
import { type PeopleParts, noteAccess } from "./access-audit.ts";
import { isPassword } from "./passwords.ts";
import type { Person } from "./people.sql.ts";
import { type SecondFactors, secondFactorOf } from "./second-factors.ts";
import { type Attempt, SignInThrottle, WrongGuess, ofSignedIn } from "./sign-in-throttle.ts";

/** The factor that is still needed after the right password: `code`, or `passkey` (a recovery code is accepted instead). */
export interface Needs {
  needs: "code" | "passkey";
}

export interface Given {
  password: string;
  code?: string | undefined;
}

export class Proofs {
  private readonly parts: PeopleParts;
  private readonly factors: SecondFactors;
  private readonly throttle: SignInThrottle;

  constructor(parts: PeopleParts, factors: SecondFactors) {
    this.parts = parts;
    this.factors = factors;
    this.throttle = new SignInThrottle(parts.database, parts.clock);
  }

  /** Runs work under the throttle. A `WrongGuess` of the work counts as a failure and is audited as `action`. Throws RATE_LIMITED, too. */
  async guessing<T>(
    attempt: Attempt,
    { personId, action }: { personId: string | undefined; action: () => string },
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await this.throttle.guard(attempt, work);
    } catch (error) {
      if (error instanceof WrongGuess)
        await noteAccess(this.parts, { action: action(), personId, address: attempt.address });
      throw error;
    }
  }

  /**
   * Checks a password and, when the person has a second factor, a code. Gives the factor that is still needed, or undefined when the proof is complete.
   * Without a person the check takes as long and fails. Throws UNAUTHORIZED with `message` (audited as `action`) for the password, UNAUTHORIZED for the
   * code, RATE_LIMITED.
   */
  async byPassword(
    person: Person | undefined,
    { password, code }: Given,
    attempt: Attempt,
    { action, message }: { action: string; message: string },
  ): Promise<Needs | undefined> {
    let failed = action;
    return this.guessing(attempt, { personId: person?.personId, action: () => failed }, async () => {
      const known = person?.closed === true ? undefined : person?.passwordHash;
      const proved = await isPassword(this.parts.surface, password, known);
      if (!person || !proved) throw new WrongGuess("UNAUTHORIZED", { message });
      const needs = secondFactorOf(person);
      if (needs === undefined) return undefined;
      if (code === undefined) return { needs };
      failed = "code_failed";
      // Whoever has the password has as few guesses at the code as somebody who is signed in.
      return this.throttle.guard(ofSignedIn(`code of ${person.personId}`, attempt.address), async () => {
        if (await this.factors.useCode(person.personId, code)) return undefined;
        throw new WrongGuess("UNAUTHORIZED", {
          message: "This code is wrong, over, or was used already. Take the next one.",
        });
      });
    });
  }
}
