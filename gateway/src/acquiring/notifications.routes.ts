// HTTP for the notifications that acquirers send: signed, about payments and refunds. They may come late, twice or out of order.
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Callback as Notification } from "../acquirers/acquirer.ts";
import { type OperationName, type Operation, readOperationKey, wasCalled } from "./operation.ts";
import { operationOfRow, selectOperation } from "./operations.sql.ts";
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { sendReply } from "../http/server.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { AcquiringParts } from "./payment-operations.ts";
import { logException } from "./calls.ts";
import { paymentNotification } from "./notifications.ts";
import { concludeRefund } from "./refund-operations.ts";

export function openNotifications(server: FastifyInstance, parts: AcquiringParts): void {
  server.post("/acquirers/:gateway_code/callbacks", async (request, response) => {
    const { gateway_code: code } = request.params as { gateway_code: string };
    const notification = read(parts, code, request);
    response.proven();
    const name = readOperationKey(notification.operationKey);
    if (name?.kind !== notification.kind) throw unknownOperation();
    const merchant = await parts.directory.merchant(name.book.merchantId);
    const [row] = await parts.database.query(selectOperation(name.book, name.id));
    const operation = row && operationOfRow(row);
    if (!merchant || !operation || !wasRequested(parts, operation, name, code)) throw unknownOperation();
    if (notification.kind === "payment") {
      await parts.lanes.move(merchant.merchantId, paymentNotification(merchant, name, code, notification.standing));
    } else if (notification.status !== "pending") {
      await takeRefundNotification(parts, merchant, operation, name.attempt, notification.status);
    }
    return sendReply(response, reply(200, { received: true }));
  });
}

/** Throws ROUTE_NOT_FOUND for an acquirer that is not configured, and what is wrong with the signature or the body. */
function read(parts: AcquiringParts, code: string, request: FastifyRequest): Notification {
  const calls = parts.acquirer(code)?.calls;
  if (!calls) throw new Fault("ROUTE_NOT_FOUND");
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  // An acquirer signs the target as it sends it.
  return calls.readCallback(request.originalUrl, request.headers, body, parts.clock.now());
}

/** An acquirer that reports an operation which was never requested of it makes a mistake: it gets an error, and a person there sees it. */
function unknownOperation(): Fault {
  return new Fault("OBJECT_NOT_FOUND", { message: "No such operation was asked of this acquirer." });
}

/** Whether this operation was requested of this acquirer: in its own environment, and by a call that was made. */
function wasRequested(
  parts: AcquiringParts,
  operation: Operation,
  { book, kind, attempt }: OperationName,
  code: string,
): boolean {
  if (operation.kind !== kind || parts.acquirer(code)?.environment !== book.environment) return false;
  // A payment's earlier attempts may have gone to others; a refund stays with one.
  const own = kind === "refund" || attempt === operation.attempt;
  if (own && operation.gatewayCode !== code) return false;
  // A refund that is done keeps the attempt that did it; a notification about another attempt may be a reconciliation exception.
  if (kind === "refund" && operation.step === "done") return true;
  return attempt < operation.attempt || (attempt === operation.attempt && wasCalled(operation));
}

async function takeRefundNotification(
  parts: AcquiringParts,
  merchant: Merchant,
  operation: Operation,
  attempt: number,
  status: "succeeded" | "failed",
): Promise<void> {
  const command = concludeRefund(merchant, { ...operation, attempt }, { kind: "known", status });
  const exception = await parts.lanes.move(merchant.merchantId, command);
  if (exception) logException(parts.log, operation, exception);
}
