// Rule sets in their versions: stored once, never changed, at most one active. Rare, so outside the lanes.
import { type Clock, type Micros, sqlTime } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import type { Environment } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { Database } from "../store/database.ts";
import { type SettingsWatch, nextEpoch } from "../store/settings-watch.ts";
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

interface RuleSetRow extends Record<string, unknown> {
  version: number;
  active: boolean;
  created_at: Micros;
  rules: string;
}

const columns = "version, active, created_at, rules";

function ruleSetOfRow(row: RuleSetRow): RuleSet {
  const rules = routingRulesSchema.parse(JSON.parse(row.rules));
  return { version: row.version, active: row.active, createdAt: row.created_at, ruleCount: rules.length, rules };
}

export class RuleSets {
  private readonly database: Database;
  private readonly watch: SettingsWatch;
  private readonly clock: Clock;

  constructor(database: Database, watch: SettingsWatch, clock: Clock) {
    this.database = database;
    this.watch = watch;
    this.clock = clock;
  }

  /** Newest first, at most `count`, those before the version `after`. */
  async list(after: number | undefined, count: number): Promise<RuleSetSummary[]> {
    const rows = await this.database.query<{
      version: number;
      active: boolean;
      created_at: Micros;
      rule_count: number;
    }>({
      text: `select version, active, created_at, jsonb_array_length(rules) as rule_count
from routing_rule_sets
where $1::integer is null or version < $1::integer
order by version desc
limit $2::integer`,
      values: [after, count],
    });
    return rows.map((row) => ({
      version: row.version,
      active: row.active,
      createdAt: row.created_at,
      ruleCount: row.rule_count,
    }));
  }

  async read(version: number): Promise<RuleSet | undefined> {
    const [row] = await this.database.query<RuleSetRow>({
      text: `select ${columns} from routing_rule_sets where version = $1::integer`,
      values: [version],
    });
    return row && ruleSetOfRow(row);
  }

  /** Keeps rules that the schema has accepted as the next version. They decide nothing until they are activated. */
  async add(rules: readonly RoutingRule[]): Promise<RuleSet> {
    return this.database.transaction(async (query) => {
      const epoch = await nextEpoch(query); // also makes whoever adds at the same moment wait for this version's number
      const [row] = await query<RuleSetRow>({
        text: `insert into routing_rule_sets (version, rules, active, epoch, created_at)
select coalesce(max(version), 0) + 1, $1::jsonb, false, $2::bigint, $3::timestamptz
from routing_rule_sets
returning ${columns}`,
        values: [JSON.stringify(rules), epoch, sqlTime(this.clock.now())],
      });
      return ruleSetOfRow(row as RuleSetRow);
    });
  }

  /** Makes a version the one that decides, in every process within a second. Undefined when there is no such version. */
  async activate(version: number): Promise<RuleSet | undefined> {
    const activated = await this.database.transaction(async (query) => {
      const epoch = await nextEpoch(query);
      const [row] = await query<RuleSetRow>({
        text: `select ${columns} from routing_rule_sets where version = $1::integer`,
        values: [version],
      });
      if (!row) return undefined;
      const ruleSet = ruleSetOfRow(row); // rules that this code cannot read must not become active
      await query({
        text: "update routing_rule_sets set active = false, epoch = $2::bigint where active and version <> $1::integer",
        values: [version, epoch],
      });
      await query({
        text: "update routing_rule_sets set active = true, epoch = $2::bigint where version = $1::integer",
        values: [version, epoch],
      });
      return { ...ruleSet, active: true };
    });
    await this.watch.ask();
    return activated;
  }

  /** The newest payments of an environment that routing decided on, as it was asked for them; the draw is the payment's reference. */
  async recentRequests(environment: Environment, count: number): Promise<RoutingRequest[]> {
    const rows = await this.database.query<{
      payment_id: string;
      payment_method: PaymentMethod;
      currency: string;
      amount_minor: Minor;
    }>({
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
    });
    return rows.map((row) => ({
      environment,
      method: row.payment_method,
      currency: row.currency,
      amountMinor: row.amount_minor,
      draw: idOf("payment", row.payment_id),
    }));
  }
}
