// Plugs the rooms together into one running service, and nothing else.
import type { FastifyInstance } from "fastify";
import type { Acquirer } from "./acquirers/acquirer.ts";
import { simulatedAcquirers } from "./acquirers/simulated.ts";
import { openNotifications } from "./acquiring/notifications.routes.ts";
import { performDue } from "./acquiring/operation-worker.ts";
import { balanceEndpoints } from "./balances/balances.routes.ts";
import { merchantContract } from "./contract.ts";
import type { Clock } from "./ground/clock.ts";
import type { Config } from "./ground/config.ts";
import { Vault } from "./ground/crypto.ts";
import { validationFault } from "./ground/fault.ts";
import type { Log } from "./ground/log.ts";
import { type Metrics, createMetrics } from "./ground/metrics.ts";
import { Admission } from "./auth/admission.ts";
import { Edge } from "./http/edge.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { Health } from "./http/health.ts";
import { UnauthenticatedCallers } from "./auth/rate.ts";
import { INTAKE_LIMITS, Intake } from "./http/intake.ts";
import { Refusals } from "./diagnostics/rejected-requests.ts";
import { createServer, openEndpoint, sendReply } from "./http/server.ts";
import { Directory } from "./merchants/directory.ts";
import { Merchants } from "./merchants/merchants.ts";
import { refundEndpoints } from "./refunds/refunds.routes.ts";
import { disputeEndpoints } from "./disputes/disputes.routes.ts";
import { loseOverdue } from "./disputes/silence.ts";
import { acquirerEndpoints } from "./operator/acquirers.routes.ts";
import { auditEndpoints } from "./operator/audit.routes.ts";
import { Audit } from "./operator/audit.sql.ts";
import { bookEndpoints } from "./operator/books.routes.ts";
import type { OperatorEndpoint } from "./operator/endpoint.ts";
import { merchantEndpoints } from "./operator/merchants.routes.ts";
import { operatorDisputeEndpoints } from "./operator/disputes.routes.ts";
import { operatorContract } from "./operator/openapi.ts";
import { operatorEventEndpoints } from "./operator/events.routes.ts";
import { openOperatorApi } from "./operator/operator.routes.ts";
import { moneyEndpoints } from "./operator/money.routes.ts";
import { routingEndpoints } from "./operator/routing.routes.ts";
import { operatorRefundEndpoints } from "./operator/refunds.routes.ts";
import { webhookEndpoints } from "./operator/webhooks.routes.ts";
import { exceptionEndpoints } from "./operator/reconciliation-exceptions.routes.ts";
import { receiptEndpoints } from "./operator/receipts.routes.ts";
import { PaymentOperations } from "./acquiring/payment-operations.ts";
import { sweepExpired } from "./payments/expiry.ts";
import { planPayment, planRefund } from "./acquiring/planning.ts";
import { createdReply, paymentEndpoints } from "./payments/payments.routes.ts";
import type { PaymentParts } from "./payments/payments.ts";
import { Router } from "./routing/routing.sql.ts";
import { RuleSets } from "./routing/rules.sql.ts";
import { doctorEndpoints } from "./diagnostics/diagnosis.routes.ts";
import { Examiner } from "./diagnostics/receiver-test.ts";
import { examEndpoints } from "./diagnostics/receiver-test.routes.ts";
import { Listening } from "./sandbox/listen.routes.ts";
import { faultInjectionEndpoints } from "./sandbox/fault-injection.routes.ts";
import { PayerTokens, openPayerPages } from "./sandbox/payer-page.ts";
import { Clocks } from "./sandbox/clock.ts";
import { sandboxEndpoints } from "./sandbox/sandbox.routes.ts";
import { triggerEndpoints } from "./sandbox/trigger.routes.ts";
import { Database } from "./store/database.ts";
import { DatabaseClock } from "./store/database-clock.ts";
import { Lanes } from "./store/lanes.ts";
import { settleDue } from "./settlements/schedule.ts";
import { settlementEndpoints } from "./settlements/settlements.routes.ts";
import { SettingsWatch } from "./store/settings-watch.ts";
import { WriteHealth } from "./store/write-health.ts";
import { version } from "./ground/version.ts";
import { Deliverer } from "./webhooks/deliverer.ts";
import { eventEndpoints } from "./webhooks/events.routes.ts";
import { ForbiddenAddress, NOT_PUBLIC, hostOf, normalized, objectionTo, vet } from "./webhooks/guard.ts";
import { Names } from "./webhooks/names.ts";
import { Sender } from "./webhooks/sender.ts";
import type { DeliveryTiming } from "./webhooks/timing.ts";
import { Worker } from "./worker.ts";

