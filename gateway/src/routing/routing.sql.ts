// All SQL of the routing table: the first rules, the rules that are active, and the operator's switches.
import { type Micros, sqlTime } from "../ground/clock.ts";
import type { Row, Statement } from "../store/database.ts";
import { type AcquirerState, type Health, type RoutingRule, type RoutingTable, routingRulesSchema } from "./routing.ts";

/** Inserts version 1 of the rules, active at once, unless there is any version. */
export function insertFirstRules(rules: readonly RoutingRule[], epoch: bigint, now: Micros): Statement {
  return {
    text: `with first as (
  insert into routing_rule_sets (version, rules, active, epoch, created_at)
  select 1, $1::jsonb, true, $2::bigint, $3::timestamptz
  where not exists (select from routing_rule_sets)
  returning version, created_at
)
insert into routing_activations (activation, version, activated_at)
select 1, version, created_at
from first`,
    values: [JSON.stringify(rules), epoch, sqlTime(now)],
  };
}

/** What an operator changes of an acquirer. */
export interface StateChange {
  enabled?: boolean | undefined;
  health?: Health | undefined;
}

/** Fields that are absent stay as they are; an acquirer without a row is enabled and healthy. */
export function putAcquirerState(code: string, change: StateChange, epoch: bigint): Statement {
  return {
    text: `insert into acquirer_states (gateway_code, enabled, health, epoch)
values ($1::text, coalesce($2::boolean, true), coalesce($3::text, 'healthy'), $4::bigint)
on conflict (gateway_code) do update
set enabled = coalesce($2::boolean, acquirer_states.enabled), health = coalesce($3::text, acquirer_states.health),
  epoch = excluded.epoch`,
    values: [code, change.enabled, change.health, epoch],
  };
}

export const selectActiveRules: Statement = {
  name: "active routing rules",
  text: "select version, rules from routing_rule_sets where active",
};

export function rulesOfRow(row: Row): Pick<RoutingTable, "version" | "rules"> {
  return { version: row.version as number, rules: routingRulesSchema.parse(JSON.parse(row.rules as string)) };
}

export const selectAcquirerStates: Statement = {
  name: "acquirer states",
  text: "select gateway_code, enabled, health from acquirer_states",
};

export function stateOfRow(row: Row): [code: string, state: AcquirerState] {
  return [row.gateway_code as string, { enabled: row.enabled as boolean, health: row.health as Health }];
}
