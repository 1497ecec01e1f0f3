// The commands of the command line, one function each. They give the exit code.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type App, createApp } from "./app.ts";
import { type DemoFile, prepareDemo } from "./demo-merchant.ts";
import { SECOND, stopwatchMs, systemClock } from "./ground/clock.ts";
import { type Config, readConfig } from "./ground/config.ts";
import { sign, signingKey } from "./ground/crypto.ts";
import { isId, uuidOf } from "./ground/ids.ts";
import { createLog } from "./ground/log.ts";
import { verifyBook } from "./ledger/verify.ts";
import { type Book, bookOfRow, environments } from "./merchants/books.ts";
import { type Secrets, readSecrets } from "./secrets.ts";
import { Database } from "./store/database.ts";
import { type EmbeddedDatabase, startEmbedded } from "./store/embedded.ts";
import { migrate } from "./store/migrations.ts";

const say = (text: string): void => void process.stderr.write(`${text}\n`);

interface Store {
  url: string;
  ownerUrl: string;
  /** Starts the embedded server again if it died. */
  revive(): Promise<boolean>;
  close(): Promise<void>;
}

/** The database of the configuration: an outside one, or the embedded one, running or not. */
async function openStore(config: Config, own: boolean): Promise<Store> {
  if (config.databaseUrl !== undefined) {
    return {
      url: config.databaseUrl,
      ownerUrl: config.migrationDatabaseUrl ?? config.databaseUrl,
      revive: () => Promise.resolve(false),
      close: () => Promise.resolve(),
    };
  }
  const embedded: EmbeddedDatabase = await startEmbedded(config.dataDirectory, own);
  if (!embedded.directory.startsWith(config.dataDirectory)) {
    say(`PostgreSQL cannot reach ${config.dataDirectory} as an ordinary user; its files are in ${embedded.directory}`);
  }
  return {
    url: embedded.url,
    ownerUrl: embedded.ownerUrl,
    revive: () => embedded.revive(),
    close: () => embedded.stop(),
  };
}

export async function serveCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { role: { type: "string" } } });
  if (values.role !== undefined && values.role !== "api" && values.role !== "worker") {
    say("--role is api or worker");
    return 2;
  }
  const told = stopSignal();
  const config = readConfig();
  const secrets = readSecrets(config);
  if (config.databaseUrl === undefined) {
    const first = !existsSync(join(config.dataDirectory, "postgres"));
    say(first ? "First start: preparing PostgreSQL …" : "Starting PostgreSQL …");
  }
  const store = await openStore(config, true);
  try {
    const roles = new Set<"api" | "worker">(values.role === undefined ? ["api", "worker"] : [values.role]);
    await serve(config, secrets, store, roles, told);
  } finally {
    await store.close();
  }
  // Sockets of slow receivers may still be open; nothing that matters hangs on them.
  setTimeout(() => process.exit(0), 300).unref();
  return 0;
}

async function serve(
  config: Config,
  secrets: Secrets,
  store: Store,
  roles: ReadonlySet<"api" | "worker">,
  told: Promise<void>,
): Promise<void> {
  const log = createLog(config.logLevel);
  // An outside database is migrated by its owner: here only when nothing is left to do, or the owner's address is given.
  await migrate(store.ownerUrl);
  const app = createApp({ config, databaseUrl: store.url, ...secrets, clock: systemClock, log, roles });
  await app.start();
  const metrics = await serveMetrics(app, config);
  await app.server.listen({ port: config.port, host: config.host });
  const { address, port } = app.server.server.address() as AddressInfo;
  const baseUrl = config.baseUrl ?? `http://${address.includes(":") ? `[${address}]` : address}:${port}/v1`;
  app.setBaseUrl(baseUrl);
  const demo =
    config.mode === "production"
      ? undefined
      : await prepareDemo(app, config.dataDirectory, baseUrl, secrets.operatorToken);
  app.ready();
  greet(config, baseUrl, metrics?.address, demo);
  const guardian = setInterval(() => {
    store.revive().then(
      (revived) => revived && log.warn("the embedded PostgreSQL had died and was started again"),
      (error: unknown) => log.error({ err: error }, "the embedded PostgreSQL is down and does not start"),
    );
  }, 2_000);
  await told;
  clearInterval(guardian);
  say("Stopping …");
  metrics?.close();
  await withDeadline(app.stop(), 8_000);
}

/** Resolves at SIGTERM or SIGINT, listening from now on. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve());
  });
}

async function withDeadline(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      say("Some work did not end in time; it is safe in the database and goes on at the next start.");
      resolve();
    }, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** `/metrics` on an address of its own, so that it is never open where the API is. */
async function serveMetrics(app: App, config: Config): Promise<{ address: string; close(): void } | undefined> {
  const server = createServer((request, response) => {
    void (async () => {
      if (request.url !== "/metrics") {
        response.writeHead(404).end();
        return;
      }
      const text = await app.metrics.registry.metrics();
      response.writeHead(200, { "content-type": app.metrics.registry.contentType }).end(text);
    })();
  });
  const port = config.metrics.port ?? (config.port === 0 ? 0 : config.port + 1);
  server.listen(port, config.metrics.host);
  try {
    await once(server, "listening");
  } catch (error) {
    if (config.metrics.port !== undefined) throw error;
    say(`Metrics are off: port ${port} is taken. Set METRICS_PORT to another one.`);
    return undefined;
  }
  const bound = server.address();
  const used = typeof bound === "object" && bound ? bound.port : port;
  return { address: `http://${config.metrics.host}:${used}/metrics`, close: () => void server.close() };
}

