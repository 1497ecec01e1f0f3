// The command `gerbang operator token`: tokens of the operator's API, made, listed, rotated and revoked with access to the database.
import { readConfig } from "../ground/config.ts";
import { SECOND, systemClock, wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { COMMAND_LINE } from "../operator/known-tokens.ts";
import type { OperatorRole } from "../people/operator-roles.ts";
import { EXPIRES_MAX_SECONDS, EXPIRES_MIN_SECONDS, OVERLAP_MAX_SECONDS } from "../operator/tokens.schema.ts";
import { tokenView } from "../operator/tokens.routes.ts";
import { type MadeToken, OperatorTokens } from "../operator/tokens.ts";
import type { Database } from "../store/database.ts";
import { UsageError } from "./command.ts";
import { recorded } from "./recorded.ts";
import { printJson, say } from "./say.ts";
import { withDatabase } from "./store-of-config.ts";

interface Tools {
  tokens: OperatorTokens;
  database: Database;
}

/** The commands below return the exit code: 0 done, 1 it cannot be done. They throw UsageError for a time that is too short or too long. */
export async function createTokenCommand(given: {
  name: string;
  role: OperatorRole;
  "expires-in": string | undefined;
}): Promise<number> {
  const { name, role, "expires-in": lasts } = given;
  const seconds = lasts === undefined ? undefined : secondsOf(lasts);
  if (lasts !== undefined && !isWithin(seconds, EXPIRES_MIN_SECONDS, EXPIRES_MAX_SECONDS))
    throw new UsageError("--expires-in is a time from 1m to 3650d, such as 90d");
  const expiresAt = seconds === undefined ? undefined : systemClock.now() + seconds * SECOND;
  return withTokens(async ({ tokens, database }) => {
    const body = { name, role, expires_in: seconds };
    const create = (): Promise<MadeToken> => tokens.create({ name, role, expiresAt }, COMMAND_LINE);
    print(await recorded(database, { command: "operator token create", body }, create));
    return 0;
  });
}

export async function rotateTokenCommand({ name, overlap }: { name: string; overlap: string }): Promise<number> {
  const seconds = secondsOf(overlap);
  if (seconds === undefined || !isWithin(seconds, 0, OVERLAP_MAX_SECONDS))
    throw new UsageError("--overlap is a time of at most 30d, such as 1h");
  return withTokens(async ({ tokens, database }) => {
    const rotate = async (): Promise<MadeToken> => (await tokens.rotate(name, seconds, COMMAND_LINE)) ?? missing(name);
    const body = { name, overlap_seconds: seconds };
    const made = await recorded(database, { command: "operator token rotate", body }, rotate);
    const end = seconds === 0 ? "opens nothing any more" : `is good for ${overlap} more, unless it ends sooner`;
    say(`The token before ${end}.`);
    print(made);
    return 0;
  });
}

export const revokeTokenCommand = ({ name }: { name: string }): Promise<number> =>
  withTokens(async ({ tokens, database }) => {
    const revoke = async (): Promise<boolean> => (await tokens.revoke(name)) || missing(name);
    await recorded(database, { command: "operator token revoke", body: { name } }, revoke);
    say(`${name} opens nothing any more, in any process, within a second.`);
    return 0;
  });

export const listTokensCommand = (): Promise<number> =>
  withTokens(async ({ tokens }) => {
    const PAGE = 100;
    let after: string | undefined;
    do {
      const page = await tokens.list(after, PAGE);
      for (const token of page) printJson(tokenView(token));
      after = page.length === PAGE ? page.at(-1)?.tokenId : undefined;
    } while (after !== undefined);
    return 0;
  });

/** Only the secret goes to standard output. The sentences about it go to standard error. */
function print({ token, secret }: MadeToken): void {
  const until = token.expiresAt === undefined ? "until it is revoked" : `until ${wireTime(token.expiresAt)}`;
  say(`${token.name}, role ${token.role}, good ${until}. It is shown this once:`);
  process.stdout.write(`${secret}\n`);
}

function missing(name: string): never {
  throw new Fault("OBJECT_NOT_FOUND", {
    message: `There is no good token named ${name}. Those of the environment are changed there.`,
  });
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Converts a time such as 90d, 12h, 30m or 45s to seconds; undefined for anything else. */
export function secondsOf(text: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return count === undefined ? (text === "0" ? 0 : undefined) : Number(count) * (UNITS[unit] ?? Number.NaN);
}

const isWithin = (seconds: number | undefined, least: number, most: number): boolean =>
  seconds !== undefined && seconds >= least && seconds <= most;

function withTokens(work: (tools: Tools) => Promise<number>): Promise<number> {
  return withDatabase(readConfig(undefined, undefined, "database"), (database) => {
    const tokens = new OperatorTokens({ database, clock: systemClock, changed: () => Promise.resolve() });
    return work({ tokens, database });
  });
}
