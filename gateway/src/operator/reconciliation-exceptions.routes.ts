// The operator's queue of reconciliation exceptions: those that a person has to look at, and what was done about them.
import { z } from "zod";
import { type ReconciliationException, exceptionKinds } from "../acquiring/exception.ts";
import { closeException, exceptionNeed } from "../acquiring/exceptions.ts";
import { exceptionOfRow, selectExceptions } from "../acquiring/exceptions.sql.ts";
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { page } from "../http/lists.ts";
import { listSchema, text, timestamp } from "../http/shapes.ts";
import { environments } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { limitOf, pageFields } from "./lists.ts";

const exceptionSchema = z.strictObject({
  uuid: z.string(),
  merchant_id: z.string(),
  environment: z.enum(environments),
  kind: z.enum(exceptionKinds),
  gateway_code: z.string(),
  operation: z.string().meta({ description: "The payment's reference or the refund's uuid." }),
  attempt: z.int(),
  noticed_at: timestamp,
  closed_at: timestamp.nullable(),
  note: z.string().nullable(),
});
const exceptionsQuery = z.strictObject({
  ...pageFields("uuid", (value) => isId("exception", value)),
  status: z.enum(["open", "closed"]).optional(),
});

export function exceptionEndpoints(database: Database, lanes: Lanes): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      path: "/ops/v1/reconciliation-exceptions",
      summary: "What acquirers said or did that cannot be, oldest first; `status=open` waits for a person",
      tag: "Acquirers",
      role: "viewer",
      query: exceptionsQuery,
      success: { status: 200, description: "A page of them.", schema: listSchema(exceptionSchema) },
      errors: [],
      async handle({ query }) {
        const limit = limitOf(query);
        const filter = { uuid: undefined, open: query.status && query.status === "open" };
        const rows = await database.query(selectExceptions(filter, query.starting_after, limit));
        return page(rows.map(exceptionOfRow), limit, viewOf, ({ uuid }) => uuid);
      },
    }),
    operatorEndpoint({
      method: "POST",
      path: "/ops/v1/reconciliation-exceptions/{uuid}/close",
      summary: "Close one, with what was done about it",
      tag: "Acquirers",
      role: "admin",
      body: z.strictObject({ note: text(1, 1_000) }),
      success: { status: 200, description: "It, closed.", schema: exceptionSchema },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ params: { uuid = "" }, body: { note } }) {
        const filter = { uuid, open: true };
        const [row] = isId("exception", uuid) ? await database.query(selectExceptions(filter, undefined, 1)) : [];
        if (!row) throw new Fault("OBJECT_NOT_FOUND", { message: "No such reconciliation exception is open." });
        const found = exceptionOfRow(row);
        const closed = await lanes.move(found.book.merchantId, {
          name: "close reconciliation exception",
          book: found.book,
          needs: [exceptionNeed(found)],
          execute(set, { realNow }) {
            const one = closeException(set, found, note, realNow);
            if (!one) throw new Fault("OBJECT_NOT_FOUND", { message: "No such reconciliation exception is open." });
            return one;
          },
        });
        return reply(200, viewOf(closed));
      },
    }),
  ];
}

function viewOf(one: ReconciliationException): z.infer<typeof exceptionSchema> {
  return {
    uuid: one.uuid,
    merchant_id: one.book.merchantId,
    environment: one.book.environment,
    kind: one.kind,
    gateway_code: one.gatewayCode,
    operation: one.operationId,
    attempt: one.attempt,
    noticed_at: wireTime(one.noticedAt),
    closed_at: one.closedAt === undefined ? null : wireTime(one.closedAt),
    note: one.note ?? null,
  };
}
