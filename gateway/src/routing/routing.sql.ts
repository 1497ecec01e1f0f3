// The routing table of the running process, kept up to date from the database; and the operator's switches.
import { type Acquirer } from "../acquirers/acquirer.ts";
import { type Clock, sqlTime } from "../ground/clock.ts";
import type { Environment } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { type SettingsWatch, nextEpoch } from "../store/settings-watch.ts";
import { Circuits } from "./circuit.ts";
import { type AcquirerState, type Health, type RoutingTable, defaultRules, routingRulesSchema } from "./routing.ts";

export class Router {
  private readonly database: Database;
  private readonly watch: SettingsWatch;
  private readonly acquirers: readonly Acquirer[];
  private readonly clock: Clock;
  /** How the calls of this process went. */
  readonly circuits = new Circuits();
  private current: RoutingTable;

  constructor(database: Database, watch: SettingsWatch, clock: Clock, acquirers: readonly Acquirer[]) {
    this.database = database;
    this.clock = clock;
    this.watch = watch;
    this.acquirers = acquirers;
    this.current = { version: 0, rules: [], acquirers, states: new Map() };
    watch.subscribe(() => this.reload());
  }

  /** The table as it is now; a value that does not change under whoever holds it. */
  get table(): RoutingTable {
    const open = this.circuits.open(this.clock.now());
    return open.size === 0 ? this.current : { ...this.current, open };
  }

  /** The acquirer of a code, whatever its state. */
  acquirer(code: string): Acquirer | undefined {
    return this.acquirers.find((acquirer) => acquirer.code === code);
  }

  /** True when there is an acquirer for the environment at all. */
  serves(environment: Environment): boolean {
    return this.acquirers.some((acquirer) => acquirer.environment === environment);
  }

  /** Writes the first rules of a new installation. Any number of processes may do it together. */
  async seed(): Promise<void> {
    await this.database.transaction(async (query) => {
      const epoch = await nextEpoch(query);
      await query({
        text: `insert into routing_rule_sets (version, rules, active, epoch, created_at)
select 1, $1::jsonb, true, $2::bigint, $3::timestamptz
where not exists (select from routing_rule_sets)`,
        values: [JSON.stringify(defaultRules), epoch, sqlTime(this.clock.now())],
      });
    });
    await this.watch.ask();
  }

  /** Switches an acquirer on or off, or states its health. False when there is none of this code. */
  async setState(
    code: string,
    change: { enabled?: boolean | undefined; health?: Health | undefined },
  ): Promise<boolean> {
    if (!this.acquirers.some((acquirer) => acquirer.code === code)) return false;
    await this.database.transaction(async (query) => {
      const epoch = await nextEpoch(query);
      await query({
        text: `insert into acquirer_states (gateway_code, enabled, health, epoch)
values ($1::text, coalesce($2::boolean, true), coalesce($3::text, 'healthy'), $4::bigint)
on conflict (gateway_code) do update
set enabled = coalesce($2::boolean, acquirer_states.enabled), health = coalesce($3::text, acquirer_states.health),
  epoch = excluded.epoch`,
        values: [code, change.enabled, change.health, epoch],
      });
    });
    await this.watch.ask();
    return true;
  }

  private async reload(): Promise<void> {
    const [rules] = await this.database.query<{ version: number; rules: string }>({
      name: "active routing rules",
      text: "select version, rules from routing_rule_sets where active",
    });
    const states = await this.database.query<{ gateway_code: string; enabled: boolean; health: Health }>({
      name: "acquirer states",
      text: "select gateway_code, enabled, health from acquirer_states",
    });
    this.current = {
      version: rules?.version ?? 0,
      rules: rules ? routingRulesSchema.parse(JSON.parse(rules.rules)) : [],
      acquirers: this.acquirers,
      states: new Map(
        states.map((row): [string, AcquirerState] => [row.gateway_code, { enabled: row.enabled, health: row.health }]),
      ),
    };
  }
}
