// Throttle against guessing: after too many failures of an account or from an address, further attempts are rejected until the window ends.
import { addressGroup } from "../ground/address-group.ts";
import { type Clock, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { FixedWindow } from "../ground/fixed-window.ts";
import { KeyedCount } from "../ground/keyed-count.ts";
import type { Database } from "../store/database.ts";
import type { Surface } from "./sessions.sql.ts";
import { countFailures, selectFailures } from "./sign-in-throttle.sql.ts";

const WINDOW_SECONDS = 900;
/** Failures within a window before attempts are rejected. An address has more than an account, because an office may share one. */
const FREE_OF_ACCOUNT = 5;
const FREE_OF_ADDRESS = 30;
/** Of one account from all addresses together: a stranger at one address does not keep its person out at another. */
const FREE_FROM_EVERYWHERE = 50;
/** Checks within a minute in this process for each free failure, right ones too: whoever knows a password could keep all cores comparing it. */
const CHECKS_A_MINUTE = 4;
const TOO_MANY_SIGN_INS =
  "Too many sign-ins have failed. Wait for the seconds in Retry-After, or ask for a link to reset it.";
const TOO_MANY_CHECKS = "Too many attempts within a minute. Wait for the seconds in Retry-After.";

/** A guess from an address, and what it counts for, each with the failures that it has in a window. */
export interface Attempt {
  address: string;
  counts: readonly { name: string; free: number }[];
}

/** A sign-in by an e-mail address, whether a person has it or not. What strangers guess at the portal counts for nothing at the console. */
export function ofStranger(surface: Surface, email: string, address: string): Attempt {
  const [account, group] = [`${surface} ${email.slice(0, 200)}`, addressGroup(address)];
  const counts = [
    { name: `${group} ${account}`, free: FREE_OF_ACCOUNT },
    { name: `account ${account}`, free: FREE_FROM_EVERYWHERE },
    { name: `address ${surface} ${group}`, free: FREE_OF_ADDRESS },
  ];
  return { address, counts };
}

/**
 * A guess at what a person with a session, or with the right password, is asked for. Strangers who fail to sign in, by the person's e-mail address or
 * from theirs, do not count. So a thief with the session has FREE_OF_ACCOUNT guesses in a window beside those of the sign-in, from everywhere together.
 */
export function ofSignedIn(guessed: string, address: string): Attempt {
  const counts = [
    { name: `account ${guessed}`, free: FREE_OF_ACCOUNT },
    { name: `signed-in address ${addressGroup(address)}`, free: FREE_OF_ADDRESS },
  ];
  return { address, counts };
}

/** Thrown by guarded work for a wrong password or code. It counts as a failure. */
export class WrongGuess extends Fault {}

type Counts = { name: string; failures: number }[];

export class SignInThrottle {
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly message: string;
  /** Attempts under way in this process. Each of them counts as failed until it has ended. */
  private readonly underWay = new KeyedCount();
  private readonly checks = new FixedWindow(60);

  /** `message`: text of the RATE_LIMITED answer. */
  constructor(database: Database, clock: Clock, message = TOO_MANY_SIGN_INS) {
    this.database = database;
    this.clock = clock;
    this.message = message;
  }

  /**
   * Runs work that checks a password or code. Throws RATE_LIMITED while too many have failed in the window, or were checked in the minute. An attempt counts
   * as failed before the work runs, and is taken back unless the work throws `WrongGuess`: so concurrent guesses get no more checks than successive ones.
   */
  async guard<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
    const now = Math.floor(this.clock.now() / SECOND);
    const start = now - (now % WINDOW_SECONDS);
    const names = attempt.counts.map(({ name }) => name);
    // Attempts beyond those never reach the database: waiting for the same rows, they would take its connections from everybody.
    const underWay = names.map((name) => ({ name, failures: this.underWay.of(name) }));
    this.refuseSpent(start, attempt, underWay, 0);
    for (const name of names) this.underWay.add(name, 1);
    let counts: Counts | undefined;
    try {
      // The count is read before it is raised, so that an attempt that is rejected anyway costs no write.
      this.refuseSpent(start, attempt, await this.database.query<Counts[number]>(selectFailures(names, start)), 0);
      if (attempt.counts.some(({ name, free }) => this.checks.count(name, now) > CHECKS_A_MINUTE * free))
        throw new Fault("RATE_LIMITED", { retryAfterSeconds: 60 - (now % 60), message: TOO_MANY_CHECKS });
      counts = await this.database.query<Counts[number]>(countFailures(names, start, 1));
      this.refuseSpent(start, attempt, counts, 1);
      return await work();
    } catch (error) {
      if (error instanceof WrongGuess) counts = undefined;
      throw error;
    } finally {
      for (const name of names) this.underWay.add(name, -1);
      if (counts) await this.database.query(countFailures(names, start, -1));
    }
  }

  /** Throws RATE_LIMITED when the window is spent. `own`: failures in `counts` that stand for this attempt itself. */
  private refuseSpent(start: number, attempt: Attempt, counts: Counts, own: number): void {
    const failuresOf = (name: string): number => (counts.find((row) => row.name === name)?.failures ?? 0) - own;
    if (attempt.counts.every(({ name, free }) => failuresOf(name) < free)) return;
    const left = start + WINDOW_SECONDS - Math.floor(this.clock.now() / SECOND);
    throw new Fault("RATE_LIMITED", {
      retryAfterSeconds: Math.max(1, left),
      message: this.message,
    });
  }
}
