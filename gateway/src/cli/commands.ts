// The commands migrate, verify, ledger export, insights rebuild and openapi, one function each. They return the exit code.
import { pipeline } from "node:stream/promises";
import { createApp } from "../app.ts";
import { stopwatchMs, systemClock } from "../ground/clock.ts";
import { readConfig } from "../ground/config.ts";
import { createLog } from "../ground/log.ts";
import type { Json } from "../http/json-schema.ts";
import { postmanCollection } from "../http/postman.ts";
import { rebuild } from "../insights/roll-up.ts";
import { type ExportFormat, exportBook } from "../ledger/export.ts";
import { readJournals, verifyBook } from "../ledger/verify.ts";
import { selectBooks } from "../merchants/books.sql.ts";
import { type Book, type Environment, bookOfRow } from "../merchants/books.ts";
import { UsageError } from "./command.ts";
import { demandMerchant } from "./known-merchant.ts";
import { printJson, say } from "./say.ts";
import { openStore, withDatabase } from "./store-of-config.ts";
import type { Database } from "../store/database.ts";
import { migrate } from "../store/migrations.ts";

export async function migrateCommand(): Promise<number> {
  const config = readConfig(undefined, undefined, "database");
  const store = await openStore(config, false);
  try {
    const done = await migrate(store.ownerUrl);
    say(done.length === 0 ? "The schema is up to date." : `Applied ${done.join(", ")}.`);
    return 0;
  } finally {
    await store.close();
  }
}

interface Selection {
  merchant: string | undefined;
  environment: Environment | undefined;
}

export async function verifyCommand({ merchant, environment }: Selection): Promise<number> {
  return withBooks(async (database) => {
    if (merchant !== undefined) await demandMerchant(database, merchant);
    const rows = await database.query(selectBooks(merchant, environment));
    if (rows.length === 0) {
      say("There is no book yet: there are no merchants.");
      return 1;
    }
    return (await verifyBooks(database, rows.map(bookOfRow))) ? 0 : 1;
  });
}

async function verifyBooks(database: Database, books: Book[]): Promise<boolean> {
  const begun = stopwatchMs();
  let journals = 0n;
  let wrong = 0;
  for (const book of books) {
    const report = await verifyBook(database, book);
    journals += report.journals;
    if (report.wrong !== undefined) wrong++;
    printJson({
      merchant_id: book.merchantId,
      environment: book.environment,
      journals: Number(report.journals),
      clean: report.wrong === undefined,
      head_hash: report.head,
      wrong: report.wrong,
    });
  }
  const seconds = ((stopwatchMs() - begun) / 1000).toFixed(1);
  say(`Books: ${books.length}, journals: ${journals}, in ${seconds} s: ${wrong === 0 ? "clean" : `${wrong} wrong`}`);
  return wrong === 0;
}

interface Selected {
  merchant: string;
  environment: Environment;
  format: ExportFormat;
}

/** Writes a book to standard output for other programs: as JSON lines, for hledger and Ledger, or for Beancount. */
export async function ledgerCommand({ merchant, environment, format }: Selected): Promise<number> {
  const book: Book = { merchantId: merchant, environment };
  return withBooks(async (database) => {
    await demandMerchant(database, merchant);
    try {
      // The pipeline waits for a slow reader, and stops reading when the reader is gone.
      await pipeline(exportBook(format, book, readJournals(database, book)), process.stdout, { end: false });
      return 0;
    } catch (error) {
      if ((error as { code?: string } | null)?.code === "EPIPE") return 1;
      throw error;
    }
  });
}

/** Counts the portal's figures anew from the payments. A running service shows the old figures until the new ones are complete. */
export async function insightsCommand(): Promise<number> {
  return withBooks(async (database) => {
    const begun = stopwatchMs();
    await rebuild(database);
    say(`Every payment was counted anew in ${((stopwatchMs() - begun) / 1000).toFixed(1)} s.`);
    return 0;
  });
}

/** Runs work on the configured database. Its queries may take ten minutes each. */
function withBooks(work: (database: Database) => Promise<number>): Promise<number> {
  return withDatabase(readConfig(undefined, undefined, "database"), work, { queryTimeoutMs: 600_000 });
}

interface Documents {
  operator: boolean;
  portal: boolean;
  postman: boolean;
}

export function openapiCommand({ operator, portal, postman }: Documents): Promise<number> {
  if ([operator, portal, postman].filter(Boolean).length > 1)
    throw new UsageError("--operator, --portal and --postman are three documents: name one");
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
  if (postman) {
    process.stdout.write(
      `${JSON.stringify(postmanCollection(JSON.parse(app.contracts.merchant()) as Json), null, 2)}\n`,
    );
  } else {
    process.stdout.write(
      operator ? app.contracts.operator() : portal ? app.contracts.portal() : app.contracts.merchant(),
    );
  }
  return Promise.resolve(0);
}
