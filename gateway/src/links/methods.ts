// The methods by which a merchant can be paid through a link at present. Pure.
import type { BookOwner } from "../commands/command-context.ts";
import type { Minor } from "../ground/money.ts";
import { type PaymentMethod, maximumOf, paymentMethods } from "../merchants/settings.ts";
import type { PaymentParts } from "../payments/payments.ts";
import { amountBounds } from "../routing/routing.ts";

/** Methods that are enabled for the merchant, as the currency is, and that an acquirer takes in it; with `amount`, only methods that take this amount. */
export function activeMethods(
  { routingTable }: Pick<PaymentParts, "routingTable">,
  { merchant: { settings }, book }: BookOwner,
  currency: string,
  amount?: Minor,
): PaymentMethod[] {
  // A link outlives the settings that it was made under.
  if (!settings.currencies.includes(currency)) return [];
  const table = routingTable();
  return paymentMethods.filter((method) => {
    const bounds = amountBounds(table, { environment: book.environment, method, currency });
    if (!settings.methods[method].enabled || !bounds) return false;
    const most = maximumOf(settings, method, currency);
    return amount === undefined || (amount >= bounds.minimumMinor && amount <= bounds.maximumMinor && amount <= most);
  });
}
