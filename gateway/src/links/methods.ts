// By which methods a merchant can be paid through a link, as things stand. Pure.
import type { BookOwner } from "../commands/command-context.ts";
import type { Minor } from "../ground/money.ts";
import { type PaymentMethod, maximumOf, paymentMethods } from "../merchants/settings.ts";
import type { PaymentParts } from "../payments/payments.ts";
import { amountBounds } from "../routing/routing.ts";

/** Those that are on for the merchant and that an acquirer takes in this currency; of a fixed amount, only those that take it. */
export function activeMethods(
  { routingTable }: Pick<PaymentParts, "routingTable">,
  { merchant: { settings }, book }: BookOwner,
  currency: string,
  amount?: Minor,
): PaymentMethod[] {
  const table = routingTable();
  return paymentMethods.filter((method) => {
    const bounds = amountBounds(table, { environment: book.environment, method, currency });
    if (!settings.methods[method].enabled || !bounds) return false;
    const most = maximumOf(settings, method, currency);
    return amount === undefined || (amount >= bounds.minimumMinor && amount <= bounds.maximumMinor && amount <= most);
  });
}
