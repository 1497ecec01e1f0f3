// Refunds at Midtrans: ordered once under their key, and found again. A card payment that is not settled yet is cancelled instead.
import { AcquirerRefused, type KnownRefund, type RefundRequest, type Refunded } from "../../acquirers/acquirer.ts";
import type { CallContext } from "../caller.ts";
import { type Ordered, type Transaction, readTransaction, stateOf, statusCodeOf } from "./answers.ts";
import { definiteNo } from "./errors.ts";
import { FOUND, type Host, type Tried, refusal } from "./host.ts";
import { idempotencyKeyOf, orderIdOf, refundKeyOf } from "./names.ts";
import { listsLess, refundDenied, refundIn, refundTaken } from "./refund-answers.ts";
import { refundBody } from "./requests.ts";

export class Refunds {
  private readonly host: Host;

  constructor(host: Host) {
    this.host = host;
  }

  async refund(request: RefundRequest, context: CallContext): Promise<Refunded> {
    const tried = await this.tryRefund(request, context);
    if ("refunded" in tried) return tried.refunded;
    throw new AcquirerRefused(tried.no.meaning, { unavailable: tried.no.unavailable });
  }

  async inquireRefund(request: RefundRequest, context: CallContext): Promise<KnownRefund> {
    const found = this.refundOf(request, await this.paymentOf(request, context));
    if (found) return { known: true, ...found };
    if (request.isOver) return { known: false };
    // The refund is absent. Under the same refund key it is made only once, so it is ordered again.
    const tried = await this.tryRefund(request, context);
    if ("refunded" in tried) return { known: true, ...tried.refunded };
    if (tried.no.unavailable && !tried.no.later) throw new Error(tried.no.meaning);
    return { known: false };
  }

  private async tryRefund(request: RefundRequest, context: CallContext): Promise<Tried<{ refunded: Refunded }>> {
    const { operationKey, amountMinor, currency } = request;
    const refundKey = refundKeyOf(operationKey);
    const body = refundBody(refundKey, amountMinor, currency);
    const idempotencyKey = idempotencyKeyOf("refund", operationKey);
    const answer = await this.host.post(`/v2/${nameOf(request)}/refund`, body, context, { idempotencyKey });
    const code = statusCodeOf(answer);
    const sought = { refundKey, orderId: orderIdOf(request.paymentOperationKey), amountMinor };
    if (code === "200") return { refunded: refundTaken(answer, sought) };
    if (code === "202") return { refunded: refundDenied(answer, sought) };
    if (code !== "406" && code !== "412" && code !== "414") {
      const no = definiteNo("reversal", code);
      if (!no) throw new Error(`Midtrans answered a refund with ${code}`);
      return { no: { ...no, meaning: refusal("a refund", code, no.meaning, answer) } };
    }
    // 406: the refund key is known already. 412: the payment's status does not allow a refund. 414: the amount does not, or the account's balance.
    const transaction = await this.paymentOf(request, context);
    const found = this.refundOf(request, transaction);
    if (found) return { refunded: found };
    if (code === "406") throw new Error("Midtrans knows the refund key, and does not list the refund");
    // An earlier order of this refund may be the reason for the refusal.
    if (listsLess(transaction)) throw new Error("Midtrans has given back more than it lists");
    // A status that nobody knows may be that of the refund: `stateOf` throws.
    stateOf(transaction, false);
    if (code === "414")
      return { no: { meaning: refusal("a refund", code, "the amount or the balance", answer), unavailable: false } };
    const isCaptured = transaction.transaction_status.toLowerCase() === "capture";
    if (!isCaptured) return { no: { meaning: refusal("a refund", code, "its status", answer), unavailable: false } };
    if (amountMinor === request.paymentAmountMinor) return this.cancel(request, transaction, context);
    const meaning = "Midtrans gives a part of a card payment back only once it is settled there";
    return { no: { meaning, unavailable: true, later: true } };
  }

  /** Cancels a card's capture that is not settled yet, as a whole: a refund is possible only after settlement. */
  private async cancel(
    request: RefundRequest,
    { transaction_id }: Transaction,
    context: CallContext,
  ): Promise<Tried<{ refunded: Refunded }>> {
    const answer = await this.host.post(`/v2/${transaction_id}/cancel`, undefined, context);
    const code = statusCodeOf(answer);
    const after = code === "200" ? readTransaction(answer, orderedOf(request)) : undefined;
    if (after?.transaction_status !== "cancel") throw new Error(`Midtrans answered a cancellation with ${code}`);
    return { refunded: { status: "succeeded", providerIds: { cancelled: transaction_id } } };
  }

  private refundOf(request: RefundRequest, transaction: Transaction): Refunded | undefined {
    const { operationKey, amountMinor, paymentAmountMinor, providerIds } = request;
    const accepted = providerIds !== undefined;
    const sought = { refundKey: refundKeyOf(operationKey), amountMinor, paymentAmountMinor, accepted };
    const status = refundIn(transaction, sought);
    return status && { status, providerIds };
  }

  /** Inquires about the payment of a refund. */
  private async paymentOf(request: RefundRequest, context: CallContext): Promise<Transaction> {
    const answer = await this.host.get(`/v2/${nameOf(request)}/status`, context);
    const code = statusCodeOf(answer);
    if (!FOUND.includes(code)) throw new Error(`Midtrans answered an inquiry with ${code}`);
    return readTransaction(answer, orderedOf(request));
  }
}

/** The transaction id if it is known, else the order id. */
function nameOf({ paymentProviderIds, paymentOperationKey }: RefundRequest): string {
  return paymentProviderIds?.["transaction"] ?? orderIdOf(paymentOperationKey);
}

function orderedOf({ paymentOperationKey, paymentAmountMinor, currency }: RefundRequest): Ordered {
  return { orderId: orderIdOf(paymentOperationKey), amountMinor: paymentAmountMinor, currency };
}
