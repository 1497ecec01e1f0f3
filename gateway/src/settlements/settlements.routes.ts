// HTTP routes of settlements: the list of section 4.9, a batch's statement, and the sandbox's endpoints that form and pay batches.
import { type Call, type Endpoint, answering, ofSandbox, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { checkCursor, limitOf, page, rangeBefore, rangeFrom } from "../http/lists.ts";
import { ofThisBook, readerOf } from "../http/one-object.ts";
import { nothing } from "../http/shapes.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { type Settlement, asSent, settlementView, statementColumns, statementOf } from "./settlement.ts";
import {
  type SettlementsQuery,
  formedSettlementsSchema,
  settlementListSchema,
  settlementParams,
  settlementSchema,
  settlementsQuerySchema,
  statementFile,
} from "./settlements.schema.ts";
import {
  selectSettlement,
  selectSettlements,
  selectStatement,
  settlementOfRow,
  statementLineOfRow,
} from "./settlements.sql.ts";
import { paySettlement, runNow } from "./settlements.ts";

const read = { tag: "Settlements", scope: "settlements:read" } as const;
const readOne = { ...read, params: settlementParams, errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH"] } as const;

export function settlementEndpoints(database: Database): Endpoint[] {
  return [
    readEndpoint({
      operationId: "listSettlements",
      path: "/v1/settlements",
      summary: "List settlement batches, newest first",
      ...read,
      success: { description: "A page of batches.", schema: settlementListSchema },
      query: settlementsQuerySchema,
      handle: (call) => listSettlements(database, call.book, call.query),
    }),
    readEndpoint({
      operationId: "getSettlement",
      path: "/v1/settlements/{uuid}",
      summary: "Read a settlement batch",
      ...readOne,
      success: { description: "The batch.", schema: settlementSchema },
      handle: async (call) => reply(200, settlementView(await findSettlement(database, call))),
    }),
    readEndpoint({
      operationId: "getSettlementStatement",
      path: "/v1/settlements/{uuid}/statement",
      summary: "Download a batch's statement as CSV",
      description:
        "One line for each payment, credited receipt, refund and lost dispute; they add up to the batch. The last line has kind `total` and the sums: leave " +
        "it out when you add. Its `refund_minor` and `dispute_minor` together are the batch's `refund_minor`.\n\n| column | what it says |\n|---|---|\n" +
        statementColumns.map(([name, meaning]) => `| \`${name}\` | ${meaning} |`).join("\n"),
      ...readOne,
      success: statementFile,
      handle: async (call) => downloadStatement(database, await findSettlement(database, call)),
    }),
    writeEndpoint({
      operationId: "runSettlements",
      path: "/v1/sandbox/settlements/run",
      summary: "Form batches of everything that waits, now",
      ...ofSandbox,
      success: { description: "The batches formed.", schema: formedSettlementsSchema },
      links: [
        { operationId: "getSettlement", description: "Read the first of them.", path: { uuid: "data/0/uuid" } },
        { operationId: "getSettlementStatement", description: "Download it.", path: { uuid: "data/0/uuid" } },
        { operationId: "paySettlement", description: "Let the bank pay it.", path: { uuid: "data/0/uuid" } },
      ],
      body: { schema: nothing, order: [] },
      command(call) {
        return answering(runNow(call), (formed) => reply(200, { data: formed.map(settlementView) }));
      },
    }),
    writeEndpoint({
      operationId: "paySettlement",
      path: "/v1/sandbox/settlements/{uuid}/pay",
      params: settlementParams,
      summary: "Let the bank pay a batch",
      ...ofSandbox,
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH", "SETTLEMENT_CLOSED", "WALLET_FROZEN"],
      success: { description: "The batch after it.", schema: settlementSchema },
      body: { schema: nothing, order: [] },
      command(call) {
        return answering(paySettlement(call, call.params.uuid ?? ""), (paid) => reply(200, settlementView(paid)));
      },
    }),
  ];
}

/** The batch of a path. Throws OBJECT_NOT_FOUND (also for a batch of another merchant), ENVIRONMENT_MISMATCH. */
export async function findSettlement(
  database: Database,
  { book, params }: Pick<Call, "book" | "params">,
): Promise<Settlement> {
  const settlement = await readSettlement(database, book.merchantId, params.uuid);
  return ofThisBook(book, settlement, "OBJECT_NOT_FOUND", "No such settlement.");
}

/** Answers with a batch as CSV. `shown`: as of `statementOf`. */
export async function downloadStatement(database: Database, settlement: Settlement, shown = asSent): Promise<Reply> {
  const lines = (await database.query(selectStatement(settlement))).map(statementLineOfRow);
  return { status: 200, body: statementOf(settlement, lines, shown), contentType: "text/csv; charset=utf-8" };
}

/** A batch of the merchant, in either environment; undefined when there is none. */
export const readSettlement = readerOf("settlement", selectSettlement, settlementOfRow);

/** A page of a book's batches. `query` has passed `settlementsQuerySchema`. */
export async function listSettlements(database: Database, book: Book, query: SettlementsQuery): Promise<Reply> {
  const after = query.starting_after;
  await checkCursor(book, after, (id) => readSettlement(database, book.merchantId, id));
  const statement = selectSettlements({
    book,
    status: query.status,
    currency: query.currency,
    endFrom: rangeFrom("date_from", query.date_from),
    endBefore: rangeBefore("date_to", query.date_to),
    after,
    limit: limitOf(query),
  });
  const rows = await database.query(statement);
  return page(rows.map(settlementOfRow), query, settlementView, ({ uuid }) => uuid);
}
