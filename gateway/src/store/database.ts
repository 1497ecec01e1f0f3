// The access to PostgreSQL: one pool with the service's column types, statements as values, and the classes of errors.
import type { Socket } from "node:net";
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

/** Runs one statement and gives its rows. */
export type Query = <R extends Row = Row>(statement: Statement) => Promise<R[]>;

/** The value of a column that may be null, with undefined for null. */
export const optional = <T>(value: unknown): T | undefined => (value as T | null) ?? undefined;

const parsers: Record<number, (text: string) => unknown> = {
  20: BigInt, // int8
  1184: parseSqlTime, // timestamptz, with its microseconds
  1082: String, // date
  114: String, // json and jsonb (3802) stay text: the room that owns a column knows its shape
  3802: String,
};

/** What makes a value of the text that PostgreSQL writes for a type, by the type's number. */
export function parserOf(oid: number): (text: string) => unknown {
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- pg types its own numbers as an enum
  return parsers[oid] ?? (pg.types.getTypeParser(oid, "text") as (text: string) => unknown);
}

const types = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- as above
    return format === "binary" ? pg.types.getTypeParser(oid, format) : parserOf(oid);
  },
};

/** A statement that takes longer means that the database hangs: its connection is closed, and its outcome is unknown. */
const QUERY_TIMEOUT_MS = 6_000;
/** The same limit for statements of `transaction`, which may wait for locks. */
const PATIENT_MS = 8_000;

/** The server cancels a statement this long after the client stopped waiting; without the limit it would run on. */
const STATEMENT_GRACE_MS = 1_000;
/** Enough for a pooler to give the two connections of `demandPrepared` one session, unless it is very busy; each costs a start half a millisecond. */
const PREPARED_ROUNDS = 10;
/** No connection is used for longer, so that a process follows the address to another server, and takes up the settings of a database. */
const LIFE_SECONDS = 60;

/**
 * Settings of a session, and when its server began. The server notices within half a minute that a client is gone (the client notices a lost server
 * as fast); by default it would keep the session for hours. It also cancels statements that no client waits for. It writes times as ISO in UTC, which
 * alone are read here, whatever it does by default; nor do other defaults of a role hold, which end idle connections or let transactions fail that
 * only wait for each other. Sent first on a new connection, without waiting.
 */
const SESSION = `select set_config('DateStyle', 'ISO, DMY', false), set_config('TimeZone', 'UTC', false),
  set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '4', false), set_config('tcp_user_timeout', '30000', false),
  set_config('idle_session_timeout', '0', false), set_config('idle_in_transaction_session_timeout', '4000', false),
  set_config('lock_timeout', '0', false), set_config('default_transaction_isolation', 'read committed', false),
  set_config('statement_timeout', $1::text, false), extract(epoch from pg_postmaster_start_time())::text as server`;

/** Names this process in PostgreSQL's list of sessions. */
export const APPLICATION_NAME = `gerbang ${process.pid}`;

export class Database {
  readonly pool: pg.Pool;

  /** `connections`: maximum that this process opens. */
  constructor(url: string, connections: number, log: Log, options: { queryTimeoutMs?: number } = {}) {
    const timeoutMs = options.queryTimeoutMs ?? QUERY_TIMEOUT_MS;
    this.pool = new pg.Pool({
      connectionString: url,
      max: connections,
      types,
      pipeline: true,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 60_000,
      maxLifetimeSeconds: LIFE_SECONDS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      query_timeout: timeoutMs,
      application_name: APPLICATION_NAME,
    });
    // Without error listeners a lost connection (a restart of PostgreSQL) would end the process. A connection that is lost in use emits
    // `error` too, besides failing its query.
    const servers = new Map<pg.PoolClient, string>();
    this.pool.on("connect", (client) => {
      servers.set(client, "");
      client.once("end", () => servers.delete(client));
      client.query<{ server: string }>(SESSION, [String(timeoutMs + STATEMENT_GRACE_MS)]).then(
        ({ rows: [row] }) => leaveOthers(servers.set(client, row?.server ?? "")),
        (error: unknown) => log.debug({ err: error }, "the settings of a session could not be made"),
      );
      client.on("error", (error) => log.debug({ err: error }, "a database connection was lost in use"));
    });
    this.pool.on("error", (error) => {
      // While the pool is being closed, connections may be lost to a server that stops at the same time.
      if (!this.pool.ending) log.warn({ err: error }, "an idle database connection was lost");
    });
  }

