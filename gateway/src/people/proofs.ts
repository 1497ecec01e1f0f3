// Proofs by what a person knows and has: password, then a code of a second factor. Guesses are slowed down, and noted.
import type { Fault } from "../ground/fault.ts";
import { type PeopleParts, noteAccess } from "./access-audit.ts";
import { isPassword } from "./passwords.ts";
import type { Person } from "./people.sql.ts";
import { type SecondFactors, secondFactorOf } from "./second-factors.ts";
import { type Attempt, SignInThrottle, WrongGuess } from "./sign-in-throttle.ts";

/** What is still to be sent after the right password: a code, or a passkey's signature (or a recovery code). */
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

  /** Runs work that throws `WrongGuess` where what was sent is wrong: that is counted, and noted as `action`. Throws RATE_LIMITED, too. */
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
   * Proves who somebody is by a password and, where the person has a second factor, a code. Gives what is still needed, or undefined when
   * everything is right. Without a person it takes as long and is wrong. Throws `wrong` (noted as `action`), UNAUTHORIZED (the code),
   * RATE_LIMITED.
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
      const proved = await isPassword(password, known);
      if (!person || !proved) throw new WrongGuess("UNAUTHORIZED", { message });
      const needs = secondFactorOf(person);
      if (needs === undefined) return undefined;
      if (code === undefined) return { needs };
      failed = "code_failed";
      if (!(await this.factors.useCode(person.personId, code))) throw wrongCode();
      return undefined;
    });
  }
}

function wrongCode(): Fault {
  return new WrongGuess("UNAUTHORIZED", {
    message: "This code is wrong, over, or was used already. Take the next one.",
  });
}
