// The JSON schemas of approvals: the policy, a change that waits for a second operator, and its effects on the book.
import { z } from "zod";
import { wholeBetween } from "../ground/whole.ts";
import { operatorRoleField } from "../access/session.schema.ts";
import { HOUR, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { MINOR_MAX, exponentOf, isCurrency, wireAmount, wireMinor } from "../ground/money.ts";
import { exampleIds, exampleSignature, exampleTimes } from "../http/examples.ts";
import {
  currencyCode,
  environmentField,
  exampleOf,
  exponentField,
  identity,
  inPath,
  listSchema,
  minorAmount,
  text,
  textOrNull,
  timestamp,
  wholeOrNull,
  withExample,
} from "../http/shapes.ts";
import type { Posting } from "../ledger/journal.ts";
import { keptBody } from "./audit.ts";
import { APPROVAL_HOURS, approvalActions, approvalStatuses, type PolicyAction, policyActions } from "./approval.ts";
import { type Approval, type Policy, wireRules } from "./approvals.sql.ts";
import { idField, pageFieldsOf } from "./lists.ts";

const CURRENCIES_MAX = 20;

export const approvalParams = { uuid: inPath("approval", "ApprovalUuid", "`uuid` of the approval.") };

const aboveMinor = z
  .record(z.string(), z.int().min(0).max(Number(MINOR_MAX)))
  .refine((bounds) => Object.keys(bounds).length <= CURRENCIES_MAX, `has at most ${CURRENCIES_MAX} currencies`)
  .refine((bounds) => Object.keys(bounds).every(isCurrency), "has a currency that there is not")
  .optional()
  .meta({
    id: "ApprovalBounds",
    description:
      "Only above this much, by currency, in its minor units. A currency that is not named always needs a second operator.",
    examples: [{ IDR: 1_000_000_000 }],
  });
const ruleSchema = z
  .strictObject({ above_minor: aboveMinor })
  .meta({ id: "ApprovalRule", description: "The action needs a second operator.", examples: [{}] });
const about: Record<PolicyAction, string> = {
  refund_payment: "Refunds of a payment; held against the bound with what went back of it before.",
  approve_review: "Letting a payment under review go on.",
  resolve_dispute: "Deciding a dispute, and recording one: what nobody answers is lost.",
  decide_receipt: "Giving money that no payment awaited to its merchant, or returning it.",
  record_outcome: "Recording what became of a refund or payment that its acquirer leaves open.",
  record_payout: "Recording that the bank paid or returned a batch.",
  activate_routing: "Letting a version of the routing rules decide, a roll back too.",
  enable_acquirer: "Switching an acquirer on, or stating that it is better. Switching off alone never waits.",
};
const rulesSchema = z
  .strictObject(
    Object.fromEntries(
      policyActions.map((action) => [action, ruleSchema.optional().meta({ description: about[action] })]),
    ) as Record<PolicyAction, z.ZodOptional<typeof ruleSchema>>,
  )
  .meta({
    id: "ApprovalRules",
    description: "The actions that need a second operator. One that is left out needs none.",
    examples: [{ refund_payment: { above_minor: { IDR: 1_000_000_000 } }, activate_routing: {} }],
  });

const version = wholeBetween(0, 1_000_000_000).meta({ examples: [3] });
export const policySchema = z
  .strictObject({
    version: version.meta({ description: "0 before there was one." }),
    actions: rulesSchema,
    changed_at: timestamp.nullable(),
    changed_by: textOrNull("sari"),
  })
  .meta({
    id: "ApprovalPolicy",
    description: "Which changes need a second operator.",
    examples: [{ version: 3, actions: exampleOf(rulesSchema), changed_at: exampleTimes.created, changed_by: "sari" }],
  });

export const setPolicySchema = z
  .strictObject({
    version: version.meta({
      description: "The version that you have read: a policy that changed meanwhile is not overwritten.",
    }),
    actions: rulesSchema,
  })
  .meta({ id: "SetApprovalPolicy", examples: [{ version: 3, actions: exampleOf(rulesSchema) }] });

const approvalStatus = z.enum(approvalStatuses).meta({
  id: "ApprovalStatus",
  description:
    "`executing`: approved, and what came of it is not known yet. `unknown`: nor will it be; look at the object. `failed`: it was judged again when " +
    "it ran, and refused.",
});
const operatorName = z
  .string()
  .meta({ description: "Name of the token, or the person's e-mail address.", examples: ["sari"] });

const requestSchema = z
  .strictObject({
    operation: z.string().meta({ description: "`operationId` of this contract.", examples: ["refundPayment"] }),
    method: z.string().meta({ examples: ["POST"] }),
    path: z.string().meta({ examples: [`/ops/v1/payments/${exampleIds.payment}/refunds`] }),
    body: z.unknown().meta({ description: "As it was sent, without secrets." }),
    body_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .meta({ description: "Of the bytes that run when it is approved.", examples: [exampleSignature] }),
  })
  .meta({ id: "AskedRequest", description: "The call that was asked for, kept to the byte." });

const resultSchema = z
  .strictObject({
    status: wholeBetween(200, 599).meta({ examples: [201] }),
    body: z.unknown().meta({ description: "The answer, without secrets and without the payer." }),
  })
  .meta({ id: "ApprovalResult", description: "How the call was answered when it ran." });

export const approvalSchema = withExample(
  z.strictObject({
    uuid: identity("approval"),
    action: z.enum(approvalActions).meta({ id: "ApprovalAction" }),
    status: approvalStatus,
    summary: z.string().meta({ description: "What it would do, in words, as it stood when it was asked for." }),
    merchant_id: identity("merchant").nullable().meta({ description: "Whom it is about; null for nobody." }),
    merchant_name: textOrNull("Kopi Melati"),
    environment: environmentField.nullable(),
    payment_reference: identity("payment").nullable(),
    amount_minor: minorAmount("What it moves, or lets move; null when it moves nothing.", 5_000_000).nullable(),
    currency: currencyCode.nullable(),
    exponent: exponentField.nullable(),
    request: requestSchema,
    least_role: operatorRoleField.meta({ description: "The least role that may approve it: that of the call itself." }),
    asked_by: operatorName,
    asked_at: timestamp,
    expires_at: timestamp.meta({ description: `${APPROVAL_HOURS} hours after it was asked for.` }),
    decided_by: operatorName.nullable().meta({ description: "Who approved, refused or took it back." }),
    decided_at: timestamp.nullable(),
    note: textOrNull("Checked with the merchant", "What whoever decided had to say."),
    result: resultSchema.nullable().meta({ description: "Null before it ran." }),
  }),
  { id: "Approval", description: "A change that needs a second operator." },
  {
    summary: `Refund IDR 50,000.00 of ${exampleIds.payment} to its payer: Paid twice`,
    merchant_id: exampleIds.merchant,
    environment: "production",
    payment_reference: exampleIds.payment,
    amount_minor: 5_000_000,
    currency: "IDR",
    exponent: 2,
    request: {
      operation: "refundPayment",
      method: "POST",
      path: `/ops/v1/payments/${exampleIds.payment}/refunds`,
      body: { amount_minor: 5_000_000, reason: "Paid twice" },
      body_sha256: exampleSignature,
    },
    least_role: "admin",
    expires_at: exampleTimes.disputed,
    note: null,
  },
);

export const askedSchema = z.strictObject({ approval: approvalSchema }).meta({
  id: "ApprovalAsked",
  description: "What was asked for, and where it stands: nothing was done before a second operator approved it.",
  examples: [{ approval: exampleOf(approvalSchema) }],
});

export const approvalListSchema = listSchema(approvalSchema, "ApprovalList");

export const approvalsQuery = z.strictObject({
  status: approvalStatus.optional().meta({ description: "Only these; `waiting` can be decided." }),
  payment_reference: idField("payment").meta({ description: "Only what is about this payment." }),
  ...pageFieldsOf("approval", "uuid"),
});

const effectSchema = z
  .strictObject({
    account: z.string().meta({ examples: ["merchant:available"] }),
    currency: currencyCode,
    exponent: exponentField,
    before_minor: wholeOrNull(
      -14_895_000,
      "The balance now, debits minus credits; null when it is beyond what JSON numbers carry exactly.",
    ),
    change_minor: wholeOrNull(-14_895_000, "What it would add."),
    after_minor: wholeOrNull(-14_895_000, "The balance after it."),
  })
  .meta({ id: "ApprovalEffect", description: "What would happen to one account of the book." });

const faultSchema = z
  .strictObject({ code: z.string().meta({ examples: ["REFUND_EXCEEDS_PAYMENT"] }), message: z.string() })
  .meta({ id: "ForeseenFault", description: "Why it would be refused." });

/** An effect on funds that are owed to the merchant. */
const exampleEffect = (changeMinor: number): z.infer<typeof effectSchema> => ({
  account: "merchant:available",
  currency: "IDR",
  exponent: 2,
  before_minor: -14_895_000,
  change_minor: changeMinor,
  after_minor: changeMinor - 14_895_000,
});

export const approvalRecordSchema = withExample(
  approvalSchema.extend({
    effects: z.array(effectSchema).meta({
      description:
        "The journal that it would post as things stand now; none once it is decided, and of what moves no money.",
    }),
    would_fail: faultSchema.nullable().meta({ description: "As things stand now. Null: nothing speaks against it." }),
    objection: textOrNull("You asked for this yourself.", "Why you cannot approve it; null when you can."),
    is_yours: z.boolean().meta({ description: "True when you asked for it, and may take it back." }),
  }),
  { id: "ApprovalRecord", description: "A change that needs a second operator, with what it would do." },
  { ...exampleOf(approvalSchema), effects: [exampleEffect(5_000_000)], objection: null, is_yours: false },
);

export const outlookSchema = withExample(
  z.strictObject({
    operation: z.string().meta({ description: "`operationId` of the call that does it.", examples: ["decideDispute"] }),
    method: z.string().meta({ examples: ["POST"] }),
    path: z.string().meta({ examples: [`/ops/v1/reviews/${exampleIds.payment}/approve`] }),
    body: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "What is sent; null when nothing is.", examples: [{ outcome: "won" }] }),
    least_role: operatorRoleField.meta({ description: "The least role that may do it." }),
    needs_approval: z.boolean().meta({ description: "True when it would wait for a second operator." }),
    summary: z.string().nullable().meta({ description: "What it would do, in words; null when it cannot be done." }),
    effects: z.array(effectSchema).meta({ description: "The journal that it would post as things stand now." }),
    would_fail: faultSchema.nullable().meta({ description: "Why it cannot be done; null when it can." }),
  }),
  { id: "DecisionOutlook", description: "A decision that can be taken, and what it would do." },
  {
    path: `/ops/v1/merchants/${exampleIds.merchant}/books/production/disputes/${exampleIds.dispute}/resolve`,
    least_role: "admin",
    needs_approval: false,
    summary: `Decide the dispute of ${exampleIds.payment} as won: IDR 100,000.00 are free for the merchant again`,
    effects: [exampleEffect(-10_000_000)],
  },
);
export type DecisionOutlook = z.infer<typeof outlookSchema>;

