// The door for acquirers: signed callbacks about payments and refunds. They may come late, twice or in another order.
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Callback, Standing } from "../acquirers/acquirer.ts";
import {
  type OperationName,
  operationOfRow,
  operations,
  readOperationKey,
  selectOperation,
} from "../acquirers/operations.sql.ts";
import { Fault } from "../ground/fault.ts";
import { reply } from "../http/envelope.ts";
import { sendReply } from "../http/server.ts";
import { bookNow } from "../merchants/books.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { AcquiringParts } from "../payments/acquiring.ts";
import { type PaymentParts, findLocked, paymentNeeds } from "../payments/payments.ts";
import { accept, applyStanding, wordNeeds } from "../payments/words.ts";
import { settleRefund } from "../refunds/acquiring.ts";
import type { Command } from "../store/lane.ts";
import { need } from "../store/working-set.ts";

export function openCallbacks(server: FastifyInstance, parts: AcquiringParts): void {
  server.post("/acquirers/:gateway_code/callbacks", async (request, response) => {
    const { gateway_code: code } = request.params as { gateway_code: string };
    const callback = read(parts, code, request);
    const name = readOperationKey(callback.operationKey);
    if (!name || name.kind !== callback.kind) throw unknownOperation();
    const merchant = await parts.directory.merchant(name.book.merchantId);
    if (!merchant) throw unknownOperation();
    if (callback.kind === "payment") await takePaymentWord(parts, merchant, name, code, callback.standing);
    else await takeRefundWord(parts, merchant, name, code, callback.status);
    return sendReply(response, reply(200, { received: true }));
  });
}

/** Throws ROUTE_NOT_FOUND for an acquirer that is not configured, and what is wrong with the signature or the body. */
function read(parts: AcquiringParts, code: string, request: FastifyRequest): Callback {
  const calls = parts.acquirer(code)?.calls;
  if (!calls) throw new Fault("ROUTE_NOT_FOUND");
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return calls.readCallback(request.url, request.headers, body, parts.clock.now());
}

/** An acquirer that reports what it was never asked makes a mistake that a person should see: it is told, and tries again. */
function unknownOperation(): Fault {
  return new Fault("OBJECT_NOT_FOUND", { message: "No such operation was asked of this acquirer." });
}

async function takePaymentWord(
  parts: AcquiringParts,
  merchant: Merchant,
  name: OperationName,
  code: string,
  standing: Standing,
): Promise<void> {
  const [row] = await parts.database.query(selectOperation(name.book, name.id));
  if (!row || operationOfRow(row).attempt < name.attempt) throw unknownOperation();
  await parts.lanes.move(merchant.merchantId, paymentWord(parts, merchant, name, code, standing));
}

/** Takes an acquirer's word of a payment. What belongs to another attempt than the present one moves nothing but its money. */
export function paymentWord(
  parts: PaymentParts,
  merchant: Merchant,
  { book, id, attempt }: OperationName,
  gatewayCode: string,
  standing: Standing,
): Command<void> {
  return {
    name: "take acquirer's word",
    needs: [...paymentNeeds(book, id), need(operations, { book, id }), ...wordNeeds(book, gatewayCode, standing)],
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const payment = findLocked(set, book, id);
      const operation = set.get(operations, { book, id });
      const present = operation?.attempt === attempt && operation.gatewayCode === gatewayCode;
      if (!present && standing.status !== "paid") return;
      // It may speak before its answer to our call has arrived: then this is how we learn that it has the payment.
      const taken = present
        ? accept(parts, set, merchant, payment, { gatewayCode, instructions: undefined }, now)
        : payment;
      applyStanding(parts, set, merchant, taken, gatewayCode, standing, now);
    },
  };
}

async function takeRefundWord(
  parts: AcquiringParts,
  merchant: Merchant,
  name: OperationName,
  code: string,
  status: "pending" | "succeeded" | "failed",
): Promise<void> {
  const [row] = await parts.database.query(selectOperation(name.book, name.id));
  const operation = row && operationOfRow(row);
  if (!operation || operation.gatewayCode !== code || operation.attempt < name.attempt) throw unknownOperation();
  if (status === "pending") return;
  const { paymentReference } = operation;
  await parts.lanes.move(
    merchant.merchantId,
    settleRefund(parts, merchant, { ...name, paymentReference }, { kind: "known", status }),
  );
}
