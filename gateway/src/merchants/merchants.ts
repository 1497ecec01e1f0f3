// Making and changing merchants, credentials and webhook addresses. Rare, so outside the lanes: one transaction each.
import { randomBytes } from "node:crypto";
import { type Clock, type Micros, SECOND, sqlTime } from "../ground/clock.ts";
import { type Vault, newSecret } from "../ground/crypto.ts";
import { idOf, newId, uuidOf } from "../ground/ids.ts";
import type { Database, Row, Statement } from "../store/database.ts";
import { type SettingsWatch, nextEpoch } from "../store/settings-watch.ts";
import { type Book, type Environment, bookArrays, environments } from "./books.ts";
import { type Scope, credentialOwner, scopes as allScopes, webhookOwner } from "./directory.ts";
import {
  type MerchantSettings,
  type SettingsChange,
  applyChange,
  defaultSettings,
  settingsSchema,
} from "./settings.ts";

export interface NewCredential {
  clientId: string;
  /** Shown this once. */
  secret: string;
}

export interface MerchantSummary {
  merchantId: string;
  name: string;
  suspended: boolean;
  rateLimitPerMinute: number;
  settings: MerchantSettings;
}

export interface WebhookRegistration {
  url: string | undefined;
  rotatedAt: Micros | undefined;
  /** Until when the secret before the last rotation signs as well; past times mean that it no longer does. */
  previousUntil: Micros | undefined;
  /** When a delivery that carried its signature was last accepted; by which signature it was verified, that does not tell. */
  previousCarriedAt: Micros | undefined;
  /** When one was refused with the new signature alone, and accepted with both. */
  previousNeededAt: Micros | undefined;
  /** When one was accepted with the new signature alone. */
  previousNotNeededAt: Micros | undefined;
}

/** Something that was noticed about the secret before a rotation. */
export interface PreviousSecretMark {
  book: Book;
  at: Micros;
  fact: "carried" | "needed" | "not needed";
}

/** For so long after a rotation every delivery carries both signatures. */
const UNDISTURBED_SECONDS = 60;
const PROBE_AFTER_REFUSAL_SECONDS = 600;

type Query = <R extends Row = Row>(statement: Statement) => Promise<R[]>;

export class Merchants {
  private readonly database: Database;
  private readonly vault: Vault;
  private readonly watch: SettingsWatch;
  private readonly clock: Clock;

  constructor(database: Database, vault: Vault, watch: SettingsWatch, clock: Clock) {
    this.database = database;
    this.vault = vault;
    this.watch = watch;
    this.clock = clock;
  }

  /** A merchant with default settings, a book in each environment, and webhook secrets, which are shown this once. */
  async create(name: string): Promise<{ merchantId: string; webhookSecrets: Record<Environment, string> }> {
    const now = this.clock.now();
    const merchantId = newId("merchant", now);
    const webhookSecrets = { sandbox: newWebhookSecret(), production: newWebhookSecret() };
    await this.change(async (query, epoch) => {
      await query({
        text: `insert into merchants (merchant_id, name, settings, epoch, created_at)
values ($1::uuid, $2::text, $3::jsonb, $4::bigint, $5::timestamptz)`,
        values: [uuidOf(merchantId), name, JSON.stringify(defaultSettings), epoch, sqlTime(now)],
      });
      await query({
        text: "insert into books (merchant_id, environment) select $1::uuid, unnest($2::text[])::environment",
        values: [uuidOf(merchantId), environments],
      });
      for (const environment of environments) {
        await query(this.webhookStatement({ merchantId, environment }, undefined, webhookSecrets[environment]));
      }
    });
    return { merchantId, webhookSecrets };
  }

  /** Every setting of a merchant, or undefined when there is none of this id. */
  async read(merchantId: string): Promise<MerchantSummary | undefined> {
    const [row] = await this.database.query<{
      name: string;
      suspended: boolean;
      rate_limit_per_minute: number;
      settings: string;
    }>({
      text: "select name, suspended, rate_limit_per_minute, settings from merchants where merchant_id = $1::uuid",
      values: [uuidOf(merchantId)],
    });
    return (
      row && {
        merchantId,
        name: row.name,
        suspended: row.suspended,
        rateLimitPerMinute: row.rate_limit_per_minute,
        settings: settingsSchema.parse(JSON.parse(row.settings)),
      }
    );
  }

  /** Applies a change that the schema has accepted. False when there is no such merchant. */
  async patch(merchantId: string, change: SettingsChange): Promise<boolean> {
    return this.change(async (query, epoch) => {
      const [row] = await query<{ settings: string }>({
        text: "select settings from merchants where merchant_id = $1::uuid for update",
        values: [uuidOf(merchantId)],
      });
      if (!row) return false;
      const settings = settingsSchema.parse(applyChange(settingsSchema.parse(JSON.parse(row.settings)), change));
      await query({
        text: `update merchants
set settings = $2::jsonb, epoch = $3::bigint, suspended = coalesce($4::boolean, suspended),
  rate_limit_per_minute = coalesce($5::integer, rate_limit_per_minute)
where merchant_id = $1::uuid`,
        values: [uuidOf(merchantId), JSON.stringify(settings), epoch, change.suspended, change.rate_limit_per_minute],
      });
      return true;
    });
  }

