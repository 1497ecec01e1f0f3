// The directory: merchants and their credentials as requests use them, cached for at most a second after a change.
import { type Micros, SECOND } from "../ground/clock.ts";
import type { Vault } from "../ground/crypto.ts";
import { idOf } from "../ground/ids.ts";
import { containedIn } from "../ground/networks.ts";
import { SigningKey } from "../ground/signing-key.ts";
import type { Database } from "../store/database.ts";
import { SharedRead } from "../store/shared-read.ts";
import type { SettingsWatch } from "../store/settings-watch.ts";
import type { Book, Environment } from "./books.ts";
import { type LoadedRow, loadMerchant, selectChanged, selectOwners } from "./directory.sql.ts";
import type { MerchantRow } from "./merchants.sql.ts";
import { type MerchantSettings, settingsSchema } from "./settings.ts";

export interface MerchantSummary {
  merchantId: string;
  name: string;
  suspended: boolean;
  rateLimitPerMinute: number;
  settings: MerchantSettings;
}

export interface Merchant extends MerchantSummary {
  /** The signing secrets of each book's events, and the registered address, if any. */
  webhooks: Partial<Record<Environment, Webhook>>;
}

export function merchantOfRow(row: MerchantRow): MerchantSummary {
  return {
    merchantId: idOf("merchant", row.merchant_id),
    name: row.name,
    suspended: row.suspended,
    rateLimitPerMinute: row.rate_limit_per_minute,
    settings: settingsSchema.parse(JSON.parse(row.settings)),
  };
}

/** One signing secret of webhooks, as two keys: for the service's own signature header, and for the Standard Webhooks headers. */
export interface WebhookSecret {
  key: SigningKey;
  standardKey: SigningKey;
}

export interface Webhook extends WebhookSecret {
  url: string | undefined;
  /** After a rotation: the previous secret, and the real time until which it signs too. */
  previous: (WebhookSecret & { until: Micros }) | undefined;
}

export const scopes = [
  "payments:read",
  "payments:write",
  "refunds:read",
  "refunds:write",
  "balances:read",
  "settlements:read",
  "disputes:read",
  "sandbox:write",
  "events:read",
  "events:write",
] as const;
export type Scope = (typeof scopes)[number];

/** The signatures that a credential accepts: any that the interface describes, or only those of RFC 9421. */
export const signatureDemands = ["any", "rfc9421"] as const;
export type SignatureDemand = (typeof signatureDemands)[number];

/** The caller of a request: a merchant's system with a credential, or a person who signed in. */
export interface Principal {
  /** The caller's name in rate limits, logs and audits. For a credential it is the client_id. */
  readonly actor: string;
  readonly merchant: Merchant;
  /** The merchant's book in the environment of the request. */
  readonly book: Book;
  /** The scopes that the caller has in this book. */
  readonly scopes: ReadonlySet<string>;
}

/** A credential of a merchant's system, ready to verify requests. */
export interface Client extends Principal {
  clientId: string;
  key: SigningKey;
  signature: SignatureDemand;
  /** Real time at which the credential expires. */
  expiresAt: Micros | undefined;
  /** Whether the credential may be used from an address; undefined when any address is allowed. */
  allows: ((address: string) => boolean) | undefined;
}

interface Cached {
  epoch: bigint;
  merchant: Merchant;
  clients: Client[];
}

const MERCHANTS_MAX = 20_000;

export function credentialOwner(clientId: string): string {
  return `credential/${clientId}`;
}

export function webhookOwner(book: Book): string {
  return `webhook/${book.merchantId}/${book.environment}`;
}

/** The keys of a secret of the form `whsec_` and base64. The service's own header uses the text as key, Standard Webhooks the decoded bytes. */
export function webhookSecret(secret: string): WebhookSecret {
  return {
    key: new SigningKey(secret),
    standardKey: new SigningKey(Buffer.from(secret.slice("whsec_".length), "base64")),
  };
}

export class Directory {
  private readonly database: Database;
  private readonly vault: Vault;
  private readonly watch: SettingsWatch;
  private readonly merchants = new Map<string, Cached>();
  private readonly clients = new Map<string, Client>();
  /**
   * Finds the merchant of a client_id. Names that wait share a statement: however many names an unauthenticated caller invents, the database runs
   * two such statements at once, and a new client waits for a few of them.
   */
  private readonly owners: SharedRead<string>;
  private readonly loading = new Map<string, Promise<Cached | undefined>>();
  /** The newest known epoch of each merchant that changed while it is being loaded, so that a slow load does not put older data back. */
  private readonly changed = new Map<string, bigint>();

  constructor(database: Database, vault: Vault, watch: SettingsWatch) {
    this.database = database;
    this.vault = vault;
    this.watch = watch;
    this.owners = new SharedRead(database, selectOwners);
    watch.subscribe((since) => this.forgetChanged(since));
  }

