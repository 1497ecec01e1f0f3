// The rooms between the foundation and the HTTP surfaces: merchants, lanes, routing, acquirers, deliveries and the workers.
import type { Acquirer } from "./acquirers/acquirer.ts";
import { simulatedAcquirers } from "./acquirers/simulated.ts";
import { performDue } from "./acquiring/operation-worker.ts";
import { PaymentOperations, type AcquiringParts } from "./acquiring/payment-operations.ts";
import { endNeeds, planEnd, planPayment } from "./acquiring/planning.ts";
import { sweepExpiredDisputes } from "./disputes/dispute-expiry.ts";
import { EvidenceFiles } from "./disputes/evidence-files.ts";
import type { Foundation } from "./foundation.ts";
import type { Clock } from "./ground/clock.ts";
import type { Config } from "./ground/config.ts";
import { Figures } from "./insights/figures.ts";
import { Streams } from "./insights/stream.ts";
import { Directory } from "./merchants/directory.ts";
import type { Environment } from "./merchants/books.ts";
import { type UsedCredential, recordUses } from "./merchants/last-uses.sql.ts";
import { Merchants } from "./merchants/merchants.ts";
import { Profiles } from "./merchants/profiles.ts";
import type { PasswordCost } from "./people/passwords.ts";
import { People } from "./people/people.ts";
import { relyingPartyOf } from "./people/relying-party.ts";
import { sweepExpiredPayments } from "./payments/expiry.ts";
import { PayerData } from "./payments/payer-data.ts";
import { createdReply } from "./payments/payments.routes.ts";
import type { Payment } from "./payments/payment.ts";
import type { PaymentParts } from "./payments/payments.ts";
import { Router } from "./routing/router.ts";
import { Clocks } from "./sandbox/clock.ts";
import { OpenPages } from "./checkout/open-pages.ts";
import { PayerTokens } from "./checkout/payer-tokens.ts";
import { Outlooks } from "./settlements/outlook.ts";
import { settleDue } from "./settlements/settlement-worker.ts";
import { Board } from "./status/board.ts";
import { Measuring } from "./status/measuring.ts";
import type { StatusParts } from "./status/status.routes.ts";
import { Lanes } from "./store/lanes.ts";
import { LastUses } from "./store/last-uses.ts";
import { Sampler } from "./telemetry/sampler.ts";
import { Deliverer } from "./webhooks/deliverer.ts";
import type { DeliveryTiming } from "./webhooks/timing.ts";
import { Worker } from "./worker.ts";

export interface RoomOptions {
  roles: ReadonlySet<"api" | "worker">;
  /** Acquirers besides the simulated ones of the sandbox. */
  acquirers?: readonly Acquirer[];
  /** Timing of webhook deliveries; a default when absent. */
  deliveryTiming?: DeliveryTiming | undefined;
  /** Of new passwords; the usual one when absent. No setting can lower it. */
  passwordCost?: PasswordCost;
}

/** The address at which the service is reached from outside. It is certain once the service listens. */
class PublicAddress {
  private readonly configured: string | undefined;
  private readonly elsewhere: string | undefined;
  private known: string;

  /** `configured` ends in /v1 and counts whatever address the service listens on. `statusUrl` is a status page outside of the service. */
  constructor(configured: string | undefined, statusUrl: string | undefined) {
    this.configured = configured;
    this.elsewhere = statusUrl;
    this.known = configured ?? "http://127.0.0.1/v1";
  }

  /** The address without /v1. */
  get root(): string {
    return this.known.slice(0, -"/v1".length);
  }

  get statusUrl(): string {
    return this.elsewhere ?? `${this.root}/status`;
  }

  listensOn(baseUrl: string): void {
    this.known = this.configured ?? baseUrl;
  }
}

/** The origin at which operators' browsers reach the console; `root` is undefined where there is no console. */
export class ConsoleAddress {
  private readonly configured: string | undefined;
  /** False in production, where only the configured address counts. */
  private readonly isGuessed: boolean;
  root: string | undefined;

  constructor({ consoleUrl, mode }: Pick<Config, "consoleUrl" | "mode">) {
    this.configured = consoleUrl;
    this.isGuessed = mode !== "production";
    this.root = consoleUrl;
  }

  /** Takes the address on which the operators' listener listens. */
  listensOn(root: string): void {
    if (this.isGuessed) this.root = this.configured ?? root;
  }
}

export interface Rooms {
  address: PublicAddress;
  consoleAddress: ConsoleAddress;
  directory: Directory;
  merchants: Merchants;
  profiles: Profiles;
  lastUses: LastUses<UsedCredential>;
  router: Router;
  lanes: Lanes;
  tokens: PayerTokens;
  openPages: OpenPages;
  payments: PaymentParts;
  payers: PayerData;
  acquiringParts: AcquiringParts;
  paymentOperations: PaymentOperations;
  clocks: Clocks;
  outlooks: Outlooks;
  evidenceFiles: EvidenceFiles;
  people: People;
  consolePeople: People;
  figures: Figures;
  streams: Streams;
  /** Measurements of the service itself, from which `board` makes the status page. */
  measuring: Measuring;
  board: Board;
  worker: Worker;
  sampler: Sampler;
}