  /** Runs one statement outside any transaction and gives its rows. */
  async query<R extends Row = Row>(statement: Statement): Promise<R[]> {
    try {
      return (await this.pool.query<R>(statement as pg.QueryConfig)).rows;
    } catch (error) {
      if (!isStale(error)) throw error;
      // Without its name it is prepared anew. The pool has closed the connection on which it was stale.
      const { text, values } = statement;
      return (await this.pool.query<R>({ text, values } as pg.QueryConfig)).rows;
    }
  }

  /** Runs a statement and parses its first row; undefined when it has none. */
  async first<R extends Row, Parsed>(statement: Statement, parse: (row: R) => Parsed): Promise<Parsed | undefined> {
    const [row] = await this.query<R>(statement);
    return row && parse(row);
  }

  /** Runs statements in one round trip, each committed by itself. Gives the rows of each; throws the error of the first that failed. */
  async pipeline(statements: readonly Statement[]): Promise<Row[][]> {
    const client = await this.pool.connect();
    let sound = true;
    try {
      const results = await Promise.allSettled(
        together(client, () => statements.map((statement) => client.query<Row>(statement as pg.QueryConfig))),
      );
      return results.map((result) => {
        if (result.status === "fulfilled") return result.value.rows;
        sound &&= !isConnectionLoss(result.reason) && !isStale(result.reason);
        throw result.reason;
      });
    } finally {
      client.release(!sound);
    }
  }

  /**
   * Runs statements one after another in one transaction, for the rare work outside the lanes (settings, sweeps). Waits for locks for longer
   * than a process that has died can hold one. Never call other systems inside `work`. `limitMs`: limit of each statement, in milliseconds;
   * a long one waits for locks until PATIENT_MS before its limit.
   */
  async transaction<T>(
    work: (query: Query) => Promise<T>,
    { limitMs = PATIENT_MS }: { limitMs?: number } = {},
  ): Promise<T> {
    const client = await this.pool.connect();
    let sound = false;
    const query = async <R extends Row>(statement: Statement): Promise<R[]> => {
      const { rows } = await client.query<R>({ ...statement, query_timeout: limitMs } as pg.QueryConfig);
      return rows;
    };
    try {
      await client.query("begin");
      await query(limits(Math.max(TRANSACTION_LIMIT_MS + 1_000, limitMs - PATIENT_MS), limitMs));
      const result = await work(query);
      const { command } = await client.query("commit");
      if (command !== "COMMIT") throw new Error(`the transaction ended with ${command}`);
      sound = true;
      return result;
    } catch (error) {
      sound = !isConnectionLoss(error) && !isStale(error) && (await rollBack(client));
      throw error;
    } finally {
      client.release(!sound);
    }
  }

  /**
   * Prepares different statements under one name on two connections, again and again. A pooler that gives both one session of the server, and keeps no
   * prepared statements for its clients, fails with PostgreSQL's error: it would run a statement of another process in place of this one's.
   */
  async demandPrepared(): Promise<void> {
    const clients = [await this.pool.connect()];
    try {
      clients.push(await this.pool.connect());
      for (let round = 0; round < PREPARED_ROUNDS; round++)
        for (const [index, client] of clients.entries())
          await client.query({ name: `prepared in round ${round}`, text: `select ${index}` });
    } finally {
      for (const client of clients) client.release(true);
    }
  }

