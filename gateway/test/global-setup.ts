// One embedded PostgreSQL for all test files, with one migrated database that each file clones.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { PREPARED_CLUSTER } from "../../e2e/kit/service.ts";
import { startEmbedded } from "../src/store/embedded.ts";
import { migrate } from "../src/store/migrations.ts";
import { makeRunFolder } from "./run-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The owner's and the service's address of the migrated template database. */
    database: { ownerUrl: string; url: string };
  }
}

export default async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  // Once for all projects: the first one makes it.
  const root = vitest.getRootProject();
  if ((root.getProvidedContext() as Partial<ProvidedContext>).database) return undefined;
  const directory = makeRunFolder();
  chmodSync(directory, 0o711);
  // Whatever tests and the programs that they start leave behind goes with it. An exit handler of theirs may not be called.
  process.env.TMPDIR = directory;
  // The programs that tests start compile the same files: the first one keeps what it compiled for the others.
  process.env.NODE_COMPILE_CACHE = join(directory, "compiled");
  const prepared = await startEmbedded(directory);
  await migrate(prepared.ownerUrl);
  await prepared.stop();
  const cluster = join(prepared.directory, "cluster");
  // A stop does not wait for a server that is busy.
  while (existsSync(join(cluster, "postmaster.pid"))) await new Promise((resolve) => setTimeout(resolve, 50));
  // For services that begin with a PostgreSQL of their own; the settings of the server of the tests are not in it.
  process.env[PREPARED_CLUSTER] = join(directory, "prepared");
  execFileSync("cp", ["-a", cluster, process.env[PREPARED_CLUSTER]]);
  const embedded = await startEmbedded(directory);
  await leaveDurabilityOut(embedded.ownerUrl);
  root.provide("database", { ownerUrl: embedded.ownerUrl, url: embedded.url });
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  // A run that ends before its time, by Ctrl-C or since a check beside it failed, leaves no server behind either: it is told, and not waited for.
  const end = (): void => {
    void embedded.stop();
    remove();
  };
  process.once("exit", end);
  return async () => {
    process.off("exit", end);
    await embedded.stop();
    // A stop does not wait for a server that is busy: it may still write while its files go.
    remove();
  };
}

/** This server is thrown away with its files: nothing has to reach the disk. Tests that kill a server start one of their own. */
async function leaveDurabilityOut(ownerUrl: string): Promise<void> {
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query("alter system set fsync = off");
  await owner.query("alter system set full_page_writes = off");
  await owner.query("select pg_reload_conf()");
  await owner.end();
}
