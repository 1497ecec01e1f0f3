// What acquirers charge the platform for a payment: as the operator states it, else as the acquirer's profile says.
import type { Acquirer } from "../acquirers/acquirer.ts";
import type { Clock } from "../ground/clock.ts";
import { type FeeRule, type Minor, feeOf } from "../ground/money.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { Database } from "../store/database.ts";
import { nextEpoch } from "../store/settings-watch.ts";
import { type AcquirerCost, type StatedCost, costOfRow, deleteCosts, insertCosts, selectCosts } from "./costs.sql.ts";

export class AcquirerCosts {
  private readonly database: Database;
  private readonly clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  /** The stated costs of one acquirer, or of all. */
  async read(gatewayCode?: string): Promise<AcquirerCost[]> {
    return (await this.database.query(selectCosts(gatewayCode))).map(costOfRow);
  }

  /** Replaces all stated costs of an acquirer. The lock of `nextEpoch` makes simultaneous calls follow each other. */
  async put(gatewayCode: string, costs: readonly StatedCost[], setBy: string): Promise<AcquirerCost[]> {
    return this.database.transaction(async (query) => {
      await nextEpoch(query);
      await query(deleteCosts(gatewayCode));
      const setAt = this.clock.now();
      if (costs.length > 0) await query(insertCosts(costs.map((cost) => ({ ...cost, gatewayCode, setAt, setBy }))));
      return (await query(selectCosts(gatewayCode))).map(costOfRow);
    });
  }
}

interface Charged {
  method: PaymentMethod;
  currency: string;
  amountMinor: Minor;
}

/** What an acquirer charges for a paid payment; undefined when the cost is unknown. */
export type CostOf = (gatewayCode: string, payment: Charged) => Minor | undefined;

/** Costs as the operator states them, else as the profile does. A profile must name one, so zero there is unknown; from the operator it is zero. */
export function costsOf(stated: readonly AcquirerCost[], acquirers: readonly Acquirer[]): CostOf {
  const rules = new Map<string, FeeRule>();
  for (const { code, capabilities } of acquirers) {
    for (const { method, currencies, cost } of capabilities) {
      if (cost.basisPoints === 0 && cost.flatMinor === 0n) continue;
      for (const currency of currencies) rules.set(`${code}/${method}/${currency}`, cost);
    }
  }
  for (const { gatewayCode, method, currency, rule } of stated) rules.set(`${gatewayCode}/${method}/${currency}`, rule);
  return (gatewayCode, { method, currency, amountMinor }) => {
    const rule = rules.get(`${gatewayCode}/${method}/${currency}`);
    return rule && feeOf(amountMinor, rule);
  };
}
