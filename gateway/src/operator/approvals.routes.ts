// The endpoints of approvals: the policy, changes that wait for a second operator, and decisions about them.
import { reply } from "../ground/reply.ts";
import { cursorOf, limitOf, page } from "../http/lists.ts";
import { isLooser } from "./approval.ts";
import {
  approvalListSchema,
  approvalParams,
  approvalRecordSchema,
  approvalSchema,
  approvalView,
  approvalsQuery,
  decideSchema,
  policySchema,
  policyView,
  setPolicySchema,
} from "./approvals.schema.ts";
import { rulesOfWire } from "./approvals.sql.ts";
import { type Approvals, staleVersion } from "./approvals.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";

const path = "/ops/v1/approvals";
const tag = "Approvals";

export function approvalEndpoints(approvals: Approvals): OperatorEndpoint[] {
  return [...policyEndpoints(approvals), ...readEndpoints(approvals), ...decisionEndpoints(approvals)];
}

function policyEndpoints(approvals: Approvals): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "getApprovalPolicy",
      path: `${path}/policy`,
      summary: "Read which changes need a second operator",
      tag,
      role: "viewer",
      success: { description: "The policy.", schema: policySchema },
      handle: async () => reply(200, policyView(await approvals.policy())),
    }),
    operatorEndpoint({
      method: "PUT",
      operationId: "setApprovalPolicy",
      path: `${path}/policy`,
      summary: "Set which changes need a second operator",
      description:
        "To demand more is done at once. To demand less needs a second admin itself, while anything is demanded.",
      tag,
      role: "admin",
      body: setPolicySchema,
      success: { description: "The policy, good in every process.", schema: policySchema },
      approval: {
        action: "loosen_policy",
        async foresee({ body }) {
          const { version, rules } = await approvals.policy();
          // The check below holds only for the version that the change replaces, so any other version is rejected.
          if (version !== body.version) throw staleVersion(body.version, version);
          if (!isLooser(rules, rulesOfWire(body.actions))) return undefined;
          return { summary: `Loosen the approval policy: version ${version} is replaced` };
        },
        async lookUp({ body, operator }) {
          const now = await approvals.policy();
          const asked = rulesOfWire(body.actions);
          // The same operator may have set other rules from this version since.
          const isAsked = !isLooser(now.rules, asked) && !isLooser(asked, now.rules);
          const isDone = isAsked && now.version === body.version + 1 && now.changedBy === operator.name;
          return isDone ? reply(200, policyView(now)) : undefined;
        },
      },
      async handle({ body, operator }) {
        const rules = rulesOfWire(body.actions);
        return reply(200, policyView(await approvals.setPolicy(body.version, rules, operator.name)));
      },
    }),
  ];
}

function readEndpoints(approvals: Approvals): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listApprovals",
      path,
      summary: "List changes that needed a second operator, newest first; `status=waiting` can be decided",
      tag,
      role: "viewer",
      query: approvalsQuery,
      success: { description: "A page of them.", schema: approvalListSchema },
      async handle({ query }) {
        const { status, payment_reference: paymentReference } = query;
        const after = await cursorOf(query, (id) => approvals.find(id));
        const found = await approvals.list({ status, paymentReference, after }, limitOf(query));
        return page(found, query, approvalView, ({ uuid }) => uuid);
      },
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "getApproval",
      path: `${path}/{uuid}`,
      params: approvalParams,
      summary: "Read one, with what it would do to the book as things stand, and whether you may approve it",
      tag,
      role: "viewer",
      success: { description: "The change, judged again.", schema: approvalRecordSchema },
      handle: async ({ params, operator }) =>
        reply(200, await approvals.record(await approvals.required(params.uuid ?? ""), operator)),
    }),
  ];
}

function decisionEndpoints(approvals: Approvals): OperatorEndpoint[] {
  const success = { description: "It, decided.", schema: approvalSchema };
  const errors = ["OBJECT_NOT_FOUND", "APPROVAL_CLOSED"] as const;
  const common = { method: "POST", params: approvalParams, tag, role: "support", success, errors } as const;
  return [
    operatorEndpoint({
      ...common,
      operationId: "approveApproval",
      path: `${path}/{uuid}/approve`,
      summary: "Approve a change that somebody else asked for; it runs now, once",
      description:
        "Whoever approves has another identity than whoever asked, no token that either made, access from before it was asked for, and the role of the " +
        "call itself. The call is judged again: `failed` and its `result` say when it was refused.",
      body: decideSchema,
      async handle({ params, operator, body }) {
        return reply(200, approvalView(await approvals.approve(params.uuid ?? "", operator, body.note)));
      },
    }),
    operatorEndpoint({
      ...common,
      operationId: "refuseApproval",
      path: `${path}/{uuid}/refuse`,
      summary: "Refuse a change that somebody else asked for; nothing is done",
      body: decideSchema,
      async handle({ params, operator, body }) {
        return reply(200, approvalView(await approvals.refuse(params.uuid ?? "", operator, body.note)));
      },
    }),
    operatorEndpoint({
      ...common,
      operationId: "withdrawApproval",
      path: `${path}/{uuid}/withdraw`,
      summary: "Take back a change that you asked for",
      async handle({ params, operator }) {
        return reply(200, approvalView(await approvals.withdraw(params.uuid ?? "", operator)));
      },
    }),
  ];
}
