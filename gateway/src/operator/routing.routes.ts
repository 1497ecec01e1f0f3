// Routing rules in versions: read, stored, tried on past payments, activated.
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { wireMinor, wireAmount } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import { listSchema, timestamp } from "../http/shapes.ts";
import { environments } from "../merchants/books.ts";
import { paymentMethods } from "../merchants/settings.ts";
import { objectionsTo } from "../routing/objections.ts";
import { Preview } from "../routing/preview.ts";
import { routingRuleSchema, routingRulesSchema } from "../routing/routing.ts";
import type { Router } from "../routing/router.ts";
import type { RuleSets } from "../routing/rule-sets.ts";
import type { RuleSet, RuleSetSummary } from "../routing/rules.sql.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { page, unknownCursor } from "../http/lists.ts";
import { limitOf, pageFields } from "./lists.ts";

export interface RoutingEndpointParts {
  ruleSets: RuleSets;
  router: Router;
}

const path = "/ops/v1/routing/rules";
const tag = "Routing";
const PREVIEW_DEFAULT = 1_000;
const PREVIEW_MAX = 10_000;
/** Payments decided between two looks at other requests. */
const PREVIEW_STEP = 100;

const summarySchema = z.strictObject({
  version: z.int().min(1),
  active: z.boolean(),
  created_at: timestamp,
  rule_count: z.int(),
});
const ruleSetSchema = summarySchema.extend({ rules: z.array(routingRuleSchema) });

const count = z.int().min(0);
const code = z.string().nullable().meta({ description: "Null: no acquirer would take it." });
const costMinor = z
  .int()
  .nullable()
  .meta({ description: "Minor units; null when the sum is beyond what JSON numbers carry exactly." });
const previewSchema = z.strictObject({
  rules_version: z.int().meta({ description: "The version tried: `after`." }),
  active_version: z.int().meta({ description: "The version that decides today: `before`." }),
  environment: z.enum(environments),
  payments: count.meta({ description: "Payments looked at; `limit` or fewer." }),
  changed: count.meta({ description: "Payments that would go to another acquirer." }),
  gateways: z.array(z.strictObject({ gateway_code: code, before: count, after: count })),
  acquirer_cost: z.array(z.strictObject({ currency: z.string(), before_minor: costMinor, after_minor: costMinor })),
  examples: z.array(
    z.strictObject({
      reference: z.string(),
      payment_method: z.enum(paymentMethods),
      currency: z.string(),
      amount_minor: z.int(),
      before: code,
      after: code,
    }),
  ),
});

const previewBodySchema = z.strictObject({
  environment: z
    .enum(environments)
    .optional()
    .meta({ description: "Whose payments: `sandbox` when absent. Rules for both stand in one version." }),
  limit: z
    .int()
    .min(1)
    .max(PREVIEW_MAX)
    .optional()
    .meta({ description: `${PREVIEW_DEFAULT} when absent.` }),
});

/** Rules each of which can decide something. */
function newRulesSchema(router: Router) {
  return z.strictObject({ rules: routingRulesSchema }).superRefine(({ rules }, context) => {
    for (const { at, field, message } of objectionsTo(rules, router.table.acquirers)) {
      context.addIssue({ code: "custom", path: ["rules", at, ...(field ? [field] : [])], message });
    }
  });
}

