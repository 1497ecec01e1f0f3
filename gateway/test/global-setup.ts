// Starts one embedded PostgreSQL for all test files, with one migrated database that each file clones.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { PREPARED_CLUSTER } from "../../e2e/kit/service.ts";
import { type EmbeddedDatabase, startEmbedded } from "../src/store/embedded.ts";
import { migrate } from "../src/store/migrations.ts";
import { makeRunFolder } from "./run-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Addresses of the migrated template database, for its owner and for the service's role. */
    database: { ownerUrl: string; url: string };
  }
}

export default async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  // All projects share one server: the first project starts it.
  const root = vitest.getRootProject();
  if ((root.getProvidedContext() as Partial<ProvidedContext>).database) return undefined;
  const directory = makeRunFolder();
  chmodSync(directory, 0o711);
  // Temporary files of tests and their programs are removed with this folder, since their own exit handlers may not be called.
  process.env.TMPDIR = directory;
  // Programs that tests start compile the same files, so they share a cache of compiled code.
  process.env.NODE_COMPILE_CACHE = join(directory, "compiled");
  const prepared = await startEmbedded(directory);
  await migrate(prepared.ownerUrl);
  await hashPasswordsOnce(prepared);
  await prepared.stop();
  const cluster = join(prepared.directory, "cluster");
  // `stop` does not wait for a busy server.
  while (existsSync(join(cluster, "postmaster.pid"))) await new Promise((resolve) => setTimeout(resolve, 50));
  // A copy for services that start with their own PostgreSQL, without the settings of the tests' server.
  process.env[PREPARED_CLUSTER] = join(directory, "prepared");
  execFileSync("cp", ["-a", cluster, process.env[PREPARED_CLUSTER]]);
  const embedded = await startEmbedded(directory);
  await spareWork(embedded.ownerUrl);
  root.provide("database", { ownerUrl: embedded.ownerUrl, url: embedded.url });
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  // A run that is interrupted, by Ctrl-C or by a failed check, stops its server too, but does not wait for it.
  const end = (): void => {
    void embedded.stop();
    remove();
  };
  process.once("exit", end);
  return async () => {
    process.off("exit", end);
    await embedded.stop();
    // `stop` does not wait for a busy server, which may still write while its files are removed.
    remove();
  };
}

/** Hashes the roles' passwords once rather than 4,096 times, which was a tenth of the run's work: tests connect thousands of times. */
async function hashPasswordsOnce({ ownerUrl, url }: EmbeddedDatabase): Promise<void> {
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query("set scram_iterations = 1");
  for (const { username, password } of [new URL(ownerUrl), new URL(url)])
    await owner.query(`alter role ${username} password '${password}'`);
  await owner.end();
}

/**
 * Turns durability off: this server's files are removed after the run. Tests that kill a server start one of their own. And nothing is vacuumed
 * or analysed by itself: for hundreds of databases that live for seconds, that was a twelfth of the run's work.
 */
async function spareWork(ownerUrl: string): Promise<void> {
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query("alter system set fsync = off");
  await owner.query("alter system set full_page_writes = off");
  await owner.query("alter system set autovacuum = off");
  await owner.query("select pg_reload_conf()");
  await owner.end();
}