  /** A new key pair; several live ones are normal. Undefined when there is no such merchant. */
  async createCredential(
    merchantId: string,
    environment: Environment,
    scopes: readonly Scope[] = allScopes,
  ): Promise<NewCredential | undefined> {
    const kind = environment === "sandbox" ? "test" : "live";
    const clientId = newSecret(`ak_${kind}_`).slice(0, 34);
    const secret = newSecret(`sk_${kind}_`);
    const made = await this.touched(merchantId, (query) =>
      query({
        text: `insert into credentials (merchant_id, client_id, environment, secret_sealed, scopes, created_at)
values ($1::uuid, $2::text, $3::environment, $4::bytea, $5::text[], $6::timestamptz)`,
        values: [
          uuidOf(merchantId),
          clientId,
          environment,
          this.vault.seal(secret, credentialOwner(clientId)),
          scopes,
          sqlTime(this.clock.now()),
        ],
      }),
    );
    return made ? { clientId, secret } : undefined;
  }

  /** Ends a credential, in every process within a second. False when the merchant has no live one of this id. */
  async revokeCredential(merchantId: string, clientId: string): Promise<boolean> {
    let found = false;
    await this.touched(merchantId, async (query) => {
      const rows = await query({
        text: `update credentials set revoked_at = $3::timestamptz
where merchant_id = $1::uuid and client_id = $2::text and revoked_at is null
returning client_id`,
        values: [uuidOf(merchantId), clientId, sqlTime(this.clock.now())],
      });
      found = rows.length > 0;
    });
    return found;
  }

  /** Registers the address of a book's events and issues a new signing secret. The URL has passed the guard. */
  async setWebhook(book: Book, url: string): Promise<string | undefined> {
    const secret = newWebhookSecret();
    const done = await this.touched(book.merchantId, (query) => query(this.webhookStatement(book, url, secret)));
    return done ? secret : undefined;
  }

  /**
   * Issues a new signing secret. The one before it signs as well for `overlapSeconds` of real time, so that a receiver can
   * change over without losing a delivery. Undefined when there is no such merchant.
   */
  async rotateWebhook(book: Book, overlapSeconds: number): Promise<string | undefined> {
    const secret = newWebhookSecret();
    const now = this.clock.now();
    const overlaps = overlapSeconds > 0;
    const done = await this.touched(book.merchantId, (query) =>
      query({
        text: `update webhook_endpoints
set previous_sealed = case when $5::boolean then secret_sealed end,
  previous_carried_at = null, previous_needed_at = null, previous_not_needed_at = null, probe_at = $7::timestamptz,
  previous_until = case when $5::boolean then $6::timestamptz end,
  secret_sealed = $3::bytea, rotated_at = $4::timestamptz, updated_at = $4::timestamptz
where merchant_id = $1::uuid and environment = $2::environment`,
        values: [
          uuidOf(book.merchantId),
          book.environment,
          this.vault.seal(secret, webhookOwner(book)),
          sqlTime(now),
          overlaps,
          sqlTime(now + overlapSeconds * SECOND),
          sqlTime(now + UNDISTURBED_SECONDS * SECOND),
        ],
      }),
    );
    return done ? secret : undefined;
  }

  /** The address of a book's events and where the rotation of its secret stands. Undefined when there is no such merchant. */
  async webhook(book: Book): Promise<WebhookRegistration | undefined> {
    const [row] = await this.database.query<{
      url: string | null;
      rotated_at: Micros | null;
      previous_until: Micros | null;
      previous_carried_at: Micros | null;
      previous_needed_at: Micros | null;
      previous_not_needed_at: Micros | null;
    }>({
      text: `select url, rotated_at, previous_until, previous_carried_at, previous_needed_at, previous_not_needed_at
from webhook_endpoints
where merchant_id = $1::uuid and environment = $2::environment`,
      values: [uuidOf(book.merchantId), book.environment],
    });
    if (!row) return undefined;
    return {
      url: row.url ?? undefined,
      rotatedAt: row.rotated_at ?? undefined,
      previousUntil: row.previous_until ?? undefined,
      previousCarriedAt: row.previous_carried_at ?? undefined,
      previousNeededAt: row.previous_needed_at ?? undefined,
      previousNotNeededAt: row.previous_not_needed_at ?? undefined,
    };
  }