export function routingEndpoints({ ruleSets, router }: RoutingEndpointParts): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      path,
      summary: "List the versions of the routing rules, newest first",
      tag,
      role: "viewer",
      query: z.strictObject(pageFields("version", (value) => versionOf(value) !== undefined)),
      success: { status: 200, description: "A page of versions.", schema: listSchema(summarySchema) },
      errors: [],
      async handle({ query }) {
        const { starting_after: cursor } = query;
        const after = versionOf(cursor);
        if (cursor !== undefined && after !== undefined && !(await ruleSets.read(after))) throw unknownCursor(cursor);
        const limit = limitOf(query);
        const rows = await ruleSets.list(after, limit + 1);
        return page(rows, limit, summaryView, (row) => String(row.version));
      },
    }),
    operatorEndpoint({
      method: "GET",
      path: `${path}/{version}`,
      summary: "Read a version of the routing rules",
      tag,
      role: "viewer",
      success: { status: 200, description: "The version and its rules.", schema: ruleSetSchema },
      errors: ["OBJECT_NOT_FOUND"],
      handle: async ({ params }) => reply(200, view(await required(ruleSets, params.version))),
    }),
    operatorEndpoint({
      method: "POST",
      path,
      summary: "Store rules as the next version; it decides nothing until it is activated",
      tag,
      role: "admin",
      body: newRulesSchema(router),
      success: { status: 201, description: "The new version.", schema: ruleSetSchema },
      errors: [],
      handle: async ({ body }) => reply(201, view(await ruleSets.add(body.rules))),
    }),
    operatorEndpoint({
      method: "POST",
      path: `${path}/{version}/preview`,
      summary: "Try a version on the newest payments of an environment; changes nothing",
      tag,
      role: "viewer",
      changesNothing: true,
      body: previewBodySchema,
      success: { status: 200, description: "Who would take them, and what that costs.", schema: previewSchema },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ params, body }) {
        const { version, rules } = await required(ruleSets, params.version);
        const now = router.table;
        // Both sides see the acquirers as they are at this moment, so every difference comes from the rules.
        const preview = new Preview(now, { ...now, version, rules });
        const environment = body.environment ?? "sandbox";
        const requests = await ruleSets.recentRequests(environment, body.limit ?? PREVIEW_DEFAULT);
        for (const [at, request] of requests.entries()) {
          if (at % PREVIEW_STEP === PREVIEW_STEP - 1) await setImmediate();
          preview.add(request);
        }
        return reply(200, { environment, ...previewView(preview, version, now.version) });
      },
    }),
    operatorEndpoint({
      method: "POST",
      path: `${path}/{version}/activate`,
      summary: "Let a version decide, in every process within a second",
      tag,
      role: "admin",
      success: { status: 200, description: "The version, active now.", schema: ruleSetSchema },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ params }) {
        const version = versionOf(params.version);
        const activated = version === undefined ? undefined : await ruleSets.activate(version);
        if (!activated) throw noSuchVersion();
        return reply(200, view(activated));
      },
    }),
  ];
}

function versionOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

function noSuchVersion(): Fault {
  return new Fault("OBJECT_NOT_FOUND", { message: "No such version of the routing rules." });
}

async function required(ruleSets: RuleSets, text: string | undefined): Promise<RuleSet> {
  const version = versionOf(text);
  const ruleSet = version === undefined ? undefined : await ruleSets.read(version);
  if (!ruleSet) throw noSuchVersion();
  return ruleSet;
}

function summaryView(ruleSet: RuleSetSummary): z.infer<typeof summarySchema> {
  const { version, active, createdAt, ruleCount } = ruleSet;
  return { version, active, created_at: wireTime(createdAt), rule_count: ruleCount };
}

function view(ruleSet: RuleSet): z.infer<typeof ruleSetSchema> {
  return { ...summaryView(ruleSet), rules: ruleSet.rules };
}

function previewView(
  preview: Preview,
  version: number,
  activeVersion: number,
): Omit<z.infer<typeof previewSchema>, "environment"> {
  return {
    rules_version: version,
    active_version: activeVersion,
    payments: preview.payments,
    changed: preview.changed,
    gateways: preview.shares.map(({ code, before, after }) => ({ gateway_code: code ?? null, before, after })),
    acquirer_cost: preview.costs.map(({ currency, beforeMinor, afterMinor }) => ({
      currency,
      before_minor: wireMinor(beforeMinor),
      after_minor: wireMinor(afterMinor),
    })),
    examples: preview.examples.map(({ request, before, after }) => ({
      reference: request.draw,
      payment_method: request.method,
      currency: request.currency,
      amount_minor: wireAmount(request.amountMinor),
      before: before ?? null,
      after: after ?? null,
    })),
  };
}
