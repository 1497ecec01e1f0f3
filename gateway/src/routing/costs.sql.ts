// All SQL of acquirers' charges, as the operator states them.
import type { Micros } from "../ground/clock.ts";
import type { FeeRule, Minor } from "../ground/money.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { bulkInsert } from "../store/table.ts";

export interface AcquirerCost {
  gatewayCode: string;
  method: PaymentMethod;
  currency: string;
  rule: FeeRule;
  setAt: Micros;
  setBy: string;
}

export type StatedCost = Pick<AcquirerCost, "method" | "currency" | "rule">;

/** The costs of one acquirer, or of all: at most one row for each acquirer, method and currency. */
export function selectCosts(gatewayCode?: string): Statement {
  return {
    text: `select gateway_code, method, currency, basis_points, flat_minor, minimum_minor, maximum_minor, set_at, set_by
from acquirer_costs
where $1::text is null or gateway_code = $1::text
order by gateway_code, method, currency`,
    values: [gatewayCode ?? null],
  };
}

export function costOfRow(row: Row): AcquirerCost {
  return {
    gatewayCode: row.gateway_code as string,
    method: row.method as PaymentMethod,
    currency: row.currency as string,
    rule: {
      basisPoints: row.basis_points as number,
      flatMinor: row.flat_minor as Minor,
      minimumMinor: optional<Minor>(row.minimum_minor),
      maximumMinor: optional<Minor>(row.maximum_minor),
    },
    setAt: row.set_at as Micros,
    setBy: row.set_by as string,
  };
}

export function deleteCosts(gatewayCode: string): Statement {
  return { text: "delete from acquirer_costs where gateway_code = $1::text", values: [gatewayCode] };
}

export const insertCosts = bulkInsert<AcquirerCost>("acquirer_costs", {
  gateway_code: ["text", ({ gatewayCode }) => gatewayCode],
  method: ["payment_method", ({ method }) => method],
  currency: ["text", ({ currency }) => currency],
  basis_points: ["integer", ({ rule }) => rule.basisPoints],
  flat_minor: ["bigint", ({ rule }) => rule.flatMinor],
  minimum_minor: ["bigint", ({ rule }) => rule.minimumMinor],
  maximum_minor: ["bigint", ({ rule }) => rule.maximumMinor],
  set_at: ["timestamptz", ({ setAt }) => setAt],
  set_by: ["text", ({ setBy }) => setBy],
});
