// A payment's record for operators: the story that its merchant reads, and what only operators see.
import { z } from "zod";
import { type Operation, operationKey, operationSteps, wasCalled } from "../acquiring/operation.ts";
import { exceptionOfRow } from "../acquiring/exceptions.sql.ts";
import { operationOfRow } from "../acquiring/operations.sql.ts";
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { exampleIds, exampleOperationKey, exampleTimes } from "../http/examples.ts";
import { environmentField, exampleOf, identity, textOrNull, timestamp, withExample } from "../http/shapes.ts";
import type { Directory } from "../merchants/directory.ts";
import { type MerchantAuditEntry, merchantAuditOfRow } from "../people/audit.sql.ts";
import { actions } from "../people/roles.ts";
import { awaitsSettlement } from "../payments/payment.ts";
import { paymentOfRow } from "../payments/payments.sql.ts";
import type { Outlooks } from "../settlements/outlook.ts";
import { operationObject } from "../story/at-acquirer.schema.ts";
import { storySchema } from "../story/story.schema.ts";
import { type StoryParts, readStory } from "../story/story.ts";
import { auditEntrySchema, auditEntryView } from "./audit.routes.ts";
import type { Audit } from "./audit.ts";
import { selectExceptionsOf, selectOperationsOf, selectPeopleAbout } from "./payment-record.sql.ts";
import { selectAnyPayment } from "./payments.sql.ts";
import { exceptionSchema, exceptionView } from "./reconciliation-exceptions.routes.ts";
import { readRiskSeen, riskSeenSchema } from "./risk-seen.ts";

const ownerSchema = withExample(
  z.strictObject({
    merchant_id: identity("merchant"),
    name: z.string().meta({ examples: ["Kopi Melati"] }),
    suspended: z.boolean(),
    environment: environmentField,
  }),
  {
    id: "PaymentOwner",
    description: "Whose payment it is.",
  },
  { suspended: false, environment: "production" },
);

const operationSchema = withExample(
  z.strictObject({
    object: operationObject,
    gateway_code: z.string().meta({ examples: ["nusantara"] }),
    step: z.enum(operationSteps).meta({ description: "`done`: nothing is left to do." }),
    operation_key: textOrNull(
      exampleOperationKey,
      "Our name for the call, for the acquirer's support; null before it is made.",
    ),
    attempt: z.int().min(1).meta({ description: "Calls so far, each under its own operation key." }),
    refusals: z.int().min(0).meta({ description: "How often all acquirers have refused it." }),
    refused_by: z.array(z.string()).meta({ description: "Acquirers that refused it in this round." }),
    inquiries: z.int().min(0).meta({ description: "How often it was asked since the last call." }),
    next_at: timestamp.nullable().meta({ description: "When it is looked at again; null when nothing is left." }),
    created_at: timestamp,
  }),
  { id: "PaymentOperation", description: "What an acquirer was asked to do over a network." },
  { step: "done", attempt: 1, refusals: 0, refused_by: [], inquiries: 0 },
);

const byPersonSchema = withExample(
  z.strictObject({
    request_id: identity("request"),
    at: timestamp,
    action: z.string().meta({ examples: ["cancel_payment"] }),
    person_id: identity("person").nullable(),
    name: z.string().nullable().meta({ description: "Null for nobody who is known." }),
    address: z.string().nullable().meta({ description: "Where it was asked from." }),
    status: z.int().nullable().meta({ description: "Status of the answer; null when it was cut short." }),
  }),
  {
    id: "DoneByPerson",
    description: "What somebody of the merchant's did to it at the portal.",
  },
  { at: exampleTimes.refunded, person_id: exampleIds.person, name: "Sari", address: "203.0.113.7", status: 200 },
);

export const paymentRecordSchema = withExample(
  storySchema.omit({ withheld: true }).extend({
    merchant: ownerSchema,
    risk: riskSeenSchema,
    operations: z.array(operationSchema).meta({
      description: "How acquirers were called for it and its refunds; none where nothing goes over a network.",
    }),
    exceptions: z.array(exceptionSchema).meta({ description: "Where an acquirer's reports disagree with the book." }),
    audit: z
      .array(auditEntrySchema)
      .meta({ description: "What operators did to it, newest first; refused calls too." }),
    people: z.array(byPersonSchema).meta({
      description:
        "What the merchant's people did to it at the portal, newest first, among their last two thousand changes.",
    }),
  }),
  { id: "PaymentRecord", description: "A payment and everything that happened to it." },
  { steps: exampleOf(storySchema).steps, is_cut: false, exceptions: [], audit: [], people: [] },
);

