// Credentials of merchants' systems: created with a secret that is shown once, changed, rolled with an overlap, and revoked.
import { type Clock, type Micros, SECOND, wireTime } from "../ground/clock.ts";
import { type Vault, newSecret } from "../ground/crypto.ts";
import { type Fault, validationFault } from "../ground/fault.ts";
import type { Database, Query } from "../store/database.ts";
import type { Book } from "./books.ts";
import {
  type Credential,
  type CredentialTerms,
  type Whose,
  countLive,
  credentialOfRow,
  endCredential,
  insertCredential,
  replaceCredential,
  selectCredential,
  selectCredentials,
  updateCredential,
} from "./credentials.sql.ts";
import { scopes as allScopes, credentialOwner } from "./directory.ts";

export interface NewCredential {
  clientId: string;
  /** Shown once: only its seal is stored. */
  secret: string;
}

/** Maximum of live credentials that people may create in one book. */
export const LIVE_MAX = 20;
const BOTH_LIVE =
  "The key before stays one of them while it overlaps. Revoke one that is not needed, or roll without an overlap.";

interface CredentialParts {
  database: Database;
  vault: Vault;
  clock: Clock;
  /** Runs work in a transaction after which every process reloads the merchant, and gives its rows; none when there is no such merchant. */
  touched: <T>(merchantId: string, work: (query: Query) => Promise<T[]>) => Promise<T[]>;
}

export class Credentials {
  private readonly parts: CredentialParts;

  constructor(parts: CredentialParts) {
    this.parts = parts;
  }

  /**
   * Creates a credential; a book may have several live ones. Undefined when there is no such merchant. With `max`, throws VALIDATION_ERROR
   * when the book has that many live ones already. `also` runs in the same transaction: when it throws, no credential is created.
   */
  async create(
    book: Book,
    terms: Partial<CredentialTerms> = {},
    max?: number,
    also?: (query: Query, made: NewCredential) => Promise<void>,
  ): Promise<NewCredential | undefined> {
    const { clock, touched } = this.parts;
    const [made] = await touched(book.merchantId, async (query) => {
      if (max !== undefined) await refuseBeyond(query, book, clock.now(), max);
      const made = await this.insert(query, book, terms);
      await also?.(query, made);
      return [made];
    });
    return made;
  }

  /** Throws VALIDATION_ERROR when a book has `max` live credentials or more. */
  async refuseFull(book: Book, max: number): Promise<void> {
    const { database, clock } = this.parts;
    await refuseBeyond((statement) => database.query(statement), book, clock.now(), max);
  }

  /**
   * Changes a credential that is not revoked, in every process within a second. Undefined when the book has no such credential. Throws
   * VALIDATION_ERROR for another expiry of one that has expired, and what `judge` throws of the credential before the change.
   */
  async change(
    book: Book,
    clientId: string,
    change: Partial<CredentialTerms>,
    judge?: (before: Credential) => void,
  ): Promise<Credential | undefined> {
    const { clock, touched } = this.parts;
    const changed = await touched(book.merchantId, async (query) => {
      const before = await readCredential(query, book, clientId);
      if (!before || before.revokedAt !== undefined) return [];
      judge?.(before);
      if ("expiresAt" in change && !isLive(before, clock.now())) throw hasExpired(change.expiresAt);
      return query(updateCredential(book, clientId, { ...before, ...change }));
    });
    return changed.length > 0 ? this.read(book, clientId) : undefined;
  }

  /**
   * Replaces a credential by a new one on the same terms. The old one stays live for `overlapSeconds`, so that systems can change over one by
   * one. If the old one expires, the new one gets the same lifetime, from now. Undefined when the book has no such live credential. Throws
   * VALIDATION_ERROR when both would be live in a book that has LIVE_MAX live ones already, and what `judge` throws of the old one.
   */
  async roll(
    book: Book,
    clientId: string,
    overlapSeconds: number,
    judge?: (before: Credential) => void,
  ): Promise<NewCredential | undefined> {
    const { clock, touched } = this.parts;
    const [made] = await touched(book.merchantId, async (query) => {
      const now = clock.now();
      const before = await readCredential(query, book, clientId);
      if (!before || !isLive(before, now)) return [];
      judge?.(before);
      if (overlapSeconds > 0) await refuseBeyond(query, book, now, LIVE_MAX, "overlap_seconds", BOTH_LIVE);
      const { expiresAt, createdAt } = before;
      const made = await this.insert(query, book, {
        ...before,
        expiresAt: expiresAt === undefined ? undefined : now + (expiresAt - createdAt),
      });
      await query(replaceCredential(book, clientId, made.clientId, now + overlapSeconds * SECOND));
      if (overlapSeconds === 0) await query(endCredential(book.merchantId, clientId, now));
      return [made];
    });
    return made;
  }

  /** Revokes a credential, in every process within a second. False when the merchant has no such credential that is not revoked. */
  async end(merchantId: string, clientId: string): Promise<boolean> {
    const { clock, touched } = this.parts;
    const ended = await touched(merchantId, (query) => query(endCredential(merchantId, clientId, clock.now())));
    return ended.length > 0;
  }

  /** A credential that the merchant has or had, in one environment or in either. */
  read(of: Whose, clientId: string): Promise<Credential | undefined> {
    return readCredential((statement) => this.parts.database.query(statement), of, clientId);
  }

  /** A page of a merchant's credentials, newest first, including revoked and expired ones. */
  async list(of: Whose, after: string | undefined, count: number): Promise<Credential[]> {
    return (await this.parts.database.query(selectCredentials(of, after, count))).map(credentialOfRow);
  }

  private async insert(query: Query, book: Book, terms: Partial<CredentialTerms>): Promise<NewCredential> {
    const { vault, clock } = this.parts;
    const kind = book.environment === "sandbox" ? "test" : "live";
    const clientId = newSecret(`ak_${kind}_`).slice(0, 34);
    const secret = newSecret(`sk_${kind}_`);
    const statement = insertCredential({
      name: terms.name,
      scopes: terms.scopes ?? allScopes,
      signature: terms.signature ?? "any",
      allowedAddresses: terms.allowedAddresses ?? [],
      expiresAt: terms.expiresAt,
      book,
      clientId,
      sealed: vault.seal(secret, credentialOwner(clientId)),
      createdAt: clock.now(),
    });
    await query(statement);
    return { clientId, secret };
  }
}

/** True for a credential that is neither revoked nor expired. */
export function isLive({ revokedAt, expiresAt }: Pick<Credential, "revokedAt" | "expiresAt">, now: Micros): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}

const hasExpired = (asked: Micros | undefined): Fault =>
  validationFault(
    "expires_at",
    asked && wireTime(asked),
    "This key has expired, and does not come back. Make a new one.",
  );

async function readCredential(query: Query, of: Whose, clientId: string): Promise<Credential | undefined> {
  const [row] = await query(selectCredential(of, clientId));
  return row && credentialOfRow(row);
}

async function refuseBeyond(
  query: Query,
  book: Book,
  now: Micros,
  max: number,
  field = "name",
  advice = "Revoke one that is not needed.",
): Promise<void> {
  const [row] = await query<{ live: number }>(countLive(book, now));
  if ((row?.live ?? 0) >= max)
    throw validationFault(field, undefined, `At most ${max} keys may be live at once. ${advice}`);
}
