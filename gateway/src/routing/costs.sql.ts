// All SQL of acquirers' charges, as the operator states them.
import { type Micros, sqlTime } from "../ground/clock.ts";
import type { FeeRule, Minor } from "../ground/money.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { Row, Statement } from "../store/database.ts";

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
      minimumMinor: (row.minimum_minor as Minor | null) ?? undefined,
      maximumMinor: (row.maximum_minor as Minor | null) ?? undefined,
    },
    setAt: row.set_at as Micros,
    setBy: row.set_by as string,
  };
}

export function deleteCosts(gatewayCode: string): Statement {
  return { text: "delete from acquirer_costs where gateway_code = $1::text", values: [gatewayCode] };
}

export function insertCosts(gatewayCode: string, costs: readonly StatedCost[], by: string, now: Micros): Statement {
  return {
    text: `insert into acquirer_costs (
  gateway_code, method, currency, basis_points, flat_minor, minimum_minor, maximum_minor, set_at, set_by
)
select $1::text, v.method::payment_method, v.currency, v.basis_points, v.flat_minor, v.minimum_minor, v.maximum_minor, $2::timestamptz, $3::text
from unnest($4::text[], $5::text[], $6::integer[], $7::bigint[], $8::bigint[], $9::bigint[])
  as v(method, currency, basis_points, flat_minor, minimum_minor, maximum_minor)`,
    values: [
      gatewayCode,
      sqlTime(now),
      by,
      costs.map(({ method }) => method),
      costs.map(({ currency }) => currency),
      costs.map(({ rule }) => rule.basisPoints),
      costs.map(({ rule }) => rule.flatMinor),
      costs.map(({ rule }) => rule.minimumMinor ?? null),
      costs.map(({ rule }) => rule.maximumMinor ?? null),
    ],
  };
}
