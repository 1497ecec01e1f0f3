// The status codes that Midtrans' documentation calls a definite refusal. Any other code leaves the outcome unknown. Pure.

/** `unavailable`: Midtrans can take nothing now; otherwise Midtrans will not take this order. */
interface DefiniteNo {
  meaning: string;
  unavailable: boolean;
}

const no = (meaning: string): DefiniteNo => ({ meaning, unavailable: false });
const notNow = (meaning: string): DefiniteNo => ({ meaning, unavailable: true });

/** HTTP statuses of card pages (Snap): https://docs.midtrans.com/reference/sample-response */
const pages: Readonly<Record<string, DefiniteNo>> = {
  "400": no("the request is not valid"),
  "401": notNow("the server key is not accepted"),
};

/** https://docs.midtrans.com/reference/code-4xx, for charges, refunds and cancellations alike. */
const requests: Readonly<Record<string, DefiniteNo>> = {
  ...pages,
  "402": no("the account has no access to this payment type"),
  "405": no("the HTTP method is not allowed"),
  "408": no("a field has the wrong data type"),
  "413": no("the body cannot be parsed"),
  "429": notNow("the rate limit is exceeded"),
};

/** The same page, for a charge: nothing was made under the order id. */
const charges: Readonly<Record<string, DefiniteNo>> = {
  ...requests,
  "404": no("what was asked for is not found"),
  "410": no("the GoPay user is blocked"),
  "411": no("the card's token is missing, invalid or timed out"),
};

/** The same page, and https://docs.midtrans.com/reference/refund-transaction, for a refund or a cancellation. */
const reversals: Readonly<Record<string, DefiniteNo>> = {
  ...requests,
  "404": no("the transaction is not found"),
  "412": no("the transaction's status cannot be changed"),
  "414": no("the amount is invalid, or the account's balance is too low"),
};

const tables = { charge: charges, page: pages, reversal: reversals };

/** The definite refusal that a status code means; undefined when the outcome stays unknown. */
export function definiteNo(asked: keyof typeof tables, code: string): DefiniteNo | undefined {
  const table = tables[asked];
  return Object.hasOwn(table, code) ? table[code] : undefined;
}

/** Whether Midtrans refuses a page because its order id is paid. That also has status 400, but the order exists, so it is no definite refusal. */
export function saysAlreadyThere(messages: readonly string[]): boolean {
  return messages.some((message) => /order_id has been paid and utilized/i.test(message));
}