  /** Remembers what was noticed about secrets before a rotation, while they sign as well. */
  async markPrevious(marks: readonly PreviousSecretMark[]): Promise<void> {
    await this.database.query({
      name: "mark previous webhook secrets",
      text: `update webhook_endpoints w
set previous_carried_at = greatest(w.previous_carried_at, v.carried_at),
  previous_needed_at = greatest(w.previous_needed_at, v.needed_at),
  previous_not_needed_at = greatest(w.previous_not_needed_at, v.not_needed_at),
  -- a refusal may have woken somebody: the next one comes later
  probe_at = case when v.needed_at is null then w.probe_at else greatest(w.probe_at, v.needed_at + make_interval(secs => $5::integer)) end
from (
  select merchant_id, environment, max(at) as last_at, max(at) filter (where fact = 'carried') as carried_at,
    max(at) filter (where fact = 'needed') as needed_at, max(at) filter (where fact = 'not needed') as not_needed_at
  from unnest($1::uuid[], $2::text[]::environment[], $3::timestamptz[], $4::text[]) as v(merchant_id, environment, at, fact)
  group by merchant_id, environment
) v
where w.merchant_id = v.merchant_id and w.environment = v.environment and v.last_at between w.rotated_at and w.previous_until`,
      values: [
        ...bookArrays(marks.map(({ book }) => book)),
        marks.map(({ at }) => sqlTime(at)),
        marks.map(({ fact }) => fact),
        PROBE_AFTER_REFUSAL_SECONDS,
      ],
    });
  }

  /** Takes a book's turn to send with the new signature alone, if it is time; `next` is when the one after it may come. */
  async takeProbe(book: Book, next: Micros): Promise<{ taken: boolean; next: Micros }> {
    const values = [uuidOf(book.merchantId), book.environment, sqlTime(this.clock.now()), sqlTime(next)];
    const taken = await this.database.query({
      name: "take probe",
      text: `update webhook_endpoints
set probe_at = $4::timestamptz
where merchant_id = $1::uuid and environment = $2::environment and probe_at <= $3::timestamptz
  and previous_until > $3::timestamptz
returning 1`,
      values,
    });
    if (taken.length > 0) return { taken: true, next };
    const [row] = await this.database.query<{ probe_at: Micros | null }>({
      name: "next probe",
      text: "select probe_at from webhook_endpoints where merchant_id = $1::uuid and environment = $2::environment",
      values: values.slice(0, 2),
    });
    return { taken: false, next: row?.probe_at ?? next };
  }

  private webhookStatement(book: Book, url: string | undefined, secret: string): Statement {
    return {
      text: `insert into webhook_endpoints (merchant_id, environment, url, secret_sealed, updated_at)
values ($1::uuid, $2::environment, $3::text, $4::bytea, $5::timestamptz)
on conflict (merchant_id, environment) do update
set url = excluded.url, secret_sealed = excluded.secret_sealed, updated_at = excluded.updated_at,
  previous_sealed = null, previous_until = null, previous_carried_at = null, previous_needed_at = null,
  previous_not_needed_at = null, probe_at = null`,
      values: [
        uuidOf(book.merchantId),
        book.environment,
        url,
        this.vault.seal(secret, webhookOwner(book)),
        sqlTime(this.clock.now()),
      ],
    };
  }

  /** Throws when the secrets in this database were sealed under another master key: nothing could be signed or verified. */
  async checkMasterKey(): Promise<void> {
    const [row] = await this.database.query<{ client_id: string; secret_sealed: Buffer }>({
      text: "select client_id, secret_sealed from credentials order by created_at desc limit 1",
    });
    if (!row) return;
    try {
      this.vault.open(row.secret_sealed, credentialOwner(row.client_id));
    } catch (cause) {
      throw new Error("MASTER_KEY does not open the secrets in this database; use the key they were sealed with", {
        cause,
      });
    }
  }

  /** True when no merchant exists yet: the first start. */
  async none(): Promise<boolean> {
    return (await this.database.query({ text: "select from merchants limit 1" })).length === 0;
  }

  /** The first merchant that was made with this name; undefined when there is none. */
  async oldestNamed(name: string): Promise<string | undefined> {
    const [row] = await this.database.query<{ merchant_id: string }>({
      text: "select merchant_id from merchants where name = $1::text order by merchant_id limit 1",
      values: [name],
    });
    return row && idOf("merchant", row.merchant_id);
  }

  private async touched(merchantId: string, work: (query: Query) => Promise<unknown>): Promise<boolean> {
    return this.change(async (query, epoch) => {
      const rows = await query({
        text: "update merchants set epoch = $2::bigint where merchant_id = $1::uuid returning merchant_id",
        values: [uuidOf(merchantId), epoch],
      });
      if (rows.length === 0) return false;
      await work(query);
      return true;
    });
  }

  private async change<T>(work: (query: Query, epoch: bigint) => Promise<T>): Promise<T> {
    const result = await this.database.transaction(async (query) => work(query, await nextEpoch(query)));
    await this.watch.ask();
    return result;
  }
}

/** 32 random bytes in base64 behind the customary prefix; the whole text is the signing key. */
function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}