  /** The client of a credential; undefined when the credential is unknown or revoked. The caller must check `expiresAt`. */
  client(clientId: string): Client | Promise<Client | undefined> {
    const cached = this.clients.get(clientId);
    const asking = this.watch.fresh();
    return cached && !asking ? cached : this.find(clientId, asking);
  }

  /** Whether a credential is in the cache; asks no database. The cached data may be out of date: use `client` for decisions. */
  isKnown(clientId: string): boolean {
    return this.clients.has(clientId);
  }

  private async find(clientId: string, asking: Promise<void> | undefined): Promise<Client | undefined> {
    await asking;
    const cached = this.clients.get(clientId);
    if (cached) return cached;
    const owner = await this.owners.read(clientId);
    const merchantId = owner && idOf("merchant", owner.merchant_id as string);
    if (merchantId === undefined) return undefined;
    return (await this.load(merchantId))?.clients.find((client) => client.clientId === clientId);
  }

  /** The merchant; undefined when there is no such merchant. */
  async merchant(merchantId: string): Promise<Merchant | undefined> {
    await this.watch.fresh();
    return (this.merchants.get(merchantId) ?? (await this.load(merchantId)))?.merchant;
  }

  /** Loads a merchant. All callers share one load at a time, so a burst after a change asks the database once. */
  private load(merchantId: string): Promise<Cached | undefined> {
    const under = this.loading.get(merchantId);
    if (under) return under;
    const load = this.loadNow(merchantId).finally(() => {
      this.loading.delete(merchantId);
      this.changed.delete(merchantId);
    });
    this.loading.set(merchantId, load);
    return load;
  }

  private async loadNow(merchantId: string): Promise<Cached | undefined> {
    for (;;) {
      const [row] = await this.database.query<LoadedRow>(loadMerchant(merchantId));
      if (!row) return undefined;
      if (row.epoch < (this.changed.get(merchantId) ?? 0n)) continue;
      return this.remember(row);
    }
  }

  private remember(row: LoadedRow): Cached {
    const unseal = (hex: string, owner: string): string => this.vault.open(Buffer.from(hex, "hex"), owner);
    const merchant: Merchant = { ...merchantOfRow(row), webhooks: {} };
    const { merchantId } = merchant;
    const webhooks = JSON.parse(row.webhooks ?? "[]") as {
      environment: Environment;
      url: string | null;
      secret: string;
      previous: string | null;
      until: number | null;
    }[];
    for (const { environment, url, secret, previous, until } of webhooks) {
      const owner = webhookOwner({ merchantId, environment });
      merchant.webhooks[environment] = {
        url: url ?? undefined,
        ...webhookSecret(unseal(secret, owner)),
        previous:
          previous === null || until === null
            ? undefined
            : { ...webhookSecret(unseal(previous, owner)), until: until * SECOND },
      };
    }
    const credentials = JSON.parse(row.credentials ?? "[]") as {
      client_id: string;
      environment: Environment;
      scopes: string[];
      signature: SignatureDemand;
      expires: number | null;
      from: string[];
      secret: string;
    }[];
    const clients = credentials.map((credential) => ({
      clientId: credential.client_id,
      actor: credential.client_id,
      merchant,
      book: { merchantId, environment: credential.environment },
      key: new SigningKey(unseal(credential.secret, credentialOwner(credential.client_id))),
      scopes: new Set(credential.scopes),
      signature: credential.signature,
      expiresAt: credential.expires === null ? undefined : credential.expires * SECOND,
      allows: credential.from.length === 0 ? undefined : containedIn(credential.from),
    }));
    this.forget(merchantId);
    const cached = { epoch: row.epoch, merchant, clients };
    this.merchants.set(merchantId, cached);
    for (const client of clients) this.clients.set(client.clientId, client);
    if (this.merchants.size > MERCHANTS_MAX) {
      const [oldest] = this.merchants.keys();
      if (oldest !== undefined) this.forget(oldest);
    }
    return cached;
  }

  private forget(merchantId: string): void {
    for (const client of this.merchants.get(merchantId)?.clients ?? []) this.clients.delete(client.clientId);
    this.merchants.delete(merchantId);
  }

  private async forgetChanged(since: bigint): Promise<void> {
    if (since < 0n) for (const merchantId of this.merchants.keys()) this.forget(merchantId);
    const rows = await this.database.query<{ merchant_id: string; epoch: bigint }>(selectChanged(since));
    for (const row of rows) {
      const merchantId = idOf("merchant", row.merchant_id);
      if (this.loading.has(merchantId)) this.changed.set(merchantId, row.epoch);
      this.forget(merchantId);
    }
  }
}
