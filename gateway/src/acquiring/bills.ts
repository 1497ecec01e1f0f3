// The bill of a payment, for an acquirer that asks what the payer owes before it takes the money.
import type { Bill } from "../acquirers/acquirer.ts";
import { SECOND } from "../ground/clock.ts";
import { selectBookOffset } from "../merchants/books.sql.ts";
import { paymentOfRow, selectPayment } from "../payments/payments.sql.ts";
import type { Database } from "../store/database.ts";
import { type Operation, readOperationKey } from "./operation.ts";
import { operationOfRow, selectOperation, selectOperationsOfAccount } from "./operations.sql.ts";
import type { AcquiringParts } from "./payment-operations.ts";

/** The bill of the payment with this operation key or account number; undefined when this acquirer was asked to collect no such payment. */
export async function billOf(
  parts: Pick<AcquiringParts, "database" | "directory" | "acquirer" | "clock">,
  gatewayCode: string,
  find: { operationKey: string } | { account: string },
): Promise<Bill | undefined> {
  const operation = await operationOf(parts, gatewayCode, find);
  if (operation?.kind !== "payment" || operation.gatewayCode !== gatewayCode) return undefined;
  const { book, id, providerIds } = operation;
  if (parts.acquirer(gatewayCode)?.environment !== book.environment) return undefined;
  const merchant = await parts.directory.merchant(book.merchantId);
  const [row] = await parts.database.query(selectPayment(book.merchantId, id));
  if (!merchant || !row) return undefined;
  const [clock] = await parts.database.query<{ clock_offset_seconds: bigint }>(selectBookOffset(book));
  const now = parts.clock.now() + Number(clock?.clock_offset_seconds ?? 0n) * SECOND;
  const { status, amountMinor, currency, expiresAt, instructions } = paymentOfRow(row);
  return {
    amountMinor,
    currency,
    merchantName: merchant.name,
    expiresAt,
    payable: status === "pending" && expiresAt > now,
    instructions,
    providerIds,
  };
}

async function operationOf(
  { database }: Pick<AcquiringParts, "database">,
  gatewayCode: string,
  find: { operationKey: string } | { account: string },
): Promise<Operation | undefined> {
  if ("account" in find) return operationOfAccount(database, gatewayCode, find.account);
  const name = readOperationKey(find.operationKey);
  if (!name) return undefined;
  const operation = await database.first(selectOperation(name.book, name.id), operationOfRow);
  return operation?.attempt === name.attempt ? operation : undefined;
}

/** The operation of the payment for which this acquirer issued the account number. One that two payers wait with is nobody's. */
export async function operationOfAccount(
  database: Database,
  gatewayCode: string,
  account: string,
): Promise<Operation | undefined> {
  const [row, other] = await database.query(selectOperationsOfAccount(gatewayCode, account));
  return row && other?.waits !== true ? operationOfRow(row) : undefined;
}
