// Slows down who guesses: the more sign-ins of an account or from an address have failed lately, the longer the next one has to wait.
import { type Clock, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Database } from "../store/database.ts";
import { countFailures, deleteOldFailures, selectFailures } from "./sessions.sql.ts";

const WINDOW_SECONDS = 900;
/** So many fail for an account, or from an address, before anyone waits. An office shares one address. */
const FREE_OF_ACCOUNT = 5;
const FREE_OF_ADDRESS = 30;

/** Who tries: the account by its e-mail address, whether there is one or not, and the address that the request came from. */
export interface Attempt {
  email: string;
  address: string;
}

/** Whether no more may be tried in this window. Pure. */
export function isSpent(failures: { account: number; address: number }): boolean {
  return failures.account >= FREE_OF_ACCOUNT || failures.address >= FREE_OF_ADDRESS;
}

export class SignInThrottle {
  private readonly database: Database;
  private readonly clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  /** Throws RATE_LIMITED, until the window is over, when too many have failed in it. Asked before anything is compared. */
  async check(attempt: Attempt): Promise<void> {
    const start = this.windowStart();
    const [account, address] = namesOf(attempt);
    const rows = await this.database.query<{ name: string; failures: number }>(
      selectFailures([account, address], start),
    );
    const failuresOf = (name: string): number => rows.find((row) => row.name === name)?.failures ?? 0;
    if (!isSpent({ account: failuresOf(account), address: failuresOf(address) })) return;
    const left = start + WINDOW_SECONDS - Math.floor(this.clock.now() / SECOND);
    throw new Fault("RATE_LIMITED", {
      retryAfterSeconds: Math.max(1, left),
      message: "Too many sign-ins have failed. Wait for the seconds in Retry-After, or reset the password.",
    });
  }

  /** Counts a sign-in that failed. */
  async failed(attempt: Attempt): Promise<void> {
    await this.database.query(countFailures(namesOf(attempt), this.windowStart()));
  }

  /** Forgets what is over. */
  async sweep(): Promise<void> {
    await this.database.query(deleteOldFailures(this.windowStart()));
  }

  private windowStart(): number {
    const now = Math.floor(this.clock.now() / SECOND);
    return now - (now % WINDOW_SECONDS);
  }
}

function namesOf({ email, address }: Attempt): [account: string, address: string] {
  return [`account ${email.slice(0, 254)}`, `address ${address.slice(0, 60)}`];
}
