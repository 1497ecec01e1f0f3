// Creates and changes merchants, credentials and webhook addresses. These are rare, so each runs in its own transaction outside the lanes.
import { randomBytes } from "node:crypto";
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import type { Vault } from "../ground/crypto.ts";
import { validationFault } from "../ground/fault.ts";
import { idOf, newId } from "../ground/ids.ts";
import type { Database, Query } from "../store/database.ts";
import { type SettingsWatch, nextEpoch } from "../store/settings-watch.ts";
import { type Book, type Environment, environments } from "./books.ts";
import { Credentials } from "./credentials.ts";
import { type MerchantSummary, merchantOfRow, webhookOwner } from "./directory.ts";
import {
  insertBooks,
  insertMerchant,
  lockSettings,
  selectAnyMerchant,
  selectMerchant,
  selectOldestNamed,
  touchMerchant,
  updateMerchant,
} from "./merchants.sql.ts";
import { type SettingsChange, applyChange, defaultSettings, missingOf, settingsSchema } from "./settings.ts";
import {
  type WebhookRegistration,
  insertWebhook,
  markPreviousSecrets,
  registrationOfRow,
  retirePreviousSecret,
  rotateWebhook,
  selectNextProbe,
  selectWebhook,
  takeProbe,
  updateWebhookUrl,
} from "./webhook-endpoints.sql.ts";

/** An observation about the webhook secret before a rotation. */
export interface PreviousSecretMark {
  book: Book;
  at: Micros;
  fact: "carried" | "needed" | "not needed";
}

/** Time after a rotation in which every delivery carries both signatures. */
const UNDISTURBED_SECONDS = 60;

export class Merchants {
  readonly credentials: Credentials;
  private readonly database: Database;
  private readonly vault: Vault;
  private readonly watch: SettingsWatch;
  private readonly clock: Clock;

  constructor(database: Database, vault: Vault, watch: SettingsWatch, clock: Clock) {
    this.database = database;
    this.vault = vault;
    this.watch = watch;
    this.clock = clock;
    const touched = this.touched.bind(this);
    this.credentials = new Credentials({ database, vault, clock, touched });
  }

  /** Creates a merchant with default settings and a book in each environment. Gives its webhook secrets. */
  async create(name: string): Promise<{ merchantId: string; webhookSecrets: Record<Environment, string> }> {
    const now = this.clock.now();
    const merchantId = newId("merchant", now);
    const webhookSecrets = { sandbox: newWebhookSecret(), production: newWebhookSecret() };
    await this.change(async (query, epoch) => {
      await query(insertMerchant({ merchantId, name, settings: defaultSettings }, epoch, now));
      await query(insertBooks(merchantId));
      for (const environment of environments) {
        const book = { merchantId, environment };
        await query(insertWebhook(book, this.vault.seal(webhookSecrets[environment], webhookOwner(book)), now));
      }
    });
    return { merchantId, webhookSecrets };
  }

  /** The settings of a merchant; undefined when there is no such merchant. */
  async read(merchantId: string): Promise<MerchantSummary | undefined> {
    return this.database.first(selectMerchant(merchantId), merchantOfRow);
  }

  /**
   * Applies a change that the schema has accepted. False when there is no such merchant. Throws VALIDATION_ERROR when an enabled currency has
   * no prices or limits of its own, or an amount is given in two ways.
   */
  async patch(merchantId: string, change: SettingsChange): Promise<boolean> {
    return this.change(async (query, epoch) => {
      const [row] = await query<{ settings: string }>(lockSettings(merchantId));
      if (!row) return false;
      const settings = settingsSchema.parse(applyChange(settingsSchema.parse(JSON.parse(row.settings)), change));
      const missing = missingOf(settings);
      if (missing) throw validationFault(missing.field, undefined, missing.message);
      await query(updateMerchant(merchantId, settings, change, epoch));
      return true;
    });
  }

  /** Registers the checked address of a book's events. Gives the signing secret, which does not change; undefined for no such merchant. */
  async setWebhook(book: Book, url: string): Promise<string | undefined> {
    const [row] = await this.touched(book.merchantId, (query) =>
      query<{ secret_sealed: Buffer }>(updateWebhookUrl(book, url, this.clock.now())),
    );
    return row && this.vault.open(row.secret_sealed, webhookOwner(book));
  }

  /** Issues a new signing secret; the one before signs, too, for `overlapSeconds` of real time. Undefined when there is no such merchant. */
  async rotateWebhook(book: Book, overlapSeconds: number): Promise<string | undefined> {
    const secret = newWebhookSecret();
    const now = this.clock.now();
    const rotated = await this.touched(book.merchantId, (query) =>
      query(
        rotateWebhook(book, {
          sealed: this.vault.seal(secret, webhookOwner(book)),
          at: now,
          until: overlapSeconds > 0 ? now + overlapSeconds * SECOND : undefined,
          probeAt: now + UNDISTURBED_SECONDS * SECOND,
        }),
      ),
    );
    return rotated.length > 0 ? secret : undefined;
  }

  /** Ends the overlap of a rotation, in every process within a second. False when the previous secret no longer signed. */
  async retirePreviousSecret(book: Book): Promise<boolean> {
    const retired = await this.touched(book.merchantId, (query) => query(retirePreviousSecret(book, this.clock.now())));
    return retired.length > 0;
  }

  /** The address of a book's events and the state of its secret's rotation. Undefined when there is no such merchant. */
  async webhook(book: Book): Promise<WebhookRegistration | undefined> {
    return this.database.first(selectWebhook(book), registrationOfRow);
  }

  /** Writes observations about previous secrets; those from outside the overlap of a rotation are dropped. */
  async markPrevious(marks: readonly PreviousSecretMark[]): Promise<void> {
    await this.database.query(markPreviousSecrets(marks));
  }

  /** Takes a book's turn to send a probe, with the new signature alone, if one is due. The next probe may come at `next`. */
  async takeProbe(book: Book, next: Micros): Promise<{ taken: boolean; next: Micros }> {
    const taken = await this.database.query(takeProbe(book, this.clock.now(), next));
    if (taken.length > 0) return { taken: true, next };
    const [row] = await this.database.query<{ probe_at: Micros | null }>(selectNextProbe(book));
    return { taken: false, next: row?.probe_at ?? next };
  }

  /** True when no merchant exists yet, as at the first start. */
  async none(): Promise<boolean> {
    return (await this.database.query(selectAnyMerchant)).length === 0;
  }

  /** The oldest merchant with this name; undefined when there is none. */
  async oldestNamed(name: string): Promise<string | undefined> {
    const idOfRow = (row: { merchant_id: string }): string => idOf("merchant", row.merchant_id);
    return this.database.first(selectOldestNamed(name), idOfRow);
  }

  private touched<T>(merchantId: string, work: (query: Query) => Promise<T[]>): Promise<T[]> {
    return this.change(async (query, epoch) => {
      const found = await query(touchMerchant(merchantId, epoch));
      return found.length > 0 ? work(query) : [];
    });
  }

  private async change<T>(work: (query: Query, epoch: bigint) => Promise<T>): Promise<T> {
    const result = await this.database.transaction(async (query) => work(query, await nextEpoch(query)));
    await this.watch.changed();
    return result;
  }
}

/** 32 random bytes in base64 after the usual prefix `whsec_`; the whole text is the key of the service's own signature header. */
function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}
