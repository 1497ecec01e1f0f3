// The door to PostgreSQL: one pool with our types, statements as values, and what an error means.
import pg from "pg";
import { parseSqlTime } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";

/** A statement ready to send. With a name it is prepared once on each connection. */
export interface Statement {
  name?: string;
  text: string;
  values?: unknown[];
}

export type Row = Record<string, unknown>;

const parsers: Record<number, (text: string) => unknown> = {
  20: BigInt, // int8
  1184: parseSqlTime, // timestamptz, with its microseconds
  114: String, // json and jsonb stay text: the room that owns them knows their shape
  3802: String,
};

const types = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- pg types its own numbers as an enum
    return (format !== "binary" && parsers[oid]) || pg.types.getTypeParser(oid, format);
  },
};

/** A statement that takes longer means a database that hangs: the connection is given up, and its outcome is unknown. */
const QUERY_TIMEOUT_MS = 5_000;

export class Database {
  readonly pool: pg.Pool;

  /** `connections`: the most that this process opens. */
  constructor(url: string, connections: number, log: Log, options: { queryTimeoutMs?: number } = {}) {
    this.pool = new pg.Pool({
      connectionString: url,
      max: connections,
      types,
      pipeline: true,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      query_timeout: options.queryTimeoutMs ?? QUERY_TIMEOUT_MS,
      application_name: "gerbang",
    });
    // Without this listener an idle connection that dies (a restart of PostgreSQL) would end the process.
    // A connection that is lost while it is in use says so as well, beside the failing query.
    this.pool.on("connect", (client) => {
      client.on("error", (error) => log.debug({ err: error }, "a database connection was lost in use"));
    });
    this.pool.on("error", (error) => {
      // Those that are being closed may be met by a server that stops, too.
      if (!this.pool.ending) log.warn({ err: error }, "an idle database connection was lost");
    });
  }

  /** Runs one statement on its own and gives its rows. */
  async query<R extends Row = Row>(statement: Statement): Promise<R[]> {
    const result = await this.pool.query<R>(statement as pg.QueryConfig);
    return result.rows;
  }

  /**
   * Runs statements one after another in one transaction, for the rare work outside the lanes (settings, sweeps).
   * Never call the outside world inside `work`.
   */
  async transaction<T>(
    work: (query: <R extends Row = Row>(statement: Statement) => Promise<R[]>) => Promise<T>,
  ): Promise<T> {
    const client = await this.pool.connect();
    let broken = false;
    try {
      await client.query("begin");
      const result = await work(async <R extends Row>(statement: Statement) => {
        const { rows } = await client.query<R>(statement as pg.QueryConfig);
        return rows;
      });
      await client.query("commit");
      return result;
    } catch (error) {
      broken = isConnectionLoss(error);
      if (!broken) await client.query("rollback");
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async end(): Promise<void> {
    await this.pool.end();
  }
}

/** The SQLSTATE of an error that PostgreSQL itself reported. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  // The system's own names, such as EPIPE, may be five letters long, too.
  return typeof code === "string" && /^(?!E[A-Z]{4})[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** True when the database could not be reached or went away, as opposed to refusing a statement. */
export function isConnectionLoss(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return state.startsWith("08") || /^(57P0[1-5]|53300|25P03)$/.test(state);
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (
    typeof code === "string" &&
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ENOENT)/.test(code)
  )
    return true;
  return /connection terminated|not queryable|client was closed|timeout exceeded when trying to connect|connection error|query read timeout/i.test(
    error.message,
  );
}

/** The unique constraint that refused a row. */
export function constraintOf(error: unknown): string | undefined {
  return sqlState(error) === "23505" ? (error as { constraint?: string }).constraint : undefined;
}

/** True for refusals that vanish when the same work is run again: a lost race, a deadlock, a lock that took too long. */
export function isRaceLost(error: unknown): boolean {
  return /^(23505|40001|40P01|55P03)$/.test(sqlState(error) ?? "");
}
