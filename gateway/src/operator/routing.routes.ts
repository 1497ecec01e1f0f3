// Endpoints of routing rules: versions are read, stored and activated. Rules are held against past payments in what-if.routes.ts.
import { z } from "zod";
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { listSchema } from "../http/shapes.ts";
import { faultsOfRules, objectionsTo } from "../routing/objections.ts";
import { routingRulesSchema } from "../routing/routing.ts";
import type { Router } from "../routing/router.ts";
import type { RuleSets } from "../routing/rule-sets.ts";
import type { RuleSet } from "../routing/rules.sql.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { limitOf, page, unknownCursor } from "../http/lists.ts";
import { pageFields } from "./lists.ts";
import { VERSION_PATTERN, versionParams } from "./params.ts";
import {
  activationSchema,
  activationView,
  exampleRules,
  faultView,
  noteField,
  refuseObjections,
  rollBackSchema,
  ruleSetSchema,
  ruleSetView,
  summarySchema,
  summaryView,
  validateSchema,
  validationSchema,
} from "./routing.schema.ts";

interface RoutingEndpointParts {
  ruleSets: RuleSets;
  router: Router;
}

const path = "/ops/v1/routing/rules";
const tag = "Routing";
const FAULTS_MAX = 100;

/** The schema of new rules: every rule must be able to decide some payment. */
function newRulesSchema(router: Router) {
  return z
    .strictObject({ rules: routingRulesSchema, note: noteField })
    .superRefine(({ rules }, context) => refuseObjections(objectionsTo(rules, router.table.acquirers), context))
    .meta({ id: "CreateRoutingRuleSet", examples: [{ rules: exampleRules, note: "Cendana is cheaper for QRIS" }] });
}

export function routingEndpoints({ ruleSets, router }: RoutingEndpointParts): OperatorEndpoint[] {
  const view = (ruleSet: RuleSet): z.infer<typeof ruleSetSchema> =>
    ruleSetView(ruleSet, objectionsTo(ruleSet.rules, router.table.acquirers));
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listRoutingRuleSets",
      path,
      summary: "List the versions of the routing rules, newest first",
      tag,
      role: "viewer",
      query: z.strictObject(pageFields("version", isVersion, VERSION_PATTERN, "3")),
      success: { description: "A page of versions.", schema: listSchema(summarySchema, "RoutingRuleSetList") },
      async handle({ query }) {
        const after = versionOf(query.starting_after);
        if (after !== undefined && !(await ruleSets.read(after))) throw unknownCursor(String(after));
        return page(await ruleSets.list(after, limitOf(query) + 1), query, summaryView, (row) => String(row.version));
      },
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "getRoutingRuleSet",
      path: `${path}/{version}`,
      params: versionParams,
      summary: "Read a version of the routing rules",
      tag,
      role: "viewer",
      success: { description: "The version and its rules.", schema: ruleSetSchema },
      handle: async ({ params }) => reply(200, view(await requiredVersion(ruleSets, params.version))),
    }),
    operatorEndpoint({
      method: "POST",
      operationId: "createRoutingRuleSet",
      path,
      summary: "Store rules as the next version; it decides nothing until it is activated",
      tag,
      role: "admin",
      body: newRulesSchema(router),
      success: { status: 201, description: "The new version.", schema: ruleSetSchema },
      handle: async ({ body: { rules, note }, operator }) =>
        reply(201, view(await ruleSets.add({ rules, note, by: operator.name }))),
    }),
    operatorEndpoint({
      method: "POST",
      operationId: "validateRoutingRules",
      path: `${path}/validate`,
      summary: "Find everything that is wrong with rules; stores nothing",
      tag,
      role: "viewer",
      changesNothing: true,
      body: validateSchema,
      success: { description: "What is wrong, rule by rule and field by field.", schema: validationSchema },
      handle({ body }) {
        const faults = faultsOfRules(body.rules, router.table.acquirers);
        return Promise.resolve(
          reply(200, { valid: faults.length === 0, faults: faults.slice(0, FAULTS_MAX).map(faultView) }),
        );
      },
    }),
    operatorEndpoint({
      method: "POST",
      operationId: "activateRoutingRuleSet",
      path: `${path}/{version}/activate`,
      params: versionParams,
      summary: "Let a version decide, in every process within a second",
      tag,
      role: "admin",
      success: { description: "The version, active now.", schema: ruleSetSchema },
      approval: {
        action: "activate_routing",
        async foresee({ params }) {
          const { version, ruleCount } = await requiredVersion(ruleSets, params.version);
          return {
            summary: `Let version ${version} of the routing rules decide, of ${ruleCount} rules; now it is version ${router.table.version}`,
          };
        },
        async lookUp({ params }) {
          const found = await requiredVersion(ruleSets, params.version);
          return found.status === "active" ? reply(200, view(found)) : undefined;
        },
      },
      async handle({ params, operator }) {
        const activate = (version: number) => ruleSets.activate(version, operator.name);
        return reply(200, view(await ofVersion(params.version, activate)));
      },
    }),
    operatorEndpoint({
      method: "POST",
      operationId: "rollBackRoutingRules",
      path: `${path}/{version}/roll-back`,
      params: versionParams,
      summary: "Let the rules of an earlier version decide again, as a new version",
      tag,
      role: "admin",
      body: rollBackSchema,
      success: { status: 201, description: "The new version, active now.", schema: ruleSetSchema },
      approval: {
        action: "activate_routing",
        async foresee({ params }) {
          const { version, ruleCount } = await requiredVersion(ruleSets, params.version);
          return {
            summary: `Let the ${ruleCount} rules of version ${version} decide again, as a new version; now it is version ${router.table.version}`,
          };
        },
        async lookUp({ params }) {
          const active = await requiredVersion(ruleSets, String(router.table.version));
          return String(active.restores) === params.version ? reply(201, view(active)) : undefined;
        },
      },
      async handle({ params, body, operator }) {
        const rollBack = (version: number) => ruleSets.rollBack(version, operator.name, body.note);
        return reply(201, view(await ofVersion(params.version, rollBack)));
      },
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "listRoutingActivations",
      path: "/ops/v1/routing/activations",
      summary: "List which version decided from when on, newest first",
      tag,
      role: "viewer",
      query: z.strictObject(pageFields("activation", isVersion, VERSION_PATTERN, "2")),
      success: { description: "A page of activations.", schema: listSchema(activationSchema, "RoutingActivationList") },
      async handle({ query }) {
        const after = versionOf(query.starting_after);
        if (after !== undefined && !(await ruleSets.hasActivation(after))) throw unknownCursor(String(after));
        const rows = await ruleSets.activations(after, limitOf(query) + 1);
        return page(rows, query, activationView, ({ activation }) => String(activation));
      },
    }),
  ];
}

export function isVersion(text: string): boolean {
  return new RegExp(VERSION_PATTERN).test(text);
}

function versionOf(text: string | undefined): number | undefined {
  return text !== undefined && isVersion(text) ? Number(text) : undefined;
}

/** What `find` gives for the version. Throws OBJECT_NOT_FOUND when it gives nothing. */
async function ofVersion(
  text: string | undefined,
  find: (version: number) => Promise<RuleSet | undefined>,
): Promise<RuleSet> {
  const version = versionOf(text);
  const ruleSet = version === undefined ? undefined : await find(version);
  if (!ruleSet) throw new Fault("OBJECT_NOT_FOUND", { message: "No such version of the routing rules." });
  return ruleSet;
}

export function requiredVersion(ruleSets: RuleSets, text: string | undefined): Promise<RuleSet> {
  return ofVersion(text, (version) => ruleSets.read(version));
}