  /** Busy and idle connections of the pool, and callers that wait for a connection. */
  get connections(): { busy: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  async end(): Promise<void> {
    await this.pool.end();
  }
}

/** A transaction outlives its process by this at most: PostgreSQL ends a session that is silent inside one, and a statement that takes longer. */
export const TRANSACTION_LIMIT_MS = 4_000;

/**
 * Limits of the current transaction, not of the session, so that they hold through a pooler too. Plans are generic: arrays of keys look alike
 * to the planner, and planning each batch anew cost a lone request a third of a millisecond.
 */
export function limits(lockMs: number, statementMs: number = Math.max(TRANSACTION_LIMIT_MS, lockMs + 500)): Statement {
  return {
    name: "limits of a transaction",
    text: `select set_config('plan_cache_mode', 'force_generic_plan', true),
  set_config('statement_timeout', $2::text, true),
  set_config('idle_in_transaction_session_timeout', '${TRANSACTION_LIMIT_MS}', true),
  set_config('lock_timeout', $1::text, true)`,
    values: [String(lockMs), String(statementMs)],
  };
}

/** Rolls a transaction back. Gives whether the connection can be used again. */
export async function rollBack(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query("rollback");
    return true;
  } catch {
    return false; // the connection is lost, and the transaction with it
  }
}

/** Sends all that `work` writes to the socket in one piece: one system call per round trip, not one per statement. */
export function together<Sent>(client: pg.PoolClient, work: () => Sent): Sent {
  const stream = socketOf(client);
  stream.cork();
  try {
    return work();
  } finally {
    stream.uncork();
  }
}

const socketOf = (client: pg.PoolClient): Socket =>
  (client as pg.PoolClient & { connection: { stream: Socket } }).connection.stream;

/**
 * Ends the connections to any server but the one to which the address led last: where a standby took over and the former primary still runs, a process
 * would write to both. `servers`: when the server of each connection began, "" until that is known, in the order in which they were made.
 */
function leaveOthers(servers: ReadonlyMap<pg.PoolClient, string>): void {
  const latest = [...servers.values()].findLast((server) => server !== "");
  for (const [client, server] of servers)
    if (server !== "" && server !== latest)
      socketOf(client).destroy(new Error("Connection terminated: the database's address leads to another server"));
}

/** The SQLSTATE of an error that PostgreSQL itself reported. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  // Error names of the operating system, such as EPIPE, may have five letters too.
  return typeof code === "string" && /^(?!E[A-Z]{4})[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/**
 * True when no connection could be made or the connection was lost, as opposed to an error of a statement. A server that lets the service in no
 * more (28, 3D000) or speaks no TLS, an expired certificate, a process without file descriptors and any error that ends the session belong to it.
 */
export function isConnectionLoss(error: unknown): boolean {
  const state = sqlState(error);
  if (/^(FATAL|PANIC)$/.test(String((error as { severity?: unknown } | null)?.severity))) return true;
  if (state !== undefined) return /^(08|28)|^(57P0[1-5]|53300|25P03|3D000)$/.test(state);
  if (!(error instanceof Error)) return false;
  const { code, message } = error as Error & { code?: unknown };
  const lost =
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ENOENT|EMFILE|ENFILE|EADDRNOTAVAIL|CERT_|UNABLE_TO_|ERR_TLS_|ERR_SSL_)|SELF_SIGNED_CERT/;
  const words =
    /connection terminated|not queryable|client was closed|timeout exceeded when trying to connect|timeout expired|connection error|SSL connection|query read timeout/i;
  return lost.test(String(code)) || words.test(message);
}

/**
 * True when the database cannot serve any statement now: it is unreachable, out of disk, memory or connections, or read-only; or when a
 * statement was cancelled, timed out or lost a race. The request is not wrong and may succeed later.
 */
export function isOutOfService(error: unknown): boolean {
  return isConnectionLoss(error) || /^(53|58)|^(57014|25006|25P02|55P03|40001|40P01)$/.test(sqlState(error) ?? "");
}

/**
 * True when a prepared statement is of no use any more: its table was altered, as by the migration of a newer release, or PostgreSQL does not have it
 * (`discard all`). Nothing was executed, and the statement can be prepared again.
 */
export function isStale(error: unknown): boolean {
  return /^(0A000|26000)$/.test(sqlState(error) ?? "");
}

/** True for errors that may vanish when the work runs again: a unique key lost in a race, a deadlock, a long lock, a stale prepared statement. */
export function isRaceLost(error: unknown): boolean {
  return isStale(error) || /^(23505|40001|40P01|55P03)$/.test(sqlState(error) ?? "");
}
