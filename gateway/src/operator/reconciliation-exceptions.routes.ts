// Endpoints of reconciliation exceptions: those that an operator must look at, and closing one.
import { z } from "zod";
import { type ReconciliationException, exceptionKinds } from "../acquiring/exception.ts";
import { closeException } from "../acquiring/exceptions.ts";
import { exceptionOfRow, exceptions, selectException, selectExceptions } from "../acquiring/exceptions.sql.ts";
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { cursorOf, limitOf, page } from "../http/lists.ts";
import { exampleTimes } from "../http/examples.ts";
import { count, environmentField, identity, listSchema, text, timestamp, withExample } from "../http/shapes.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { need } from "../store/working-set.ts";
import { operationObject } from "../story/at-acquirer.schema.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { pageFieldsOf } from "./lists.ts";
import { exceptionParams } from "./params.ts";

const occasions = z.array(text(1, 128)).max(32);
const exampleNote = "The acquirer corrected its report; nothing moved.";
export const exceptionSchema = withExample(
  z.strictObject({
    uuid: identity("exception"),
    merchant_id: identity("merchant"),
    environment: environmentField,
    kind: z.enum(exceptionKinds).meta({ id: "ExceptionKind" }),
    gateway_code: z.string().meta({ examples: ["nusantara"] }),
    operation: operationObject,
    attempt: count(1, "Which attempt at the acquirer."),
    noticed_at: timestamp,
    occasions: occasions.meta({ description: "What the acquirer calls what it is about.", examples: [["re_1"]] }),
    closed_at: timestamp.nullable().meta({ description: "Null while it is open." }),
    note: z.string().nullable().meta({ description: "What was done about it." }),
  }),
  { id: "ReconciliationException", description: "What two records disagree about." },
  { noticed_at: exampleTimes.paid },
);
const closeSchema = z
  .strictObject({
    note: text(1, 1_000).meta({ description: "What was done about it." }),
    occasions: occasions.optional().meta({ description: "Those you saw. With more by now, it stays open." }),
  })
  .meta({ id: "CloseException", examples: [{ note: exampleNote }] });
const exceptionsQuery = z.strictObject({
  ...pageFieldsOf("exception", "uuid"),
  status: z.enum(["open", "closed"]).optional().meta({ description: "`open` waits for a person." }),
});

export function exceptionEndpoints(database: Database, lanes: Lanes): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listReconciliationExceptions",
      path: "/ops/v1/reconciliation-exceptions",
      summary: "What acquirers said or did that cannot be, oldest first; `status=open` waits for a person",
      tag: "Acquirers",
      role: "viewer",
      query: exceptionsQuery,
      success: { description: "A page of them.", schema: listSchema(exceptionSchema, "ReconciliationExceptionList") },
      async handle({ query }) {
        const after = await cursorOf(query, (id) => readException(database, id));
        const open = query.status && query.status === "open";
        const rows = await database.query(selectExceptions(open, after, limitOf(query)));
        return page(rows.map(exceptionOfRow), query, exceptionView, ({ uuid }) => uuid);
      },
    }),
    operatorEndpoint({
      method: "POST",
      operationId: "closeReconciliationException",
      path: "/ops/v1/reconciliation-exceptions/{uuid}/close",
      params: exceptionParams,
      summary: "Close one, with what was done about it",
      tag: "Acquirers",
      role: "admin",
      body: closeSchema,
      success: { description: "It, closed.", schema: exceptionSchema },
      async handle({ params: { uuid = "" }, body }) {
        const found = await readException(database, uuid);
        if (!found) throw new Fault("OBJECT_NOT_FOUND", { message: "No such reconciliation exception is open." });
        const closed = await lanes.move(found.book.merchantId, {
          name: "close reconciliation exception",
          book: found.book,
          needs: [need(exceptions, found)],
          execute: (set, { realNow }) => closeException({ set, realNow }, found, body),
        });
        return reply(200, exceptionView(closed));
      },
    }),
  ];
}

/** An exception of any merchant by its identity, open or closed; undefined when there is none. */
export async function readException(database: Database, uuid: string): Promise<ReconciliationException | undefined> {
  return isId("exception", uuid) ? database.first(selectException(uuid), exceptionOfRow) : undefined;
}

export function exceptionView(one: ReconciliationException): z.infer<typeof exceptionSchema> {
  return {
    uuid: one.uuid,
    merchant_id: one.book.merchantId,
    environment: one.book.environment,
    kind: one.kind,
    gateway_code: one.gatewayCode,
    operation: one.operationId,
    attempt: one.attempt,
    noticed_at: wireTime(one.noticedAt),
    occasions: [...one.occasions],
    closed_at: wireTimeOrNull(one.closedAt),
    note: one.note ?? null,
  };
}
