// Makes statements of a pool fail as PostgreSQL fails them, each at its place among the others.
import type { Pool, PoolClient } from "pg";
import { vi } from "vitest";
import { RoundTrip } from "../src/store/round-trip.ts";

type Query = (first: unknown, ...others: unknown[]) => Promise<unknown>;

/** Until it is restored, PostgreSQL raises `state` (a SQLSTATE) in place of each statement whose text `fails` picks. */
export function failStatements(pool: Pool, state: string, fails: (text: string) => boolean): { restore(): void } {
  const raise = `do $$ begin raise exception 'planted' using errcode = '${state}'; end $$`;
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  const connectFailing = async (): Promise<PoolClient> => {
    const client = await connect();
    const query = client.query.bind(client) as unknown as Query;
    const release = client.release.bind(client);
    client.query = ((first: string | { text: string } | RoundTrip, ...others: unknown[]) => {
      if (first instanceof RoundTrip) {
        first.statements = first.statements.map((statement) => (fails(statement.text) ? { text: raise } : statement));
        return query(first);
      }
      return fails(typeof first === "string" ? first : first.text) ? query(raise) : query(first, ...others);
    }) as never;
    client.release = (broken) => {
      client.query = query as never;
      release(broken);
    };
    return client;
  };
  const spies = [
    vi.spyOn(pool, "connect").mockImplementation(connectFailing as never),
    vi.spyOn(pool, "query").mockImplementation((async (statement: { text: string }) => {
      const client = await connectFailing();
      try {
        return await client.query(statement);
      } finally {
        client.release();
      }
    }) as never),
  ];
  return { restore: () => spies.forEach((spy) => spy.mockRestore()) };
}
