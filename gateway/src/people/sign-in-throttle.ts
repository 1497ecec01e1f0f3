// Throttle against guessing: after too many failures of an account or from an address, further attempts are rejected until the window ends.
import { addressGroup } from "../ground/address-group.ts";
import { type Clock, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Database } from "../store/database.ts";
import { countFailures, selectFailures } from "./sign-in-throttle.sql.ts";

const WINDOW_SECONDS = 900;
/** Failures within a window before attempts are rejected. An address has more than an account, because an office may share one. */
const FREE_OF_ACCOUNT = 5;
const FREE_OF_ADDRESS = 30;
const TOO_MANY_SIGN_INS =
  "Too many sign-ins have failed. Wait for the seconds in Retry-After, or ask for a link to reset it.";

/** Whose guesses are counted, and the IP address of the request. At a sign-in the account is the e-mail address, whether a person has it or not. */
export interface Attempt {
  account: string;
  address: string;
  /** Set for a person with a session. Their address has a count of its own: strangers may share it, as behind the one address of a whole network. */
  isSignedIn?: true;
}

/**
 * An attempt of a signed-in person to prove their identity again. Strangers who fail to sign in, by the person's e-mail address or from theirs, do not count.
 * So a thief with the person's session has FREE_OF_ACCOUNT guesses in a window beside those of the sign-in.
 */
export const ofSignedIn = (personId: string, address: string): Attempt => ({
  account: `proofs of ${personId}`,
  address,
  isSignedIn: true,
});

/** Thrown by guarded work for a wrong password or code. It counts as a failure. */
export class WrongGuess extends Fault {}

/** True when no further attempt is allowed in this window. Pure. */
export function isSpent(failures: { account: number; address: number }): boolean {
  return failures.account >= FREE_OF_ACCOUNT || failures.address >= FREE_OF_ADDRESS;
}

/** Start of the current window, in Unix seconds. */
function windowStart(clock: Clock): number {
  const now = Math.floor(clock.now() / SECOND);
  return now - (now % WINDOW_SECONDS);
}

type Counts = { name: string; failures: number }[];
type Names = [account: string, address: string];

export class SignInThrottle {
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly message: string;

  /** `message`: text of the RATE_LIMITED answer. */
  constructor(database: Database, clock: Clock, message = TOO_MANY_SIGN_INS) {
    this.database = database;
    this.clock = clock;
    this.message = message;
  }

  /**
   * Runs work that checks a password or code. Throws RATE_LIMITED until the window ends once too many attempts have failed in it. An attempt counts as failed
   * before the work runs, and is taken back unless the work throws `WrongGuess`: so concurrent guesses get no more checks than successive ones.
   */
  async guard<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
    const start = windowStart(this.clock);
    const names = namesOf(attempt);
    // The count is read before it is raised, so that an attempt that is rejected anyway costs no write.
    this.refuseSpent(start, names, await this.database.query<Counts[number]>(selectFailures(names, start)), 0);
    const counts = await this.database.query<Counts[number]>(countFailures(names, start, 1));
    let wrong = false;
    try {
      this.refuseSpent(start, names, counts, 1);
      return await work();
    } catch (error) {
      wrong = error instanceof WrongGuess;
      throw error;
    } finally {
      if (!wrong) await this.database.query(countFailures(names, start, -1));
    }
  }

  /** Throws RATE_LIMITED when the window is spent. `own`: failures in `counts` that stand for this attempt itself. */
  private refuseSpent(start: number, [account, address]: Names, counts: Counts, own: number): void {
    const failuresOf = (name: string): number => (counts.find((row) => row.name === name)?.failures ?? 0) - own;
    if (!isSpent({ account: failuresOf(account), address: failuresOf(address) })) return;
    const left = start + WINDOW_SECONDS - Math.floor(this.clock.now() / SECOND);
    throw new Fault("RATE_LIMITED", {
      retryAfterSeconds: Math.max(1, left),
      message: this.message,
    });
  }
}

function namesOf({ account, address, isSignedIn }: Attempt): Names {
  const group = addressGroup(address).slice(0, 60);
  return [`account ${account.slice(0, 254)}`, `${isSignedIn === true ? "signed-in address" : "address"} ${group}`];
}
