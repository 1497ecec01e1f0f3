// Statements that travel in one round trip with one Sync behind the last. When one of them fails, PostgreSQL skips all that follow it, COMMIT
// included. It does not describe the columns of a prepared statement again that it described before.
//
// Tried: the driver's own pipeline, which puts a Sync behind each statement. PostgreSQL then sends a packet for each statement, and goes on after a
// failure: a COMMIT behind a BEGIN or an INSERT that failed is executed. A lone creation took a tenth more processor time.
import pg, { type Connection, type PoolClient } from "pg";
import { prepareValue } from "pg/lib/utils.js";
import { type Row, type Statement, parserOf, together } from "./database.ts";

/** What one statement gave: its rows, and its command tag, such as `INSERT 0 3`. */
export interface StatementResult {
  readonly rows: Row[];
  readonly tag: string;
}

export interface RoundTripResult {
  /** The statements that PostgreSQL completed, in their order. */
  readonly completed: readonly StatementResult[];
  /**
   * Why there are no more of them; undefined when all were completed. After an error of PostgreSQL nothing behind the failed statement was
   * executed. After a lost connection nobody knows.
   */
  readonly rejected: { readonly cause: unknown } | undefined;
}

/** Sends the statements in one piece. Never rejects. The next one on the same connection begins after this one has ended. */
export function roundTrip(client: PoolClient, statements: readonly Statement[]): Promise<RoundTripResult> {
  return new Promise((resolve) => {
    together(client, () => client.query(new RoundTrip(statements, resolve)));
  });
}

/** The columns of a result: their names, and what makes values of their texts. */
interface Columns {
  names: string[];
  parsers: ((text: string) => unknown)[];
}

/** What is known of the prepared statements of one connection, by their names there. */
interface Prepared {
  columns: Map<string, Columns>;
  /** Statements of a round trip that failed: PostgreSQL may have prepared them, or not. They are closed before they are prepared again. */
  doubtful: Set<string>;
}

const preparedOn = new WeakMap<Connection, Prepared>();

const noColumns: Columns = { names: [], parsers: [] };

/** The driver keeps a list of its own statements: ours have other names. */
const preparedName = ({ name }: Statement): string => (name === undefined ? "" : `round trip: ${name}`);

/** To the driver it is one query, which ends with ReadyForQuery. The driver calls its methods. */
export class RoundTrip extends pg.Query {
  statements: readonly Statement[];
  private readonly completed: StatementResult[] = [];
  private readonly resolve: (result: RoundTripResult) => void;
  private prepared: Prepared = { columns: new Map(), doubtful: new Set() };
  /** Of the statement whose result comes next. */
  private columns = noColumns;
  private found: Row[] = [];

  constructor(statements: readonly Statement[], resolve: (result: RoundTripResult) => void) {
    super("");
    this.statements = statements;
    this.resolve = resolve;
  }

  /** Ends the round trip. The driver wraps it, to stop its clock for the time limit, and calls it when the limit has passed. */
  callback = (cause: unknown): void =>
    this.resolve({ completed: this.completed, rejected: cause === null ? undefined : { cause } });

  override submit = (connection: Connection): void => {
    this.prepared = preparedOn.get(connection) ?? this.prepared;
    preparedOn.set(connection, this.prepared);
    const wire = connection as unknown as Wire;
    const parsed = new Set<string>();
    for (const statement of this.statements) {
      const name = preparedName(statement);
      const isKnown = this.prepared.columns.has(name);
      if (!isKnown && !parsed.has(name)) {
        if (name !== "") parsed.add(name);
        if (this.prepared.doubtful.has(name)) wire.close({ type: "S", name });
        wire.parse({ name, text: statement.text });
      }
      wire.bind({ statement: name, values: statement.values ?? [], valueMapper: prepareValue });
      if (!isKnown) wire.describe({ type: "P" });
      wire.execute({});
    }
    wire.sync();
    this.awaitNext();
  };

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    const names = fields.map(({ name }) => name);
    this.columns = { names, parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)) };
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const { names, parsers } = this.columns;
    const row: Row = {};
    for (const [index, name] of names.entries()) {
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parsers[index]?.(text);
    }
    this.found.push(row);
  }

  handleCommandComplete({ text: tag }: { text: string }): void {
    const statement = this.statements[this.completed.length];
    if (statement?.name !== undefined) {
      this.prepared.columns.set(preparedName(statement), this.columns);
      this.prepared.doubtful.delete(preparedName(statement));
    }
    this.completed.push({ rows: this.found, tag });
    this.awaitNext();
  }

  /** PostgreSQL rejected a statement, or the connection was lost. */
  handleError(cause: unknown): void {
    const { columns, doubtful } = this.prepared;
    const names = this.statements.slice(this.completed.length).map(preparedName);
    for (const name of names) if (name !== "" && !columns.has(name)) doubtful.add(name);
    this.callback(cause);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  private awaitNext(): void {
    const next = this.statements[this.completed.length];
    this.columns = (next && this.prepared.columns.get(preparedName(next))) ?? noColumns;
    this.found = [];
  }
}

/** Messages that the driver can send, which its published types leave out. */
interface Wire {
  close(message: { type: "S"; name: string }): void;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: readonly unknown[]; valueMapper: (value: unknown) => unknown }): void;
  describe(message: { type: "P" }): void;
  execute(message: object): void;
  sync(): void;
}