/** Builds the rooms in the order of their dependencies: each room is complete before the next one uses it. */
export function openRooms(foundation: Foundation, options: RoomOptions): Rooms {
  const { config, database, databases, clock, leaseClock, log, metrics, tracing, vault, watch, writes } = foundation;
  const address = new PublicAddress(config.baseUrl, config.statusUrl);
  const directory = new Directory(database, vault, watch);
  const merchants = new Merchants(database, vault, watch, clock);
  const profiles = new Profiles(database, watch, clock);
  const router = new Router(database, watch, clock, [...simulatedAcquirers, ...(options.acquirers ?? [])]);
  const consoleAddress = new ConsoleAddress(config);
  const { people, consolePeople } = openPeople(foundation, options, { address, consoleAddress });
  const { deliveryTiming: timing } = options;
  const deliverer = options.roles.has("worker")
    ? new Deliverer({ database, directory, merchants, config, clock, metrics, log, tracing, timing })
    : undefined;
  const lanes = new Lanes(
    { database, clock, metrics, log, tracing, onEnding: writes.observe },
    deliverer && ((set) => deliverer.beforeWrite(set)),
  );
  metrics.state(() => ({ skewMs: foundation.skewMs(), quarantined: lanes.quarantine.size }));
  const tokens = new PayerTokens(vault.deriveEach("payer pages"));
  const payments = paymentParts(config, { router, address, tokens });
  const { circuits } = router;
  metrics.circuits(() => circuits.report(clock.now()));
  const statusParts = { database, clock: databaseClockOf(foundation), log };
  const measuring = new Measuring({
    ...statusParts,
    routingTable: () => router.table,
    acquirer: (code) => router.acquirer(code),
    environment: () => shownEnvironment(payments),
    works: options.roles.has("worker"),
  });
  const sweeping = { database, lanes, directory, clock, log };
  const acquiringParts = {
    ...payments,
    createdReply: (payment: Payment) => createdReply(payments, payment),
    circuits,
    ...sweeping,
    leaseClock,
    metrics,
    tracing,
    onCall: (code: string, method: string, well: boolean) => measuring.called(code, method, well),
  };
  const paymentOperations = new PaymentOperations(acquiringParts);
  const clocks = new Clocks({
    ...sweeping,
    async catchUp(book) {
      await performDue({ ...acquiringParts, paymentOperations }, book);
      await sweepExpiredPayments(sweeping, book);
      await sweepExpiredDisputes(sweeping, book);
      await settleDue(sweeping, book);
      deliverer?.notify(book);
    },
  });
  const payers = new PayerData({ database, vault, clock });
  const worker = new Worker({
    ...foundation,
    ...sweeping,
    merchants,
    clocks,
    deliverer,
    rotationMs: timing?.rotationMs,
    operations: { ...acquiringParts, paymentOperations },
  });
  return {
    address,
    consoleAddress,
    directory,
    merchants,
    profiles,
    lastUses: new LastUses({ database, clock, log, record: recordUses }),
    router,
    lanes,
    tokens,
    openPages: new OpenPages({ database, directory, log }),
    payments,
    payers,
    acquiringParts,
    paymentOperations,
    clocks,
    outlooks: new Outlooks(database, clock),
    evidenceFiles: new EvidenceFiles({ database, lanes, log }),
    people,
    consolePeople,
    figures: new Figures(databases.portal, clock),
    streams: new Streams({ database: databases.portal, sessions: people.sessions, log }),
    measuring,
    board: new Board({ ...statusParts, minutes: measuring.minutes, hears: foundation.hears }),
    worker,
    sampler: new Sampler({ ...sweeping, metrics, roles: options.roles, circuits: () => circuits.report(clock.now()) }),
  };
}

/** Merchants' people, and operators: two of the same kind that share nothing but the vault. */
function openPeople(
  { config, databases, vault, clock }: Foundation,
  { passwordCost }: RoomOptions,
  { address, consoleAddress }: Pick<Rooms, "address" | "consoleAddress">,
): Pick<Rooms, "people" | "consolePeople"> {
  const { serviceName, mode } = config;
  const access = { vault, clock, serviceName, production: mode === "production", passwordCost };
  return {
    people: new People({
      ...access,
      surface: "portal",
      database: databases.portal,
      relyingParty: () => relyingPartyOf(address.root),
    }),
    consolePeople: new People({
      ...access,
      surface: "console",
      database: databases.operators,
      relyingParty: () => (consoleAddress.root === undefined ? undefined : relyingPartyOf(consoleAddress.root)),
    }),
  };
}

/** What a payment needs of other rooms: the acquirers, and addresses that are told to payers and acquirers. */
function paymentParts({ productionActive }: Config, rooms: Pick<Rooms, "router" | "address" | "tokens">): PaymentParts {
  const { router, address, tokens } = rooms;
  const acquirer: PaymentParts["acquirer"] = (code) => router.acquirer(code);
  return {
    routingTable: () => router.table,
    isOpen: (environment) => environment === "sandbox" || (productionActive && router.serves(environment)),
    payUrl: (book, reference) => `${address.root}/pay/${tokens.make(book, reference)}`,
    acquirer,
    callbackUrl: (code) => `${address.root}/acquirers/${code}/callbacks`,
    planPayment,
    endNeeds,
    planEnd: (context, payment) => planEnd(acquirer, context, payment),
  };
}

/** The database's time as this process computes it, also while its own clock is behind or the database is unreachable. */
function databaseClockOf({ clock, skewMs }: Foundation): Clock {
  return { now: () => clock.now() - Math.min(0, Math.round(skewMs() * 1_000)) };
}

/** The environment whose acquirers the status page shows. */
function shownEnvironment({ isOpen }: Pick<PaymentParts, "isOpen">): Environment {
  return isOpen("production") ? "production" : "sandbox";
}

export function statusParts({ serviceName }: Config, { board, router, address, payments }: Rooms): StatusParts {
  return {
    board,
    serviceName,
    root: () => address.root,
    routingTable: () => router.table,
    environment: () => shownEnvironment(payments),
  };
}
