// A payment at its acquirer: reads the acquirer operations, the acquirer's ids, and the messages that were exchanged. Writes nothing.
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type Operation, operationKey, wasCalled } from "../acquiring/operation.ts";
import { operationOfRow } from "../acquiring/operations.sql.ts";
import { type ReadMessage, selectMessages, messageOfRow } from "../acquiring/messages.sql.ts";
import { wireTime } from "../ground/clock.ts";
import type { Payment } from "../payments/payment.ts";
import type { Database } from "../store/database.ts";
import type { PaymentAtAcquirer } from "./at-acquirer.schema.ts";
import { TOLD_MAX, selectOperationsOfPayment } from "./story.sql.ts";

export interface AtAcquirerParts {
  database: Database;
  /** The acquirer with this code; undefined when it is no longer configured. */
  acquirer: (code: string) => Acquirer | undefined;
}

/** The acquirer of a payment, its ids, and the messages about payment and refunds. The caller checks that the payment may be read. */
export async function readAtAcquirer(
  { database, acquirer }: AtAcquirerParts,
  payment: Payment,
): Promise<PaymentAtAcquirer> {
  const { book, reference } = payment;
  const [operations = [], messages = []] = await database.pipeline([
    selectOperationsOfPayment(book, reference),
    selectMessages(book, reference, TOLD_MAX + 1),
  ]);
  return atAcquirerView(acquirer, payment, operations.map(operationOfRow), messages.map(messageOfRow));
}

/** Each list may have one more entry than TOLD_MAX, which tells that there is more. */
export function atAcquirerView(
  acquirer: AtAcquirerParts["acquirer"],
  { reference, gatewayCode }: Pick<Payment, "reference" | "gatewayCode">,
  operations: readonly Operation[],
  messages: readonly ReadMessage[],
): PaymentAtAcquirer {
  return {
    reference,
    gateway_code: gatewayCode ?? null,
    acquirer_name: gatewayCode === undefined ? null : (acquirer(gatewayCode)?.name ?? null),
    operations: operations
      .slice(0, TOLD_MAX)
      .map((operation) => operationView(acquirer(operation.gatewayCode), operation)),
    messages: messages.slice(0, TOLD_MAX).map(messageView),
    is_cut: operations.length > TOLD_MAX || messages.length > TOLD_MAX,
  };
}

function operationView(acquirer: Acquirer | undefined, operation: Operation): PaymentAtAcquirer["operations"][number] {
  const isCalled = wasCalled(operation);
  return {
    object: operation.id,
    gateway_code: operation.gatewayCode,
    step: operation.step,
    attempt: operation.attempt,
    operation_key: isCalled ? operationKey(operation) : null,
    provider_ids: { ...operation.providerIds },
    dashboard_url: (isCalled ? dashboardOf(acquirer, operation) : undefined) ?? null,
  };
}

/** The payment's page at the acquirer. People click on this address, and the acquirer may supply parts, so only `https:` is accepted. */
function dashboardOf(acquirer: Acquirer | undefined, { providerIds }: Operation): string | undefined {
  const url = acquirer?.dashboardUrl?.(providerIds ?? {});
  return url !== undefined && URL.parse(url)?.protocol === "https:" ? url : undefined;
}

function messageView(message: ReadMessage): PaymentAtAcquirer["messages"][number] {
  return {
    object: message.operationId,
    gateway_code: message.gatewayCode,
    attempt: message.attempt,
    call: message.call,
    about: message.about,
    status: message.status ?? null,
    text: message.text,
    exchanged_at: wireTime(message.exchangedAt),
  };
}
