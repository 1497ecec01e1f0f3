// Shared by tests of the gateway: a service in this process on a real socket with its own database, and merchants.
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { Service } from "../../e2e/kit/service.ts";
import { type Answer, Client, operate as operateThrough, readAnswer, settledLate } from "../../e2e/kit/client.ts";
import type { Acquirer } from "../src/acquirers/acquirer.ts";
import { type App, createApp } from "../src/app.ts";
import { type Clock, systemClock } from "../src/ground/clock.ts";
import { type Config, readConfig } from "../src/ground/config.ts";
import { createLog } from "../src/ground/log.ts";
import type { Book, Environment } from "../src/merchants/books.ts";
import type { Scope } from "../src/merchants/directory.ts";
import type { SettingsChange } from "../src/merchants/settings.ts";
import { createMetrics } from "../src/ground/metrics.ts";
import type { Tracing } from "../src/ground/tracing.ts";
import { Database } from "../src/store/database.ts";
import { Lanes } from "../src/store/lanes.ts";
import { type DeliveryTiming, deliveryTiming } from "../src/webhooks/timing.ts";
import { type TestDatabase, cloneDatabase } from "./databases.ts";

export { type TestDatabase, asOwner, cloneDatabase, waitingForLocks } from "./databases.ts";

export function openDatabase(database: TestDatabase, connections = 4): Database {
  return new Database(database.url, connections, createLog("silent"));
}

export const OPERATOR_TOKEN = "op_token_of_the_tests_0123456789";

const MASTER_KEY = "11".repeat(32);

/** Actions on a merchant's money that only the operator API has. */
export interface OperatorHands {
  returnSettlement(book: Book, uuid: string): Promise<Answer["json"]>;
  submitEvidence(book: Book, uuid: string, given: Record<string, unknown>): Promise<Answer["json"]>;
}

export interface TestService {
  app: App & OperatorHands;
  /** Calls the operator API as an admin; throws on anything but success. */
  operate(method: string, path: string, body?: unknown): Promise<Answer["json"]>;
  /** Reads from the operator API; gives rejections too. */
  askOperator(path: string): Promise<Answer>;
  database: TestDatabase;
  origin: string;
  /** Origin of the operator API's listener. */
  operatorOrigin: string;
  /** Makes a merchant, and a client of it. */
  merchant(options?: {
    name?: string;
    environment?: Environment;
    scopes?: Scope[];
    settings?: SettingsChange;
  }): Promise<{ client: Client; merchantId: string; webhookSecret: string }>;
  client(merchantId: string, environment?: Environment, scopes?: Scope[]): Promise<Client>;
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  database?: TestDatabase;
  config?: Partial<Config>;
  clock?: Clock;
  /** Whether a given clock is compared with the database's. */
  watchClock?: boolean;
  roles?: ("api" | "worker")[];
  masterKey?: string;
  secondMasterKey?: string;
  logLevel?: string;
  /** Takes the lines of the log instead of standard output. */
  logTo?: { write(line: string): void };
  tracing?: Tracing;
  /** A free port when absent. */
  port?: number;
  /** Acquirers besides the simulated ones. */
  acquirers?: readonly Acquirer[];
  /** Changes of the usual times of webhook deliveries. */
  timing?: Partial<DeliveryTiming>;
}

/** Makes the app of a service, without starting it. */
export function makeApp(options: TestServiceOptions & { database: TestDatabase }): App {
  return createApp({
    config: { ...readConfig({ NODE_ENV: "test" }), ...options.config },
    databaseUrl: options.database.url,
    masterKey: options.masterKey ?? MASTER_KEY,
    secondMasterKey: options.secondMasterKey,
    operatorToken: OPERATOR_TOKEN,
    clock: options.clock ?? systemClock,
    watchClock: options.watchClock ?? options.clock === undefined,
    log: createLog(options.logLevel ?? "silent", options.logTo),
    tracing: options.tracing,
    roles: new Set(options.roles ?? ["api", "worker"]),
    acquirers: options.acquirers ?? [],
    // Tests expect every request in the log; on a slow machine a few requests would use up the usual share.
    requestLogShare: 1,
    deliveryTiming: { ...deliveryTiming, ...options.timing },
    // Many people join in the tests: at the usual cost their hashes were a twelfth of what the tests of the pages' APIs compute.
    passwordCost: { memory: 64, passes: 1, parallelism: 1 },
  });
}

