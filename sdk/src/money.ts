// Refunds, balances, settlements and disputes (interface, sections 4.6 to 4.10).
import { type CallOptions, type Calls, type ReadOptions, path } from "./calls.ts";
import type { List } from "./list.ts";
import type {
  BalanceEntry,
  BalanceEntryFilters,
  Balances as BalancesView,
  CreatedRefund,
  CreateRefund,
  Dispute,
  DisputeFilters,
  Refund,
  RefundFilters,
  Settlement,
  SettlementFilters,
} from "./types.ts";

export class Refunds {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Refunds the rest of a payment, or a part of it. Retries are safe: all attempts carry one idempotency key, so money moves once. */
  create(body: CreateRefund, options?: CallOptions): Promise<CreatedRefund> {
    const sent = { value: body, rules: "CreateRefund", identity: "uuid" } as const;
    return this.#calls.write("refunds.create", "/v1/refunds", sent, options);
  }

  get(uuid: string, options?: ReadOptions): Promise<Refund> {
    return this.#calls.read("refunds.get", path`/v1/refunds/${uuid}`, options, "uuid");
  }

  list(filters?: RefundFilters, options?: ReadOptions): List<Refund> {
    return this.#calls.list("refunds.list", "/v1/refunds", filters, options);
  }
}

export class Balances {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  get(options?: ReadOptions): Promise<BalancesView> {
    return this.#calls.read("balances.get", "/v1/balances", options);
  }

  /** The movements behind one currency's figures, newest first. */
  entries(currency: string, filters?: BalanceEntryFilters, options?: ReadOptions): List<BalanceEntry> {
    return this.#calls.list("balances.entries", path`/v1/balances/${currency}/entries`, filters, options);
  }
}

export class Settlements {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  get(uuid: string, options?: ReadOptions): Promise<Settlement> {
    return this.#calls.read("settlements.get", path`/v1/settlements/${uuid}`, options, "uuid");
  }

  list(filters?: SettlementFilters, options?: ReadOptions): List<Settlement> {
    return this.#calls.list("settlements.list", "/v1/settlements", filters, options);
  }

  /** The statement of a batch as CSV, with every payment in it. */
  statement(uuid: string, options?: ReadOptions): Promise<string> {
    const target = path`/v1/settlements/${uuid}/statement`;
    return this.#calls.read("settlements.statement", target, options, undefined, "text");
  }
}

export class Disputes {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  get(uuid: string, options?: ReadOptions): Promise<Dispute> {
    return this.#calls.read("disputes.get", path`/v1/disputes/${uuid}`, options, "uuid");
  }

  list(filters?: DisputeFilters, options?: ReadOptions): List<Dispute> {
    return this.#calls.list("disputes.list", "/v1/disputes", filters, options);
  }
}
