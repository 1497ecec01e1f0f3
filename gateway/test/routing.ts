// Routing for pure tests: the simulated acquirers with the default rules, and the changes that a test gives.
import { endNeeds, planEnd, planPayment } from "../src/acquiring/planning.ts";
import type { Acquirer, Capability } from "../src/acquirers/acquirer.ts";
import { simulatedAcquirers } from "../src/acquirers/simulated.ts";
import { type RoutingTable, defaultRules } from "../src/routing/routing.ts";
import type { PaymentParts } from "../src/payments/payments.ts";

export const PAY_URL = "https://pay.example/";

function aTable(changes: Partial<RoutingTable> = {}): RoutingTable {
  return { version: 7, rules: defaultRules, acquirers: simulatedAcquirers, states: new Map(), ...changes };
}

/** Parts for commands on payments. `open`: whether environments take payments. */
export function aRouter(changes: Partial<RoutingTable> = {}, open = true): PaymentParts {
  const table = aTable(changes);
  return {
    routingTable: () => table,
    payUrl: (_book, reference) => PAY_URL + reference,
    isOpen: () => open,
    acquirer: (code) => table.acquirers.find((acquirer) => acquirer.code === code),
    callbackUrl: (code) => `https://gateway.example/callbacks/${code}`,
    planPayment,
    endNeeds,
    planEnd: (context, payment) =>
      planEnd((code) => table.acquirers.find((acquirer) => acquirer.code === code), context, payment),
  };
}

/** An acquirer like `cendana`, the simulated one with all methods, with the given changes. */
export function anAcquirer(code: string, changes: Partial<Acquirer> = {}): Acquirer {
  const cendana = simulatedAcquirers.find((acquirer) => acquirer.code === "cendana") as Acquirer;
  return { ...cendana, code, name: code, ...changes };
}

/** A capability of an acquirer: QRIS in IDR, with the given changes. */
export function takes(changes: Partial<Capability> = {}): Capability {
  const cost = { basisPoints: 0, flatMinor: 0n };
  return { method: "qris", currencies: ["IDR"], minimumMinor: 1n, maximumMinor: 1_000_000n, cost, ...changes };
}
