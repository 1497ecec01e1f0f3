// Named tokens of operators: created with a secret shown once, rotated with an overlap, revoked. No token has more rights than its maker.
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { newSecret, sha256 } from "../ground/crypto.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Database, Query } from "../store/database.ts";
import { nextEpoch } from "../store/settings-watch.ts";
import type { Operator } from "./known-tokens.ts";
import { mayAct } from "../people/operator-roles.ts";
import {
  type NewToken,
  type OperatorToken,
  type TokenTerms,
  countLiveTokens,
  insertTokens,
  replaceToken,
  revokeTokens,
  selectCurrentToken,
  selectToken,
  selectTokens,
  tokenOfRow,
} from "./tokens.sql.ts";

/** Tokens that may be valid at once, including replaced ones within their overlap. Every process holds all of them in memory. */
export const LIVE_TOKENS_MAX = 200;
export const TOKEN_NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/;
/** Names that no token may have: the two tokens of the environment, and the command line. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(["environment", "environment-viewer", "command-line"]);

export interface MadeToken {
  token: NewToken;
  /** Shown only in this answer; the database keeps a digest. */
  secret: string;
}

interface TokensParts {
  database: Database;
  clock: Clock;
  /** Called after a change, so that this process knows of it at once. Other processes know within a second. */
  changed: () => Promise<void>;
}

export class OperatorTokens {
  private readonly parts: TokensParts;

  constructor(parts: TokensParts) {
    this.parts = parts;
  }

  /** Creates a token. Throws VALIDATION_ERROR for a name in use or reserved, and for too many tokens; as `refuseMoreThanOwn`. */
  async create(terms: TokenTerms, maker: Operator): Promise<MadeToken> {
    if (!TOKEN_NAME.test(terms.name) || RESERVED_NAMES.has(terms.name))
      throw validationFault("name", terms.name, NAME_RULE);
    refuseMoreThanOwn(maker, terms);
    return this.change(async (query, now) => {
      await query(revokeTokens(terms.name, now, "expired"));
      if (await current(query, terms.name))
        throw validationFault("name", terms.name, `There is a token named ${terms.name}. Rotate or revoke it.`);
      return this.insert(query, now, newId("operatorToken", now), terms, maker);
    });
  }

  /**
   * Creates a new secret with the same name, role and end. Previous secrets stay valid for `overlapSeconds` unless they end sooner. Undefined when no token
   * of this name is valid. Throws FORBIDDEN or VALIDATION_ERROR for a token with more rights than the maker's.
   */
  async rotate(name: string, overlapSeconds: number, maker: Operator): Promise<MadeToken | undefined> {
    if (!TOKEN_NAME.test(name)) return undefined;
    return this.change(async (query, now) => {
      const before = await current(query, name);
      if (!before || !isLive(before, now)) return undefined;
      refuseMoreThanOwn(maker, before);
      const tokenId = newId("operatorToken", now);
      await query(replaceToken(before, tokenId, now + overlapSeconds * SECOND));
      // An expiry time would come later in a process whose clock is behind, so without an overlap the old tokens are revoked.
      if (overlapSeconds === 0) await query(revokeTokens(name, now, "all"));
      return this.insert(query, now, tokenId, before, maker);
    });
  }

  /** Revokes all tokens of a name, in every process within a second. False when there was none to revoke. */
  async revoke(name: string): Promise<boolean> {
    if (!TOKEN_NAME.test(name)) return false;
    return this.change(async (query, now) => (await query(revokeTokens(name, now, "all"))).length > 0);
  }

  /** A page of all tokens, ended ones too, newest first. */
  async list(after: string | undefined, count: number): Promise<OperatorToken[]> {
    return (await this.parts.database.query(selectTokens(after, count))).map(tokenOfRow);
  }

  async has(tokenId: string): Promise<boolean> {
    return (await this.parts.database.query(selectToken(tokenId))).length > 0;
  }

  /** Serializes changes by locking the settings epoch, so that whatever `work` reads stays true until it commits. */
  private async change<T>(work: (query: Query, now: Micros) => Promise<T>): Promise<T> {
    const { database, clock, changed } = this.parts;
    const done = await database.transaction(async (query) => {
      await nextEpoch(query);
      return work(query, clock.now());
    });
    await changed();
    return done;
  }

  private async insert(
    query: Query,
    now: Micros,
    tokenId: string,
    { name, role, expiresAt }: TokenTerms,
    maker: Operator,
  ): Promise<MadeToken> {
    const [row] = await query<{ live: number }>(countLiveTokens(now));
    if ((row?.live ?? 0) >= LIVE_TOKENS_MAX)
      throw validationFault("name", name, `At most ${LIVE_TOKENS_MAX} tokens may be good at once. Revoke one first.`);
    const secret = newSecret("op_");
    const token = { tokenId, name, role, expiresAt, createdAt: now, createdBy: maker.name };
    await query(insertTokens([{ ...token, digest: sha256(secret) }]));
    return { token, secret };
  }
}

const NAME_RULE =
  "name must be 1 to 40 lower-case letters, digits, dots, dashes or underscores, begin with a letter or a digit, and not be one of " +
  `${[...RESERVED_NAMES].join(", ")}.`;

function isLive({ expiresAt }: OperatorToken, now: Micros): boolean {
  return expiresAt === undefined || expiresAt > now;
}

/** Throws FORBIDDEN for a higher role than the maker's, and VALIDATION_ERROR for a longer life. */
function refuseMoreThanOwn(maker: Operator, { role, expiresAt }: TokenTerms): void {
  if (!mayAct(maker.role, role))
    throw new Fault("FORBIDDEN", { message: `Your role, ${maker.role}, is below ${role}.` });
  if (maker.expiresAt !== undefined && (expiresAt === undefined || expiresAt > maker.expiresAt))
    throw validationFault("expires_in", null, "A token cannot outlive the one that makes or rotates it.");
}

async function current(query: Query, name: string): Promise<OperatorToken | undefined> {
  const [row] = await query(selectCurrentToken(name));
  return row && tokenOfRow(row);
}
