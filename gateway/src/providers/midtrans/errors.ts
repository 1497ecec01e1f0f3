// The status codes by which Midtrans says a definite no, as its documentation lists them. A code that is not here says nothing certain. Pure.

/** `unavailable`: it can take nothing now; otherwise it will not take this. */
export interface DefiniteNo {
  meaning: string;
  unavailable: boolean;
}

const no = (meaning: string): DefiniteNo => ({ meaning, unavailable: false });
const notNow = (meaning: string): DefiniteNo => ({ meaning, unavailable: true });

/** https://docs.midtrans.com/reference/code-4xx, for what is asked by a charge: nothing was made under the order id. */
const charges: Readonly<Record<string, DefiniteNo>> = {
  "400": no("the request is not valid"),
  "401": notNow("the server key is not accepted"),
  "402": no("the account has no access to this payment type"),
  "404": no("what was asked for is not found"),
  "405": no("the HTTP method is not allowed"),
  "408": no("a field has the wrong data type"),
  "410": no("the GoPay user is blocked"),
  "411": no("the card's token is missing, invalid or timed out"),
  "413": no("the body cannot be parsed"),
  "429": notNow("the rate limit is exceeded"),
};

/** The same page, and https://docs.midtrans.com/reference/refund-transaction, for a refund or a cancellation. */
const reversals: Readonly<Record<string, DefiniteNo>> = {
  "400": no("the request is not valid"),
  "401": notNow("the server key is not accepted"),
  "402": no("the account has no access to this payment type"),
  "404": no("the transaction is not found"),
  "405": no("the HTTP method is not allowed"),
  "408": no("a field has the wrong data type"),
  "412": no("the transaction's status cannot be changed"),
  "413": no("the body cannot be parsed"),
  "414": no("the amount is invalid, or the account's balance is too low"),
  "429": notNow("the rate limit is exceeded"),
};

/** What a page (Snap) answers by its HTTP status: https://docs.midtrans.com/reference/sample-response */
const pages: Readonly<Record<string, DefiniteNo>> = {
  "400": no("the request is not valid"),
  "401": notNow("the server key is not accepted"),
};

const tables = { charge: charges, page: pages, reversal: reversals };

/** What a status code certainly means; undefined when the outcome stays unknown. */
export function definiteNo(asked: keyof typeof tables, code: string): DefiniteNo | undefined {
  const table = tables[asked];
  return Object.hasOwn(table, code) ? table[code] : undefined;
}

/** A page is refused with 400 also because its order id is paid: then the order is there, and that is no "no". */
export function saysAlreadyThere(messages: readonly string[]): boolean {
  return messages.some((message) => /order_id has been paid and utilized/i.test(message));
}