/** Starts a whole service in this process. */
export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const database = options.database ?? (await cloneDatabase());
  const app = makeApp({ ...options, database });
  await app.start();
  app.ready();
  await app.server.listen({ port: options.port ?? 0, host: "127.0.0.1" });
  await app.operatorServer.listen({ port: 0, host: "127.0.0.1" });
  const originOf = ({ server }: FastifyInstance): string =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [origin, operatorOrigin] = [originOf(app.server), originOf(app.operatorServer)];
  app.setBaseUrl(`${origin}/v1`);
  app.setOperatorRoot(operatorOrigin);
  const client = async (
    merchantId: string,
    environment: Environment = "sandbox",
    scopes?: Scope[],
  ): Promise<Client> => {
    const made = await app.merchants.credentials.create({ merchantId, environment }, scopes && { scopes });
    if (!made) throw new Error("no such merchant");
    return new Client({ base_url: `${origin}/v1`, client_id: made.clientId, secret: made.secret });
  };
  const { operate, hands } = operatorAt(`${operatorOrigin}/ops/v1`);
  return {
    app: Object.assign(app, hands),
    operate,
    askOperator: async (path) =>
      readAnswer(
        await fetch(`${operatorOrigin}/ops/v1${path}`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } }),
      ),
    database,
    origin,
    operatorOrigin,
    client,
    async merchant({ name = "Test Shop", environment, scopes, settings } = {}) {
      const { merchantId, webhookSecrets } = await app.merchants.create(name);
      const settlement = { ...settledLate.settlement, ...settings?.settlement };
      await app.merchants.patch(merchantId, { rate_limit_per_minute: 100_000_000, ...settings, settlement });
      return {
        client: await client(merchantId, environment, scopes),
        merchantId,
        webhookSecret: webhookSecrets[environment ?? "sandbox"],
      };
    },
    stop: () => app.stop(),
  };
}

type Operate = (method: string, path: string, body?: unknown) => Promise<Answer["json"]>;

function operatorAt(opsUrl: string): { operate: Operate; hands: OperatorHands } {
  const operate: Operate = (method, path, body) =>
    operateThrough({ ops_url: opsUrl, operator_token: OPERATOR_TOKEN }, method, path, body);
  const ofBook = ({ merchantId, environment }: Book): string => `/merchants/${merchantId}/books/${environment}`;
  return {
    operate,
    hands: {
      returnSettlement: (book, uuid) => operate("POST", `${ofBook(book)}/settlements/${uuid}/return`),
      submitEvidence: (book, uuid, given) => operate("POST", `${ofBook(book)}/disputes/${uuid}/evidence`, given),
    },
  };
}

/** A service in its own process, on a database of the tests. `stop` kills the process. */
export interface TestProcess {
  service: Service;
  app: OperatorHands;
  operate: Operate;
  origin: string;
  database: TestDatabase;
  stop(): Promise<void>;
}

export async function startProcess(database: TestDatabase, env: Record<string, string> = {}): Promise<TestProcess> {
  const service = await Service.start({
    demo: false,
    env: { DATABASE_URL: database.url, MASTER_KEY, OPERATOR_TOKEN, NODE_ENV: "development", ...env },
  });
  const { operate, hands } = operatorAt(service.opsUrl);
  const stop = async (): Promise<void> => {
    await service.kill("SIGKILL");
    await service.discard();
  };
  return { service, app: hands, operate, origin: service.url, database, stop };
}

let counter = 0;

/** A body that creates a payment. */
export function paymentBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  counter++;
  return {
    amount_minor: 150_000,
    currency: "IDR",
    payment_method: "qris",
    reference_id: `order-${process.pid}-${counter}`,
    ...changes,
  };
}

/** Makes lanes on a database, without the rest of the service. */
export function lanesOn(database: Database, clock: Clock = systemClock): Lanes {
  return new Lanes({
    database,
    clock,
    metrics: createMetrics(),
    log: createLog("silent"),
    onEnding: () => undefined,
  });
}