export interface AppOptions {
  config: Config;
  databaseUrl: string;
  masterKey: string;
  operatorToken: string;
  /** The real time. */
  clock: Clock;
  /** False where a clock is to be believed whatever the database's says, as tests need it. */
  watchClock?: boolean;
  log: Log;
  /** Which programs this process runs. */
  roles: ReadonlySet<"api" | "worker">;
  /** Acquirers beyond the simulated ones of the sandbox. */
  acquirers?: readonly Acquirer[];
  /** The times of delivering webhooks, where they are not the usual ones. */
  deliveryTiming?: DeliveryTiming | undefined;
}

export interface App {
  server: FastifyInstance;
  merchants: Merchants;
  database: Database;
  metrics: Metrics;
  /** The OpenAPI document of /v1. */
  contract: string;
  /** The OpenAPI document of /ops/v1. */
  operatorContract: string;
  /** Loads settings and starts the workers. */
  start(): Promise<void>;
  /** From here on health answers 200. */
  ready(): void;
  /** Tells the app where it can be reached, once that is known. */
  setBaseUrl(url: string): void;
  /** Stops taking requests, finishes what is in flight, closes everything. */
  stop(): Promise<void>;
}

const CONNECTIONS = 16;

export function createApp(options: AppOptions): App {
  const { config, log } = options;
  const metrics = createMetrics();
  const database = new Database(options.databaseUrl, CONNECTIONS, log);
  const watchedClock = options.watchClock === false ? undefined : new DatabaseClock(options.clock, database, log);
  /** By which the house acts; signatures are held against the clock as it is. */
  const clock = watchedClock ?? options.clock;
  const mayServe = (): boolean => watchedClock?.mayServe ?? true;
  const maySweep = (): boolean => watchedClock?.maySweep ?? true;
  const writes = new WriteHealth(database);
  const vault = new Vault(options.masterKey);
  const watch = new SettingsWatch(database, log);
  const directory = new Directory(database, vault, watch);
  const merchants = new Merchants(database, vault, watch, clock);
  const router = new Router(database, watch, clock, [...simulatedAcquirers, ...(options.acquirers ?? [])]);
  const { deliveryTiming: timing } = options;
  const deliverer = options.roles.has("worker")
    ? new Deliverer({ database, directory, merchants, config, clock, metrics, log, timing })
    : undefined;
  const lanes = new Lanes(
    { database, clock, metrics, log, onEnding: writes.observe },
    deliverer && ((set) => deliverer.beforeWrite(set)),
  );
  const tokens = new PayerTokens(vault.derive("payer pages"));
  let baseUrl = config.baseUrl ?? "http://127.0.0.1/v1";
  const root = (): string => baseUrl.slice(0, -"/v1".length);
  const payments: PaymentParts = {
    routingTable: () => router.table,
    isOpen: (environment) => environment === "sandbox" || (config.productionActive && router.serves(environment)),
    payUrl: (book, reference) => `${root()}/pay/${tokens.make(book, reference)}`,
    acquirer: (code) => router.acquirer(code),
    callbackUrl: (code) => `${root()}/acquirers/${code}/callbacks`,
    planPayment,
  };
  const { circuits } = router;
  const leaseClock = watchedClock?.awake ?? clock;
  const asking = { ...payments, createdReply, circuits, clock, leaseClock, metrics, log, database, directory, lanes };
  const paymentOperations = new PaymentOperations(asking);
  const checkUrl = (field: string) => (url: string) => {
    const objection = objectionTo(url, config.webhookAllowHosts);
    if (objection !== undefined) throw validationFault(field, url, objection);
    return normalized(url);
  };
  const clocks = new Clocks({
    database,
    lanes,
    clock,
    async catchUp(book) {
      await performDue({ ...asking, paymentOperations }, book);
      await sweepExpired({ database, lanes, directory, clock, log }, book);
      await loseOverdue({ database, lanes, directory, clock, log }, book);
      await settleDue({ database, lanes, directory, clock, log }, book);
      deliverer?.notify(book);
    },
  });
  const names = new Names(config.webhookAllowHosts);
  const checkCallbackUrl = async (url: string, merchantId: string): Promise<string> => {
    const kept = checkUrl("callback_url")(url);
    if (await names.isForbidden(hostOf(new URL(kept)), merchantId)) {
      throw validationFault("callback_url", url, NOT_PUBLIC);
    }
    return kept;
  };
  const worker = new Worker({
    deliverer,
    rotationMs: timing?.rotationMs,
    clocks,
    database,
    directory,
    lanes,
    payments,
    clock,
    metrics,
    log,
    config,
    merchants,
    maySweep,
    asking: { ...asking, paymentOperations },
  });
  const examiner = new Examiner(
    new Sender(clock, config.webhookHeaderPrefix, config.serviceName, config.webhookAllowHosts),
    clock,
  );
  const { webhookHeaderPrefix: headerPrefix, serviceName } = config;
  const listening = new Listening({ database, directory, clock, headerPrefix, serviceName });
  const refusals = new Refusals({ database, vault, clock, log });
  const endpoints: Endpoint[] = [
    ...paymentEndpoints({ ...payments, database, acquiring: paymentOperations, checkCallbackUrl }),
    ...balanceEndpoints(database, clock),
    ...disputeEndpoints({ database }),
    ...settlementEndpoints({ database }),
    ...refundEndpoints({ database, acquirer: (code) => router.acquirer(code), planRefund }),
    ...eventEndpoints(database),
    ...sandboxEndpoints({
      ...payments,
      database,
      clock,
      clocks,
    }),
    ...triggerEndpoints(),
    ...faultInjectionEndpoints(database, timing?.faultRefreshMs),
    ...examEndpoints({ examiner, database }),
    ...doctorEndpoints({ database, vault, clock, headerPrefix }),
    ...listening.endpoints(),
  ];
  const unauthenticated = new UnauthenticatedCallers(config.strangerLimitPerMinute, clock);
  const intake = new Intake(INTAKE_LIMITS);
  metrics.inFlight(() => intake);
  const server = createServer({
    intake,
    clock,
    log,
    metrics,
    unauthenticated,
    trustProxy: config.trustProxy,
    statusUrl: config.statusUrl,
  });
  const admission = new Admission(database, options.clock);
  metrics.state(() => ({ skewMs: watchedClock?.skewMs ?? 0, quarantined: lanes.quarantine.size }));
  const edge = new Edge({
    directory,
    admission,
    lanes,
    database,
    clock: options.clock,
    mayServe,
    log,
    onRejected: (rejected) => refusals.note(rejected),
    intake,
  });
  // A worker takes no requests of merchants: beside it a process of the API may be alone.
  if (options.roles.has("api")) for (const endpoint of endpoints) openEndpoint(server, edge, endpoint);
  const environment = config.productionActive ? "production" : "sandbox";
  const health = new Health({
    database,
    writes,
    mayServe,
    clock,
    serviceName: config.serviceName,
    version,
    environment,
  });
  server.get("/v1/health", async (request, reply) => sendReply(reply, await health.answer(request.id)));
  const contract = merchantContract(endpoints, config.webhookHeaderPrefix);
  server.get("/openapi.json", (_request, reply) => sendReply(reply, { status: 200, body: contract }));
  const audit = new Audit(database, clock);
  const operatorEndpoints: OperatorEndpoint[] = [
    ...merchantEndpoints({
      merchants,
      database,
      async checkWebhookUrl(url) {
        const kept = checkUrl("url")(url);
        await checkResolved(kept, config.webhookAllowHosts);
        return kept;
      },
    }),
    ...acquirerEndpoints(router, clock),
    ...routingEndpoints({ ruleSets: new RuleSets(database, watch, clock), router }),
    ...moneyEndpoints({ database, directory, lanes, payments }),
    ...bookEndpoints(database, directory),
    ...operatorDisputeEndpoints({ database, directory, lanes }),
    ...receiptEndpoints(database, directory, lanes),
    ...exceptionEndpoints(database, lanes),
    ...operatorRefundEndpoints(database),
    ...operatorEventEndpoints({ database, directory, lanes }),
    ...webhookEndpoints(merchants, () => clock.now()),
    ...auditEndpoints(audit),
  ];
  const { operatorToken: token } = options;
  openOperatorApi(
    server,
    { token, viewerToken: config.operatorViewerToken, unauthenticated, audit },
    operatorEndpoints,
  );
  openNotifications(server, asking);
  openPayerPages(server, { ...payments, tokens, database, directory, lanes, clock, serviceName: config.serviceName });
  return {
    server,
    merchants,
    database,
    metrics,
    contract,
    operatorContract: operatorContract(operatorEndpoints, version),
    setBaseUrl: (url) => {
      baseUrl = config.baseUrl ?? url;
    },
    ready: () => health.open(),
    async start() {
      await watchedClock?.start();
      await merchants.checkMasterKey();
      await router.seed();
      watch.start();
      if (options.roles.has("worker")) worker.start();
    },
    async stop() {
      listening.stop();
      // A connection whose last answer is given during the stop would be kept open for the next question.
      const idle = setInterval(() => server.server.closeIdleConnections(), 50);
      await Promise.all([server.close(), worker.stop(), examiner.close()]).finally(() => clearInterval(idle));
      await refusals.stop();
      await lanes.idle();
      watchedClock?.stop();
      watch.stop();
      await database.end();
    },
  };
}

/** A name that already leads to an address that is not public is refused when it is registered, not at the first event. */
async function checkResolved(url: string, allowed: ReadonlySet<string>): Promise<void> {
  try {
    await vet(hostOf(new URL(url)), allowed);
  } catch (error) {
    // A name that cannot be looked up now may exist later; each attempt looks again.
    if (error instanceof ForbiddenAddress) throw validationFault("url", url, NOT_PUBLIC);
  }
}
