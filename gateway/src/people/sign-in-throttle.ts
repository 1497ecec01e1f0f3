// Slows down who guesses: the more sign-ins of an account or from an address have failed lately, the longer the next one has to wait.
import { type Clock, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Database } from "../store/database.ts";
import { countFailures, selectFailures } from "./sign-in-throttle.sql.ts";

const WINDOW_SECONDS = 900;
/** So many fail for an account, or from an address, before anyone waits. An office shares one address. */
const FREE_OF_ACCOUNT = 5;
const FREE_OF_ADDRESS = 30;
const TOO_MANY_SIGN_INS =
  "Too many sign-ins have failed. Wait for the seconds in Retry-After, or ask for a link to reset it.";

/** Who tries: the account by its e-mail address, whether there is one or not, and the address that the request came from. */
export interface Attempt {
  email: string;
  address: string;
}

/** What was sent to prove something is not right: it counts as a guess. */
export class WrongGuess extends Fault {}

/** Whether no more may be tried in this window. Pure. */
export function isSpent(failures: { account: number; address: number }): boolean {
  return failures.account >= FREE_OF_ACCOUNT || failures.address >= FREE_OF_ADDRESS;
}

/** The beginning of the window at this moment, in Unix seconds. */
export function windowStart(clock: Clock): number {
  const now = Math.floor(clock.now() / SECOND);
  return now - (now % WINDOW_SECONDS);
}

type Counts = { name: string; failures: number }[];

export class SignInThrottle {
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly message: string;

  /** `message`: what whoever has to wait is told. */
  constructor(database: Database, clock: Clock, message = TOO_MANY_SIGN_INS) {
    this.database = database;
    this.clock = clock;
    this.message = message;
  }

  /**
   * Runs work that compares what somebody sent. Throws RATE_LIMITED, until the window is over, when too many have failed in it. A guess is
   * counted before it is compared and taken back when it was right: of any number of guesses at once no more are compared than one after
   * the other.
   */
  async guard<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
    const start = windowStart(this.clock);
    const names = namesOf(attempt);
    // Asked before it is counted: who is waiting anyway costs no write.
    this.refuseSpent(start, attempt, await this.database.query<Counts[number]>(selectFailures(names, start)), 0);
    const counts = await this.database.query<Counts[number]>(countFailures(names, start, 1));
    let wrong = false;
    try {
      this.refuseSpent(start, attempt, counts, 1);
      return await work();
    } catch (error) {
      wrong = error instanceof WrongGuess;
      throw error;
    } finally {
      if (!wrong) await this.database.query(countFailures(names, start, -1));
    }
  }

  /** `own`: how many of those that are counted are this attempt itself. */
  private refuseSpent(start: number, attempt: Attempt, counts: Counts, own: number): void {
    const [account, address] = namesOf(attempt);
    const failuresOf = (name: string): number => (counts.find((row) => row.name === name)?.failures ?? 0) - own;
    if (!isSpent({ account: failuresOf(account), address: failuresOf(address) })) return;
    const left = start + WINDOW_SECONDS - Math.floor(this.clock.now() / SECOND);
    throw new Fault("RATE_LIMITED", {
      retryAfterSeconds: Math.max(1, left),
      message: this.message,
    });
  }
}

function namesOf({ email, address }: Attempt): [account: string, address: string] {
  return [`account ${email.slice(0, 254)}`, `address ${address.slice(0, 60)}`];
}
