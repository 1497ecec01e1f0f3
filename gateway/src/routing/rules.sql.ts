// All SQL of rule set versions.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type RoutingRule, routingRulesSchema } from "./routing.ts";

export interface RuleSetSummary {
  version: number;
  /** active: decides now. retired: was active before. draft: was never active. */
  status: "draft" | "active" | "retired";
  createdAt: Micros;
  /** Undefined for the first version, which the installation created. */
  createdBy: string | undefined;
  note: string | undefined;
  /** The earlier version whose rules this version restores. */
  restores: number | undefined;
  /** The latest activation, and who made it. */
  activatedAt: Micros | undefined;
  activatedBy: string | undefined;
  ruleCount: number;
}

export interface RuleSet extends RuleSetSummary {
  rules: RoutingRule[];
}

export interface NewRuleSet {
  rules: readonly RoutingRule[];
  by: string;
  note?: string | undefined;
  restores?: number | undefined;
}

const columns = "s.version, s.active, s.created_at, s.created_by, s.note, s.restores, a.activated_at, a.activated_by";
const lastActivation = `left join lateral (
  select a.activated_at, a.activated_by
  from routing_activations a
  where a.version = s.version
  order by a.activation desc
  limit 1
) a on true`;

export function ruleSetOfRow(row: Row): RuleSet {
  const rules = routingRulesSchema.parse(JSON.parse(row.rules as string));
  return { ...summaryOfRow({ ...row, rule_count: rules.length }), rules };
}

export function summaryOfRow(row: Row): RuleSetSummary {
  const activatedAt = optional<Micros>(row.activated_at);
  return {
    version: row.version as number,
    status: row.active === true ? "active" : activatedAt === undefined ? "draft" : "retired",
    createdAt: row.created_at as Micros,
    createdBy: optional(row.created_by),
    note: optional(row.note),
    restores: optional(row.restores),
    activatedAt,
    activatedBy: optional(row.activated_by),
    ruleCount: row.rule_count as number,
  };
}

/** Newest first, at most `count`, of the versions before `after`; without their rules. */
export function selectRuleSets(after: number | undefined, count: number): Statement {
  return {
    text: `select ${columns}, jsonb_array_length(s.rules) as rule_count
from routing_rule_sets s
${lastActivation}
where $1::integer is null or s.version < $1::integer
order by s.version desc
limit $2::integer`,
    values: [after, count],
  };
}

export function selectRuleSet(version: number): Statement {
  return {
    text: `select ${columns}, s.rules
from routing_rule_sets s
${lastActivation}
where s.version = $1::integer`,
    values: [version],
  };
}

/** Inserts the next version, not active. */
export function insertRuleSet({ rules, by, note, restores }: NewRuleSet, epoch: bigint, now: Micros): Statement {
  return {
    text: `insert into routing_rule_sets (version, rules, active, epoch, created_at, created_by, note, restores)
select coalesce(max(version), 0) + 1, $1::jsonb, false, $2::bigint, $3::timestamptz, $4::text, $5::text, $6::integer
from routing_rule_sets
returning version`,
    values: [JSON.stringify(rules), epoch, sqlTime(now), by, note, restores],
  };
}

/** Runs before `activateRuleSet`, so that at most one version is active at any moment. */
export function deactivateOthers(version: number, epoch: bigint): Statement {
  return {
    text: "update routing_rule_sets set active = false, epoch = $2::bigint where active and version <> $1::integer",
    values: [version, epoch],
  };
}

export function activateRuleSet(version: number, epoch: bigint): Statement {
  return {
    text: "update routing_rule_sets set active = true, epoch = $2::bigint where version = $1::integer",
    values: [version, epoch],
  };
}

/** Records an activation. The transaction holds the lock of `nextEpoch`, so the number is unique. */
export function insertActivation(version: number, by: string, now: Micros): Statement {
  return {
    text: `insert into routing_activations (activation, version, activated_at, activated_by)
select coalesce(max(activation), 0) + 1, $1::integer, $2::timestamptz, $3::text
from routing_activations`,
    values: [version, sqlTime(now), by],
  };
}

export interface Activation {
  activation: number;
  version: number;
  at: Micros;
  by: string | undefined;
}

/** Newest first, at most `count`, of the activations before `after`. */
export function selectActivations(after: number | undefined, count: number): Statement {
  return {
    text: `select activation, version, activated_at, activated_by
from routing_activations
where $1::integer is null or activation < $1::integer
order by activation desc
limit $2::integer`,
    values: [after, count],
  };
}

export function activationOfRow(row: Row): Activation {
  return {
    activation: row.activation as number,
    version: row.version as number,
    at: row.activated_at as Micros,
    by: optional(row.activated_by),
  };
}
