// The routing table of the running process, reloaded when the database changes; and the operator's switches for acquirers.
import type { Acquirer } from "../acquirers/acquirer.ts";
import type { Clock } from "../ground/clock.ts";
import type { Environment } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { type SettingsWatch, nextEpoch } from "../store/settings-watch.ts";
import { Circuits } from "./circuit.ts";
import {
  type StateChange,
  insertFirstRules,
  putAcquirerState,
  rulesOfRow,
  selectActiveRules,
  selectAcquirerStates,
  stateOfRow,
} from "./routing.sql.ts";
import { type RoutingTable, defaultRules } from "./routing.ts";

export class Router {
  private readonly database: Database;
  private readonly watch: SettingsWatch;
  private readonly acquirers: readonly Acquirer[];
  private readonly clock: Clock;
  /** Circuits fed by this process's calls alone. */
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

  /** The present table. It is immutable, so a caller may keep it. */
  get table(): RoutingTable {
    const open = this.circuits.open(this.clock.now());
    return open.size === 0 ? this.current : { ...this.current, open };
  }

  /** The acquirer with this code, whatever its state. */
  acquirer(code: string): Acquirer | undefined {
    return this.acquirers.find((acquirer) => acquirer.code === code);
  }

  /** The codes of all configured acquirers. */
  codes(): string[] {
    return this.acquirers.map(({ code }) => code);
  }

  /** True when any acquirer is configured for the environment. */
  serves(environment: Environment): boolean {
    return this.acquirers.some((acquirer) => acquirer.environment === environment);
  }

  /** Writes the first rules of a new installation. Any number of processes may do so at the same time. */
  async seed(): Promise<void> {
    await this.database.transaction(async (query) =>
      query(insertFirstRules(defaultRules, await nextEpoch(query), this.clock.now())),
    );
    await this.watch.ask();
  }

  /** Switches an acquirer on or off, or sets its health. Gives false when there is no acquirer of this code. */
  async setState(code: string, change: StateChange): Promise<boolean> {
    if (!this.acquirer(code)) return false;
    await this.database.transaction(async (query) => query(putAcquirerState(code, change, await nextEpoch(query))));
    await this.watch.changed();
    return true;
  }

  /** Reads what other processes have changed. Without it the table may be a second old. */
  refresh(): Promise<void> {
    return this.watch.ask();
  }

  private async reload(): Promise<void> {
    const [active] = await this.database.query(selectActiveRules);
    const states = await this.database.query(selectAcquirerStates);
    this.current = {
      ...(active ? rulesOfRow(active) : { version: 0, rules: [] }),
      acquirers: this.acquirers,
      states: new Map(states.map(stateOfRow)),
    };
  }
}
