// Which operator a bearer token is: the two of the environment, and the named ones of the database as every process holds them in memory.
import type { Clock, Micros } from "../ground/clock.ts";
import { sameText, sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import type { Database } from "../store/database.ts";
import type { SettingsWatch } from "../store/settings-watch.ts";
import type { OperatorRole } from "../people/operator-roles.ts";
import { type KnownToken, knownTokenOfRow, selectKnownTokens } from "./tokens.sql.ts";

/** Who asks, once their token or their session is found good. */
export interface Operator {
  /** Of the token, or the e-mail address of the person: it stands in the audit and in the log. */
  name: string;
  role: OperatorRole;
  /** Undefined: the token ends only when it is revoked. */
  expiresAt: Micros | undefined;
  /** Undefined of a token of the environment. */
  tokenId: string | undefined;
  /** Who it is, of a session of the console; undefined of a token. */
  person: { personId: string } | undefined;
}

/** The command line of whoever may reach the database. */
export const COMMAND_LINE: Operator = {
  name: "command-line",
  role: "admin",
  expiresAt: undefined,
  tokenId: undefined,
  person: undefined,
};

/** Tokens that have ended and are still told by name when somebody uses them. */
const ENDED_MAX = 500;

export interface KnownTokensParts {
  database: Database;
  watch: SettingsWatch;
  clock: Clock;
  /** OPERATOR_TOKEN and OPERATOR_VIEWER_TOKEN. */
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
      operator: { name, role, expiresAt: undefined, tokenId: undefined, person: undefined },
    });
    this.fixed = [
      fixed(admin, "environment", "admin"),
      ...(viewer === undefined ? [] : [fixed(viewer, "environment-viewer", "viewer")]),
    ];
    parts.watch.subscribe(() => this.load());
  }

  /**
   * The operator of a token, or the name of a token that has ended, or undefined for one that never was. What is known is never older than a
   * second, and a token that is not known may have been made by another process a moment ago: all that are not wait for one question to the
   * database. Those of the environment need none. Throws SERVICE_UNAVAILABLE when it cannot be asked.
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
    return { operator: { name, role, expiresAt, tokenId, person: undefined } };
  }

  /** Whether a token is good as far as this process knows without asking anybody. */
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

  /** Digests have one length, so that comparing tells nothing of the tokens'. All are always compared. */
  private fixedOf(digest: string): Operator | undefined {
    const [found] = this.fixed.filter((one) => sameText(one.digest, digest));
    return found?.operator;
  }

  /** By digest: whoever could tell from the time how far two digests agree learns nothing of a token. */
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
