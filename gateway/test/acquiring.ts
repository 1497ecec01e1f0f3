// Acquirer operations for pure tests, and the parts of acquirers that commands use.
import type { Acquirer } from "../src/acquirers/acquirer.ts";
import type { CallParts } from "../src/acquiring/calls.ts";
import type { ExceptionKey, ReconciliationException } from "../src/acquiring/exception.ts";
import { closeException } from "../src/acquiring/exceptions.ts";
import { exceptions } from "../src/acquiring/exceptions.sql.ts";
import type { OpeningParts } from "../src/acquiring/opening.ts";
import type { Operation } from "../src/acquiring/operation.ts";
import { endNeeds, planEnd, planPayment } from "../src/acquiring/planning.ts";
import type { KeptReceipt } from "../src/acquiring/receipt.ts";
import type { Clock, Micros } from "../src/ground/clock.ts";
import { newId } from "../src/ground/ids.ts";
import { createLog } from "../src/ground/log.ts";
import { createMetrics } from "../src/ground/metrics.ts";
import { reply } from "../src/ground/reply.ts";
import type { KeyRecord } from "../src/idempotency/idempotency.sql.ts";
import { type Payment, createdView } from "../src/payments/payment.ts";
import { Circuits } from "../src/routing/circuit.ts";
import type { RoutingTable } from "../src/routing/routing.ts";
import type { Command } from "../src/store/command.ts";
import type { Database, Row } from "../src/store/database.ts";
import { type WorkingSet, need } from "../src/store/working-set.ts";
import { NOW, book } from "./given.ts";

/** Parts with a routing table that prefers these acquirers in the given order. */
export function openingParts(...acquirers: Acquirer[]): OpeningParts {
  const table: RoutingTable = {
    version: 1,
    rules: acquirers.map(({ code }, index) => ({ gateway_code: code, priority: index + 1, weight: 1 })),
    acquirers,
    states: new Map(acquirers.map(({ code }) => [code, { enabled: true, health: "healthy" }])),
  };
  return {
    routingTable: () => table,
    payUrl: (_book, reference) => `https://pay.test/${reference}`,
    isOpen: () => true,
    acquirer: (code) => acquirers.find((acquirer) => acquirer.code === code),
    callbackUrl: (code) => `https://gateway.test/${code}`,
    planPayment,
    endNeeds,
    planEnd: (context, payment) =>
      planEnd((code) => acquirers.find((acquirer) => acquirer.code === code), context, payment),
    createdReply: (payment) => reply(201, createdView(payment, `https://pay.test/${payment.reference}`)),
  };
}

/** A person closes an exception, having seen these occasions of it. */
export function closing(
  key: ExceptionKey,
  note: string,
  occasions?: readonly string[],
): Command<ReconciliationException> {
  const execute = (set: WorkingSet) => closeException({ set, realNow: NOW }, key, { note, occasions });
  return { name: "close", book, needs: [need(exceptions, key)], execute };
}

/** The parts with which calls are made, with the test's clock. The database has no other operation, unless the test says so. */
export function callParts(clock: Clock, others: Row[] = []): CallParts & { database: Database } {
  const database = { query: async () => others } as unknown as Database;
  return {
    circuits: new Circuits(),
    clock,
    leaseClock: clock,
    metrics: createMetrics(),
    log: createLog("silent"),
    database,
  };
}

/** An operation whose first call, to the acquirer `kawah`, is being made: of a payment, or of a refund when the changes say so. */
export function anOperation(id: string, changes: Partial<Operation> = {}): Operation {
  return {
    book,
    id,
    kind: "payment",
    paymentReference: id,
    step: "calling",
    gatewayCode: "kawah",
    attempt: 1,
    providerIds: undefined,
    round: 0,
    refusedBy: [],
    idempotencyKey: undefined,
    review: undefined,
    inquiries: 0,
    dueAt: NOW + 5_400_000,
    createdAt: NOW,
    ...changes,
  };
}

/** Money of 1,000,000 that the acquirer `kawah` reported as the transaction `t-1`, and that no payment awaited. */
export function aReceipt(changes: Partial<KeptReceipt> = {}): KeptReceipt {
  return {
    book,
    uuid: newId("receipt", NOW),
    gatewayCode: "kawah",
    transactionId: "t-1",
    paymentReference: newId("payment", NOW),
    amountMinor: 1_000_000n,
    currency: "IDR",
    status: "unapplied",
    receivedAt: NOW,
    decidedAt: undefined,
    ...changes,
  };
}

/** A clock that a test moves. */
export function movableClock(at: Micros = NOW): Clock & { at: Micros } {
  return {
    at,
    now() {
      return this.at;
    },
  };
}

/** The record of the idempotency key of a payment's creation that is still in progress. */
export function keyInProgress(key: string, { createdAt }: Pick<Payment, "createdAt">): KeyRecord {
  return {
    book,
    key,
    endpoint: "POST /v1/payments",
    bodyDigest: Buffer.alloc(32, 1),
    firstSeenAt: createdAt,
    status: undefined,
    response: undefined,
  };
}
