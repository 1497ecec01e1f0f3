// Versions of the rule set: stored once, never changed, at most one active. Changes are rare, so they run outside the lanes.
import type { Clock } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import type { Database, Query } from "../store/database.ts";
import { type SettingsWatch, nextEpoch } from "../store/settings-watch.ts";
import {
  type Activation,
  type NewRuleSet,
  type RuleSet,
  type RuleSetSummary,
  activateRuleSet,
  activationOfRow,
  deactivateOthers,
  insertActivation,
  insertRuleSet,
  ruleSetOfRow,
  selectActivations,
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

  /** Newest first, at most `count`, of the versions before `after`. */
  async list(after: number | undefined, count: number): Promise<RuleSetSummary[]> {
    return (await this.database.query(selectRuleSets(after, count))).map(summaryOfRow);
  }

  async read(version: number): Promise<RuleSet | undefined> {
    return readOne((statement) => this.database.query(statement), version);
  }

  /** When each version became active: newest first, at most `count`, of the activations before `after`. */
  async activations(after: number | undefined, count: number): Promise<Activation[]> {
    return (await this.database.query(selectActivations(after, count))).map(activationOfRow);
  }

  async hasActivation(activation: number): Promise<boolean> {
    const [newest] = await this.activations(activation + 1, 1);
    return newest?.activation === activation;
  }

  /** Stores rules that the schema has accepted as the next version. They decide nothing until they are activated. */
  async add(added: Omit<NewRuleSet, "restores">): Promise<RuleSet> {
    return this.database.transaction(async (query) => {
      const epoch = await nextEpoch(query); // a lock, too: another `add` waits for this version's number
      return this.insert(query, added, epoch);
    });
  }

  /** Makes a version the active one, in every process within a second. Undefined when there is no such version. */
  async activate(version: number, by: string): Promise<RuleSet | undefined> {
    const activated = await this.database.transaction(async (query) => {
      const epoch = await nextEpoch(query);
      const found = await readOne(query, version); // rules that this code cannot read must not become active
      return found && this.letDecide(query, found, by, epoch);
    });
    await this.watch.changed();
    return activated;
  }

  /** Stores the rules of an earlier version as a new version and activates it. Undefined when there is no such version. */
  async rollBack(version: number, by: string, note: string | undefined): Promise<RuleSet | undefined> {
    const restored = await this.database.transaction(async (query) => {
      const epoch = await nextEpoch(query);
      const earlier = await readOne(query, version);
      if (!earlier) return undefined;
      const added = await this.insert(query, { rules: earlier.rules, by, note, restores: version }, epoch);
      return this.letDecide(query, added, by, epoch);
    });
    await this.watch.changed();
    return restored;
  }

  private async insert(query: Query, added: NewRuleSet, epoch: bigint): Promise<RuleSet> {
    const [row] = await query<{ version: number }>(insertRuleSet(added, epoch, this.clock.now()));
    return existing(row && (await readOne(query, row.version)));
  }

  /** Activating the active version changes nothing and records no activation. */
  private async letDecide(query: Query, ruleSet: RuleSet, by: string, epoch: bigint): Promise<RuleSet> {
    const { version, status } = ruleSet;
    if (status === "active") return ruleSet;
    await query(deactivateOthers(version, epoch));
    await query(activateRuleSet(version, epoch));
    await query(insertActivation(version, by, this.clock.now()));
    return existing(await readOne(query, version));
  }
}

async function readOne(query: Query, version: number): Promise<RuleSet | undefined> {
  const [row] = await query(selectRuleSet(version));
  return row && ruleSetOfRow(row);
}

function existing(ruleSet: RuleSet | undefined): RuleSet {
  assert(ruleSet, "a version of the rules is gone");
  return ruleSet;
}
