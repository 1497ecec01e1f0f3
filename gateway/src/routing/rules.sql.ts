// All SQL of rule sets in their versions, and of the past payments on which rules are tried.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import type { Environment } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { Row, Statement } from "../store/database.ts";
import { type RoutingRequest, type RoutingRule, routingRulesSchema } from "./routing.ts";

export interface RuleSetSummary {
  version: number;
  active: boolean;
  createdAt: Micros;
  ruleCount: number;
}

export interface RuleSet extends RuleSetSummary {
  rules: RoutingRule[];
}

const columns = "version, active, created_at, rules";

export function ruleSetOfRow(row: Row): RuleSet {
  const rules = routingRulesSchema.parse(JSON.parse(row.rules as string));
  return { ...summaryOfRow({ ...row, rule_count: rules.length }), rules };
}

export function summaryOfRow(row: Row): RuleSetSummary {
  return {
    version: row.version as number,
    active: row.active as boolean,
    createdAt: row.created_at as Micros,
    ruleCount: row.rule_count as number,
  };
}

/** Newest first, at most `count`, those before the version `after`; without their rules. */
export function selectRuleSets(after: number | undefined, count: number): Statement {
  return {
    text: `select version, active, created_at, jsonb_array_length(rules) as rule_count
from routing_rule_sets
where $1::integer is null or version < $1::integer
order by version desc
limit $2::integer`,
    values: [after, count],
  };
}

export function selectRuleSet(version: number): Statement {
  return {
    text: `select ${columns} from routing_rule_sets where version = $1::integer`,
    values: [version],
  };
}

/** As the next version, which is not active. */
export function insertRuleSet(rules: readonly RoutingRule[], epoch: bigint, now: Micros): Statement {
  return {
    text: `insert into routing_rule_sets (version, rules, active, epoch, created_at)
select coalesce(max(version), 0) + 1, $1::jsonb, false, $2::bigint, $3::timestamptz
from routing_rule_sets
returning ${columns}`,
    values: [JSON.stringify(rules), epoch, sqlTime(now)],
  };
}

/** Before `activateRuleSet`: at most one version is active at any moment. */
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

/** The newest payments of an environment that routing decided on. */
export function selectRecentRequests(environment: Environment, count: number): Statement {
  return {
    // Merchant by merchant along the primary key: there is no index over all payments, and none is worth its writes.
    text: `select p.payment_id, p.payment_method, p.currency, p.amount_minor
from merchants m
cross join lateral (
  select payment_id, payment_method, currency, amount_minor
  from payments
  where merchant_id = m.merchant_id and environment = $2::environment and risk_decision <> 'reject'
  order by payment_id desc
  limit $1::integer
) p
order by p.payment_id desc
limit $1::integer`,
    values: [count, environment],
  };
}

export function requestOfRow(row: Row, environment: Environment): RoutingRequest {
  return {
    environment,
    method: row.payment_method as PaymentMethod,
    currency: row.currency as string,
    amountMinor: row.amount_minor as Minor,
    draw: idOf("payment", row.payment_id as string),
  };
}