export const decideSchema = z
  .strictObject({ note: text(1, 500).optional().meta({ description: "Why; everybody sees it." }) })
  .meta({ id: "DecideApproval", examples: [{ note: "Checked with the merchant" }] });

export function policyView({ version: number, rules, changedAt, changedBy }: Policy): z.infer<typeof policySchema> {
  return {
    version: number,
    actions: wireRules(rules),
    changed_at: wireTimeOrNull(changedAt),
    changed_by: changedBy ?? null,
  };
}

export function approvalView(approval: Approval): z.infer<typeof approvalSchema> {
  const { request, book, amount, decision, answer } = approval;
  return {
    uuid: approval.uuid,
    action: approval.action,
    status: approval.status,
    summary: approval.summary,
    merchant_id: book?.merchantId ?? null,
    merchant_name: approval.merchantName ?? null,
    environment: book?.environment ?? null,
    payment_reference: approval.paymentReference ?? null,
    amount_minor: amount === undefined ? null : wireAmount(amount.amountMinor),
    currency: amount?.currency ?? null,
    exponent: amount === undefined ? null : exponentOf(amount.currency),
    request: {
      operation: request.operation,
      method: request.method,
      path: request.path,
      body: shownBody(request.body),
      body_sha256: request.digest.toString("hex"),
    },
    least_role: approval.leastRole,
    asked_by: approval.askedBy.name,
    asked_at: wireTime(approval.askedAt),
    expires_at: wireTime(approval.askedAt + APPROVAL_HOURS * HOUR),
    decided_by: decision?.by.name ?? null,
    decided_at: wireTimeOrNull(decision?.at),
    note: decision?.note ?? null,
    result: answer === undefined ? null : { status: answer.status, body: answer.body },
  };
}

function shownBody(body: Buffer): unknown {
  if (body.length === 0) return null;
  return JSON.parse(keptBody(JSON.parse(body.toString("utf8"))) ?? "null");
}

/** The balance before and after, for each account that the journal would touch. */
export function effectsOf(
  postings: readonly Posting[],
  balances: ReadonlyMap<string, bigint>,
): z.infer<typeof effectSchema>[] {
  return postings.map(({ account, currency, amountMinor }) => {
    const before = balances.get(`${account} ${currency}`) ?? 0n;
    return {
      account,
      currency,
      exponent: exponentOf(currency),
      before_minor: wireMinor(before),
      change_minor: wireMinor(amountMinor),
      after_minor: wireMinor(before + amountMinor),
    };
  });
}