export interface PaymentRecordParts extends StoryParts {
  directory: Directory;
  audit: Audit;
  /** The expected payout day of each payment, by reference; null without one. */
  estimatePayouts: Outlooks["estimate"];
}

const everything: ReadonlySet<string> = new Set(actions);

/** The record of a payment of any merchant. Throws PAYMENT_NOT_FOUND. */
export async function readPaymentRecord(
  parts: PaymentRecordParts,
  reference: string,
): Promise<z.infer<typeof paymentRecordSchema>> {
  const { database, directory, audit, estimatePayouts } = parts;
  const [row] = isId("payment", reference) ? await database.query(selectAnyPayment(reference)) : [];
  const payment = row && paymentOfRow(row);
  const merchant = payment && (await directory.merchant(payment.book.merchantId));
  if (!payment || !merchant) throw new Fault("PAYMENT_NOT_FOUND");
  const { book } = payment;
  const payout = async (): Promise<string | null> => {
    if (!awaitsSettlement(payment)) return null;
    return (await estimatePayouts({ merchant, book }, [payment])).get(reference) ?? null;
  };
  const [{ withheld: _, ...story }, risk] = await Promise.all([
    readStory(parts, { book, merchant }, reference, everything, payout),
    readRiskSeen(database, payment, merchant.settings),
  ]);
  const subjects = [reference, ...idsIn(story.steps, "refunded"), ...idsIn(story.steps, "disputed")];
  const called = subjects.filter((id) => !isId("dispute", id));
  const [operations = [], exceptions = [], people = []] = await database.pipeline([
    selectOperationsOf(book, called),
    selectExceptionsOf(book, called),
    selectPeopleAbout(book, subjects),
  ]);
  const disagreements = exceptions.map(exceptionOfRow);
  const touched = [...subjects, ...idsIn(story.steps, "received"), ...disagreements.map(({ uuid }) => uuid)];
  const entries = await audit.about(
    pathsOf(touched, `/ops/v1/merchants/${book.merchantId}/books/${book.environment}`),
    reference,
  );
  return {
    ...story,
    merchant: {
      merchant_id: book.merchantId,
      name: row.merchant_name as string,
      suspended: merchant.suspended,
      environment: book.environment,
    },
    risk,
    operations: operations.map((one) => operationView(operationOfRow(one))),
    exceptions: disagreements.map(exceptionView),
    audit: entries.map(auditEntryView),
    people: people.map((one) => byPersonView(merchantAuditOfRow(one))),
  };
}

/** The distinct identities of the objects in one kind of step. */
function idsIn(steps: z.infer<typeof storySchema>["steps"], kind: "refunded" | "disputed" | "received"): string[] {
  return [...new Set(steps.flatMap((step) => (step.kind === kind ? [step.object.uuid] : [])))];
}

/** The paths of all changes that operators can make to these objects of a book, and of recording a dispute in it, for finding them in the audit. */
function pathsOf(ids: readonly string[], book: string): string[] {
  const ofObjects = ids.flatMap((id) => {
    if (isId("payment", id))
      return [
        ...["refunds", "outcome"].map((word) => `/ops/v1/payments/${id}/${word}`),
        ...["approve", "refuse"].map((word) => `/ops/v1/reviews/${id}/${word}`),
      ];
    if (isId("refund", id)) return [`/ops/v1/refunds/${id}/outcome`];
    if (isId("receipt", id)) return [`/ops/v1/receipts/${id}/return`, `/ops/v1/receipts/${id}/credit`];
    if (isId("exception", id)) return [`/ops/v1/reconciliation-exceptions/${id}/close`];
    if (isId("dispute", id)) return ["resolve", "deadline", "evidence"].map((word) => `${book}/disputes/${id}/${word}`);
    return [];
  });
  return [`${book}/disputes`, ...ofObjects];
}

function operationView(operation: Operation): z.infer<typeof operationSchema> {
  return {
    object: operation.id,
    gateway_code: operation.gatewayCode,
    step: operation.step,
    operation_key: wasCalled(operation) ? operationKey(operation) : null,
    attempt: operation.attempt,
    refusals: operation.round,
    refused_by: [...operation.refusedBy],
    inquiries: operation.inquiries,
    next_at: wireTimeOrNull(operation.dueAt),
    created_at: wireTime(operation.createdAt),
  };
}

function byPersonView(entry: MerchantAuditEntry): z.infer<typeof byPersonSchema> {
  return {
    request_id: entry.auditId,
    at: wireTime(entry.at),
    action: entry.action,
    person_id: entry.person?.personId ?? null,
    name: entry.person?.name ?? null,
    address: entry.address ?? null,
    status: entry.status ?? null,
  };
}
