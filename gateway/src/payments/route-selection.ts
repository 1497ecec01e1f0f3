// Which acquirer takes a payment, and whether it must be asked first.
import type { Acquirer, InstructionRequest, Instructions } from "../acquirers/acquirer.ts";
import type { CommandContext } from "../commands/command-context.ts";
import { Fault } from "../ground/fault.ts";
import { wireAmount } from "../ground/money.ts";
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
import { invalidAmount } from "./payments.schema.ts";

export interface RouteParts {
  /** The table at the moment a command is made. */
  routingTable(): RoutingTable;
  /** The payer's page of a payment, for methods that redirect. */
  payUrl(book: Book, reference: string): string;
}

export interface RouteSelection {
  chosen: Acquirer;
  decision: RoutingDecision;
  request: InstructionRequest;
  /** Undefined when the acquirer must be asked for them. */
  instructions: Instructions | undefined;
}

/**
 * The acquirer that takes a payment and why; those of `refusedBy` do not. The first decision may put it into a split test; the ones after it, of
 * the next acquirer and of the next try, keep to that test. Throws NO_ROUTE_AVAILABLE or INVALID_AMOUNT.
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

/** Keeps in which split test a payment is, once its first decision is written. */
export function enterSplitTest({ set }: Pick<CommandContext, "set">, { book, reference, routing }: Payment): void {
  if (routing.split) set.insert(splitAssignments, { book, reference, split: routing.split });
}

export function instructionRequest(parts: RouteParts, merchant: Merchant, payment: Payment): InstructionRequest {
  const { book, reference, amountMinor, currency, method, expiresAt, returnUrl, metadata } = payment;
  return {
    reference,
    amountMinor,
    currency,
    method,
    merchantName: merchant.name,
    expiresAt,
    // Made when it is asked for: most methods have no such page.
    get payUrl() {
      return parts.payUrl(book, reference);
    },
    returnUrl,
    metadata,
  };
}

/** What an acquirer says to an amount, whenever it is asked. */
const amountVerdicts: ReadonlySet<string> = new Set(["amount_out_of_range", "amount_too_fine"]);

/** Nobody takes it: because of its amount, which no retry changes, or because nobody can now. */
function routeFault(table: RoutingTable, asked: RoutingRequest, decision: RoutingDecision): Fault {
  const able = decision.candidates.filter(
    ({ verdict }) =>
      verdict !== "method_not_supported" && verdict !== "currency_not_supported" && verdict !== "no_rule",
  );
  const bounds = amountBounds(table, asked);
  const finest = finestStep(table, asked);
  // Whoever has no rule would not take another amount either.
  const isRuled = able.some(({ priority }) => priority !== undefined);
  if (bounds && isRuled && able.every(({ verdict }) => amountVerdicts.has(verdict))) {
    const { minimumMinor, maximumMinor } = bounds;
    const isFine =
      asked.amountMinor >= minimumMinor && asked.amountMinor <= maximumMinor && asked.amountMinor % finest !== 0n;
    if (!isFine) return invalidAmount(wireAmount(asked.amountMinor), maximumMinor, minimumMinor);
    return new Fault("INVALID_AMOUNT", {
      message: `Nobody takes so fine an amount of ${asked.currency} by ${asked.method}: amount_minor must be a multiple of ${finest}.`,
      details: {
        field: "amount_minor",
        value: wireAmount(asked.amountMinor),
        minimum_minor: wireAmount(minimumMinor),
        maximum_minor: wireAmount(maximumMinor),
        multiple_of_minor: wireAmount(finest),
      },
    });
  }
  return new Fault("NO_ROUTE_AVAILABLE", { internal: decision });
}