function greet(config: Config, baseUrl: string, metrics: string | undefined, demo: DemoFile | undefined): void {
  if (config.mode === "test") return;
  const root = baseUrl.slice(0, -"/v1".length);
  say(`
  ${config.serviceName} is ready.

    API        ${baseUrl}          contract   ${root}/openapi.json
    Health     ${baseUrl}/health   metrics    ${metrics ?? "off"}
    Operator   ${root}/ops/v1`);
  if (!demo) return;
  const body = `{"amount_minor":150000,"currency":"IDR","payment_method":"qris","reference_id":"order-'$(date +%s)'"}`;
  say(`
  A demo merchant is there to try it with (also in ${join(config.dataDirectory, "demo.json")}):

    client_id  ${demo.client_id}
    secret     ${demo.secret}

  Create a payment; paste this into another terminal:

    TS=$(date +%s); BODY='${body}'
    curl -s ${baseUrl}/payments -H "Authorization: Bearer ${demo.client_id}" \\
      -H "X-Timestamp: $TS" -H "Idempotency-Key: try-$TS-$RANDOM" -H "Content-Type: application/json" \\
      -H "X-Signature: $(printf '%s' "$TS.$BODY" | openssl dgst -sha256 -hmac '${demo.secret}' | sed 's/.* //')" \\
      -d "$BODY"

  Or watch the whole journey of a payment:  npm run demo
  Stop with Ctrl-C.
`);
}

export async function migrateCommand(): Promise<number> {
  const config = readConfig();
  const store = await openStore(config, false);
  try {
    const done = await migrate(store.ownerUrl);
    say(done.length === 0 ? "The schema is up to date." : `Applied ${done.join(", ")}.`);
    return 0;
  } finally {
    await store.close();
  }
}

export async function verifyCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { merchant: { type: "string" }, environment: { type: "string" } } });
  if (values.merchant !== undefined && !isId("merchant", values.merchant)) {
    say("--merchant is not a merchant's id (mer_…)");
    return 2;
  }
  if (values.environment !== undefined && !environments.includes(values.environment as never)) {
    say("--environment is sandbox or production");
    return 2;
  }
  const config = readConfig();
  const store = await openStore(config, false);
  const database = new Database(store.url, 2, createLog(config.logLevel), { queryTimeoutMs: 600_000 });
  try {
    const rows = await database.query({
      text: `select merchant_id, environment
from books
where ($1::uuid is null or merchant_id = $1::uuid) and ($2::text is null or environment = $2::environment)
order by merchant_id, environment`,
      values: [values.merchant === undefined ? null : uuidOf(values.merchant), values.environment ?? null],
    });
    if (rows.length === 0) {
      say("There is no such book.");
      return 1;
    }
    return (await verifyBooks(database, rows.map(bookOfRow))) ? 0 : 1;
  } finally {
    await database.end();
    await store.close();
  }
}

async function verifyBooks(database: Database, books: Book[]): Promise<boolean> {
  const begun = stopwatchMs();
  let journals = 0n;
  let wrong = 0;
  for (const book of books) {
    const report = await verifyBook(database, book);
    journals += report.journals;
    if (report.wrong !== undefined) wrong++;
    process.stdout.write(
      `${JSON.stringify({
        merchant_id: book.merchantId,
        environment: book.environment,
        journals: Number(report.journals),
        clean: report.wrong === undefined,
        ...(report.wrong === undefined ? {} : { wrong: report.wrong }),
      })}\n`,
    );
  }
  const seconds = (stopwatchMs() - begun) / 1000;
  const rate = seconds > 0 ? Math.round(Number(journals) / seconds) : 0;
  say(
    `${books.length} books, ${journals} journals in ${seconds.toFixed(1)} s (${rate} a second): ${wrong === 0 ? "clean" : `${wrong} wrong`}`,
  );
  return wrong === 0;
}

export function signCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      "client-id": { type: "string" },
      secret: { type: "string" },
      body: { type: "string", default: "" },
      timestamp: { type: "string" },
    },
  });
  const { "client-id": clientId, secret, body } = values;
  if (clientId === undefined || secret === undefined) {
    say("--client-id and --secret are needed");
    return Promise.resolve(2);
  }
  const timestamp = values.timestamp ?? String(Math.floor(systemClock.now() / SECOND));
  const headers = [
    `Authorization: Bearer ${clientId}`,
    `X-Timestamp: ${timestamp}`,
    `X-Signature: ${sign(signingKey(secret), timestamp, body)}`,
    ...(body === "" ? [] : [`Idempotency-Key: ${randomUUID()}`, "Content-Type: application/json"]),
  ];
  process.stdout.write(`${headers.join("\n")}\n`);
  return Promise.resolve(0);
}

export function openapiCommand(): Promise<number> {
  const config = readConfig({});
  const app = createApp({
    config,
    databaseUrl: "postgres://nowhere.invalid/none",
    masterKey: "0".repeat(64),
    operatorToken: "unused",
    clock: systemClock,
    log: createLog("silent"),
    roles: new Set(),
  });
  process.stdout.write(app.contract);
  return Promise.resolve(0);
}
