// Rule sets in their versions: stored once, never changed, at most one active. Rare, so outside the lanes.
import type { Clock } from "../ground/clock.ts";
import type { Environment } from "../merchants/books.ts";
import type { Database, Row } from "../store/database.ts";
import { type SettingsWatch, nextEpoch } from "../store/settings-watch.ts";
import type { RoutingRequest, RoutingRule } from "./routing.ts";
import {
  type RuleSet,
  type RuleSetSummary,
  activateRuleSet,
  deactivateOthers,
  insertRuleSet,
  requestOfRow,
  ruleSetOfRow,
  selectRecentRequests,
  selectRuleSet,
  selectRuleSets,
  summaryOfRow,
} from "./rules.sql.ts";

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
    return (await this.database.query(selectRuleSets(after, count))).map(summaryOfRow);
  }

  async read(version: number): Promise<RuleSet | undefined> {
    const [row] = await this.database.query(selectRuleSet(version));
    return row && ruleSetOfRow(row);
  }

  /** Keeps rules that the schema has accepted as the next version. They decide nothing until they are activated. */
  async add(rules: readonly RoutingRule[]): Promise<RuleSet> {
    return this.database.transaction(async (query) => {
      const epoch = await nextEpoch(query); // also makes whoever adds at the same moment wait for this version's number
      const [row] = await query(insertRuleSet(rules, epoch, this.clock.now()));
      return ruleSetOfRow(row as Row);
    });
  }

  /** Makes a version the one that decides, in every process within a second. Undefined when there is no such version. */
  async activate(version: number): Promise<RuleSet | undefined> {
    const activated = await this.database.transaction(async (query) => {
      const epoch = await nextEpoch(query);
      const [row] = await query(selectRuleSet(version));
      if (!row) return undefined;
      const ruleSet = ruleSetOfRow(row); // rules that this code cannot read must not become active
      await query(deactivateOthers(version, epoch));
      await query(activateRuleSet(version, epoch));
      return { ...ruleSet, active: true };
    });
    await this.watch.ask();
    return activated;
  }

  /** The newest payments of an environment that routing decided on, as it was asked for them; the draw is the payment's reference. */
  async recentRequests(environment: Environment, count: number): Promise<RoutingRequest[]> {
    const rows = await this.database.query(selectRecentRequests(environment, count));
    return rows.map((row) => requestOfRow(row, environment));
  }
}
