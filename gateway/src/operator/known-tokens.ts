// Finds the operator of a bearer token: one of the two tokens of the environment, or a named token of the database. Every process caches the named tokens.
import type { Clock, Micros } from "../ground/clock.ts";
import { sameText, sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import type { Database } from "../store/database.ts";
import type { SettingsWatch } from "../store/settings-watch.ts";
import type { OperatorRole } from "../people/operator-roles.ts";
import { type KnownToken, knownTokenOfRow, selectKnownTokens } from "./tokens.sql.ts";

/** Who an operator is. Two identities count as two operators only when no one may have held what both sign in with. */
export interface Identity {
  /** A person has a console session. */
  kind: "token" | "person" | "environment";
  /** Identity of the token or the person. For a token of the environment, its name. */
  id: string;
  /** The name of the token, or the e-mail address of the person. The audit and the log record it. */
  name: string;
  role: OperatorRole;
}

/** The authenticated operator of a request. */
export interface Operator extends Identity {
  /** Undefined for a session, and when the token ends only by being revoked. */
  expiresAt: Micros | undefined;
}

/** The operator that the command line acts as; it has access to the database itself. */
export const COMMAND_LINE: Operator = {
  kind: "environment",
  id: "command-line",
  name: "command-line",
  role: "admin",
  expiresAt: undefined,
};

/** Ended tokens to keep in memory, so that rejected calls with them can be recorded under their names. */
const ENDED_MAX = 500;

interface KnownTokensParts {
  database: Database;
  watch: SettingsWatch;
  clock: Clock;
  /** The values of OPERATOR_TOKEN and OPERATOR_VIEWER_TOKEN. */
  environment: { admin: string; viewer: string | undefined };
}

export class KnownTokens {
  private readonly parts: KnownTokensParts;
  private readonly fixed: { digest: string; operator: Operator }[];
  private named = new Map<string, KnownToken>();

  constructor(parts: KnownTokensParts) {
    this.parts = parts;
    const { admin, viewer } = parts.environment;
    const fixed = (token: string, name: string, role: OperatorRole) => ({
      digest: digestOf(token),
      operator: { kind: "environment" as const, id: name, name, role, expiresAt: undefined },
    });
    this.fixed = [
      fixed(admin, "environment", "admin"),
      ...(viewer === undefined ? [] : [fixed(viewer, "environment-viewer", "viewer")]),
    ];
    parts.watch.subscribe(() => this.load());
  }

  /**
   * Gives the operator of a token, the name of a token that has ended, or undefined for an unknown token. The cache is never older than a second. Another
   * process may have just made an unknown token, so all calls with unknown tokens share one query. Tokens of the environment need none. Throws
   * SERVICE_UNAVAILABLE when the database does not answer.
   */
  async find(bearer: string): Promise<{ operator: Operator } | { ended: string } | undefined> {
    const digest = digestOf(bearer);
    const fixed = this.fixedOf(digest);
    if (fixed) return { operator: fixed };
    const { watch } = this.parts;
    await this.asked(watch.fresh());
    if (!this.named.has(digest)) await this.asked(watch.ask());
    const token = this.namedOf(digest);
    if (!token) return undefined;
    if (!this.isGood(token)) return { ended: token.name };
    const { name, role, expiresAt, tokenId } = token;
    return { operator: { kind: "token", id: tokenId, name, role, expiresAt } };
  }

  /** True when this process knows the token as valid. It asks no database. */
  isKnown(bearer: string): boolean {
    const digest = digestOf(bearer);
    const token = this.namedOf(digest);
    return this.fixedOf(digest) !== undefined || (token !== undefined && this.isGood(token));
  }

  private async asked(question: Promise<void> | undefined): Promise<void> {
    try {
      await question;
    } catch (error) {
      throw new Fault("SERVICE_UNAVAILABLE", { internal: error });
    }
  }

  /** Compares digests, since their equal length reveals nothing about the length of the tokens. All of them are compared each time. */
  private fixedOf(digest: string): Operator | undefined {
    return this.fixed.filter((one) => sameText(one.digest, digest))[0]?.operator;
  }

  /** The map lookup is not constant in time, but its timing reveals only how far two digests agree, and nothing of a token. */
  private namedOf(digest: string): KnownToken | undefined {
    const token = this.named.get(digest);
    return token && sameText(token.digest, digest) ? token : undefined;
  }

  private isGood({ revoked, expiresAt }: KnownToken): boolean {
    return !revoked && (expiresAt === undefined || expiresAt > this.parts.clock.now());
  }

  private async load(): Promise<void> {
    const { database, clock } = this.parts;
    const rows = await database.query(selectKnownTokens(clock.now(), ENDED_MAX));
    this.named = new Map(rows.map(knownTokenOfRow).map((token) => [token.digest, token]));
  }
}

const digestOf = (text: string): string => sha256(text).toString("hex");
