// Databases of the tests: clones of the migrated template, and dropped when the file that made them is through.
import { randomUUID } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

export interface TestDatabase {
  url: string;
  ownerUrl: string;
  name: string;
}

/** Of the file that runs now. */
const cloned: string[] = [];

/** A clone of the migrated template: 0.05 s. It is gone when its file is through. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const { ownerUrl, url } = inject("database");
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await maintain(async (client) => {
    // Another file may be cloning at this moment, and a template must have no other user: take turns.
    await client.query("select pg_advisory_lock(1)");
    await client.query(`create database ${name} template gerbang strategy file_copy`);
    cloned.push(name);
    // A clone has its template's tables and their rights, but not the rights on the database itself.
    await client.query(`revoke temporary on database ${name} from public`);
  });
  const named = (address: string): string => address.replace(/\/gerbang(?=$|\?)/, `/${name}`);
  return { name, url: named(url), ownerUrl: named(ownerUrl) };
}

/** Drops what was cloned since the last time. A connection that is left open loses its database: what opened it should have ended it. */
export async function dropClones(): Promise<void> {
  const names = cloned.splice(0);
  if (names.length === 0) return;
  await maintain(async (client) => {
    for (const name of names) await client.query(`drop database if exists ${name} with (force)`);
  });
}

async function maintain(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: inject("database").ownerUrl.replace(/\/gerbang$/, "/postgres") });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
