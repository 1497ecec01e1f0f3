// Chooses the acquirer of a payment, and says whether the acquirer must be asked for instructions. The routing rules are in routing/.
import type { Acquirer, InstructionRequest, Instructions } from "../acquirers/acquirer.ts";
import type { CommandContext } from "../commands/command-context.ts";
import { Fault } from "../ground/fault.ts";
import { MINOR_MAX, type Minor, wireAmount } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";
import type { Merchant } from "../merchants/directory.ts";
import {
  type RoutingDecision,
  type RoutingRequest,
  type RoutingTable,
  amountBounds,
  finestStep,
  route,
} from "../routing/routing.ts";
import { splitAssignments } from "../routing/split-assignments.sql.ts";
import type { Payment } from "./payment.ts";
import { invalidAmount, tooFine } from "./payments.schema.ts";

export interface RouteParts {
  routingTable(): RoutingTable;
  /** Address of the page where the payer of a payment pays. */
  payUrl(book: Book, reference: string): string;
}

export interface RouteSelection {
  chosen: Acquirer;
  decision: RoutingDecision;
  request: InstructionRequest;
  /** Undefined when the acquirer must be asked for the instructions. */
  instructions: Instructions | undefined;
}

/**
 * Chooses the acquirer of a payment, except those in `refusedBy`, and records why. The first decision may put the payment into a split test;
 * later decisions, for another acquirer or another attempt, stay within that test. Throws NO_ROUTE_AVAILABLE or INVALID_AMOUNT.
 */
export function selectRoute(
  parts: RouteParts,
  merchant: Merchant,
  payment: Payment,
  refusedBy: readonly string[] = [],
): RouteSelection {
  const { book, reference, method, currency, amountMinor } = payment;
  const asked = { environment: book.environment, method, currency, amountMinor, draw: reference, refusedBy };
  const table = parts.routingTable();
  const { candidates, split } = payment.routing;
  const { chosen, decision: decided } = route(
    table,
    candidates.length === 0 ? asked : { ...asked, onlySplit: split?.id ?? null },
  );
  if (!chosen) throw routeFault(table, asked, decided);
  const decision = split ? { ...decided, split } : decided;
  const request = instructionRequest(parts, merchant, payment);
  return { chosen, decision, request, instructions: chosen.issue(request) };
}

/** Records the split test of a payment, if its first decision put it into one. */
export function enterSplitTest({ set }: Pick<CommandContext, "set">, { book, reference, routing }: Payment): void {
  if (routing.split) set.insert(splitAssignments, { book, reference, split: routing.split });
}

/** What an acquirer is told of a payment, for which it issues instructions. */
export function instructionRequest(parts: RouteParts, merchant: Merchant, payment: Payment): InstructionRequest {
  const { book, reference, amountMinor, currency, method, expiresAt, returnUrl, metadata } = payment;
  return {
    reference,
    amountMinor,
    currency,
    method,
    merchantName: merchant.name,
    expiresAt,
    // A getter, because most methods need no such page.
    get payUrl() {
      return parts.payUrl(book, reference);
    },
    returnUrl,
    metadata,
  };
}

/** Verdicts that depend on the amount alone, so that no retry changes them. */
const amountVerdicts: ReadonlySet<string> = new Set(["amount_out_of_range", "amount_too_fine"]);

/** The fault when no acquirer takes a payment: INVALID_AMOUNT when only the amount is in the way, else NO_ROUTE_AVAILABLE. */
function routeFault(table: RoutingTable, asked: RoutingRequest, decision: RoutingDecision): Fault {
  const able = decision.candidates.filter(
    ({ verdict }) =>
      verdict !== "method_not_supported" && verdict !== "currency_not_supported" && verdict !== "no_rule",
  );
  const bounds = amountBounds(table, asked);
  // An acquirer without a routing rule would not take another amount either.
  const isRuled = able.some(({ priority }) => priority !== undefined);
  if (bounds && isRuled && able.every(({ verdict }) => amountVerdicts.has(verdict))) {
    const { minimumMinor, maximumMinor } = bounds;
    return amountFault(table, asked) ?? invalidAmount(wireAmount(asked.amountMinor), maximumMinor, minimumMinor);
  }
  const verdicts = decision.candidates.map(({ gateway_code: code, verdict }) => `${code} ${verdict}`);
  return new Fault("NO_ROUTE_AVAILABLE", {
    internal: `no acquirer takes it: ${verdicts.join(", ") || "there is none"}`,
  });
}

/** INVALID_AMOUNT for an amount that no acquirer takes, however it is routed: too small, too large or too fine. `most`: the merchant's own bound. */
export function amountFault(
  table: RoutingTable,
  asked: Pick<RoutingRequest, "environment" | "method" | "currency" | "amountMinor">,
  most: Minor = MINOR_MAX,
): Fault | undefined {
  const bounds = amountBounds(table, asked);
  if (!bounds) return undefined;
  const { amountMinor } = asked;
  const { minimumMinor } = bounds;
  const maximumMinor = bounds.maximumMinor < most ? bounds.maximumMinor : most;
  if (amountMinor < minimumMinor || amountMinor > maximumMinor)
    return invalidAmount(wireAmount(amountMinor), maximumMinor, minimumMinor);
  const finest = finestStep(table, asked);
  const message = `Nobody takes so fine an amount of ${asked.currency} by ${asked.method}`;
  return amountMinor % finest === 0n ? undefined : tooFine(message, finest, amountMinor, minimumMinor, maximumMinor);
}
