// Statements that travel in one round trip with one Sync behind the last. When one of them fails, PostgreSQL skips all that follow it, COMMIT
// included. It does not describe the columns of a prepared statement again that it described before.
//
// Tried: the driver's own pipeline, which puts a Sync behind each statement. PostgreSQL then sends a packet for each statement, and goes on after a
// failure: a COMMIT behind a BEGIN or an INSERT that failed is executed. A lone creation took a tenth more processor time.
import pg, { type Connection, type PoolClient } from "pg";
import { prepareValue } from "pg/lib/utils.js";
import { assert } from "../ground/fault.ts";
import { type Row, type Statement, isStale, parserOf, together } from "./database.ts";

/** What one statement gave: its rows, and its command tag, such as `INSERT 0 3`. */
interface StatementResult {
  readonly rows: Row[];
  readonly tag: string;
}

interface RoundTripResult {
  /** The statements that PostgreSQL completed, in their order. */
  readonly completed: readonly StatementResult[];
  /** Why there are no more; undefined when all were completed. After an error nothing behind it ran; after a lost connection nobody knows. */
  readonly rejected: { readonly cause: unknown } | undefined;
}

/** Sends the statements in one piece. Never rejects. One round trip at a time: of two that prepare one statement at once the second fails. */
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
  /** The text of each statement that was ever sent under a name: a name stands for one text. */
  texts: Map<string, string>;
  /** Statements of a round trip that failed: PostgreSQL may have prepared them, or not. They are closed before they are prepared again. */
  doubtful: Set<string>;
}

/** PostgreSQL keeps so many bytes of a name, and takes so many values of a statement. */
const NAME_MAX = 63;
const VALUES_MAX = 65_535;

const preparedOn = new WeakMap<Connection, Prepared>();

const noColumns: Columns = { names: [], parsers: [] };

/** The driver keeps a list of its own statements: ours have other names. */
const preparedName = ({ name }: Statement): string => (name === undefined ? "" : `round trip: ${name}`);

/** To the driver it is one query, which ends with ReadyForQuery. The driver calls its methods. */
export class RoundTrip extends pg.Query {
  statements: readonly Statement[];
  private readonly completed: StatementResult[] = [];
  private readonly resolve: (result: RoundTripResult) => void;
  private prepared: Prepared = { columns: new Map(), texts: new Map(), doubtful: new Set() };
  /** Of the statement whose result comes next. */
  private columns = noColumns;
  private found: Row[] = [];
  /** Why a row could not be read. What PostgreSQL did stands; the statements behind it were executed. */
  private unread: unknown;

  constructor(statements: readonly Statement[], resolve: (result: RoundTripResult) => void) {
    super("");
    this.statements = statements;
    this.resolve = resolve;
  }

  /** Ends the round trip. The driver wraps it, to stop its clock for the time limit, and calls it when the limit has passed. */
  callback = (cause: unknown): void =>
    this.resolve({ completed: this.completed, rejected: cause === null ? undefined : { cause } });

  /** An error that it gives means that nothing was sent: the driver calls `handleError` with it. */
  override submit = ((connection: Connection): Error | undefined => {
    this.prepared = preparedOn.get(connection) ?? this.prepared;
    preparedOn.set(connection, this.prepared);
    const wire = connection as unknown as Wire;
    let values: unknown[][];
    try {
      values = this.statements.map((statement) => this.valuesOf(statement));
    } catch (error) {
      return error as Error;
    }
    const parsed = new Set<string>();
    for (const [index, statement] of this.statements.entries()) {
      const name = preparedName(statement);
      const isKnown = this.prepared.columns.has(name);
      if (!isKnown && !parsed.has(name)) {
        if (name !== "") parsed.add(name);
        if (this.prepared.doubtful.has(name)) wire.close({ type: "S", name });
        wire.parse({ name, text: statement.text });
      }
      wire.bind({ statement: name, values: values[index] ?? [] });
      if (!isKnown) wire.describe({ type: "P" });
      wire.execute({});
    }
    wire.sync();
    this.awaitNext();
    return undefined;
  }) as unknown as (connection: Connection) => void;

  /** The values of a statement as they travel. Throws for a statement that must not be sent. */
  private valuesOf(statement: Statement): unknown[] {
    const name = preparedName(statement);
    if (name !== "") {
      assert(Buffer.byteLength(name) <= NAME_MAX, `the name of a statement is too long: ${name}`);
      const text = this.prepared.texts.get(name) ?? statement.text;
      assert(text === statement.text, `two statements have one name: ${name}`);
      this.prepared.texts.set(name, text);
    }
    const values = (statement.values ?? []).map((value) => prepareValue(value));
    assert(values.length <= VALUES_MAX, "a statement has too many values");
    return values;
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    const names = fields.map(({ name }) => name);
    this.columns = { names, parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)) };
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const { names, parsers } = this.columns;
    // The driver calls this out of the socket: what is thrown here ends the process.
    try {
      assert(fields.length === names.length, "a row has other columns than its statement");
      const row: Row = {};
      for (const [index, name] of names.entries()) {
        const text = fields[index] ?? null;
        row[name] = text === null ? null : parsers[index]?.(text);
      }
      this.found.push(row);
    } catch (error) {
      this.unread ??= error;
    }
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

  /** An empty statement has no other answer. */
  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: "" });
  }

  /** PostgreSQL rejected a statement, or the connection was lost. */
  handleError(cause: unknown): void {
    const { columns, doubtful } = this.prepared;
    const names = this.statements.slice(this.completed.length).map(preparedName);
    for (const name of names) if (name !== "" && !columns.has(name)) doubtful.add(name);
    if (isStale(cause)) {
      for (const name of columns.keys()) doubtful.add(name);
      columns.clear();
    }
    this.callback(cause);
  }

  handleReadyForQuery(): void {
    const isWhole = this.completed.length === this.statements.length;
    this.callback(this.unread ?? (isWhole ? null : new Error("PostgreSQL did not answer every statement")));
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
  bind(message: { statement: string; values: readonly unknown[] }): void;
  describe(message: { type: "P" }): void;
  execute(message: object): void;
  sync(): void;
}
