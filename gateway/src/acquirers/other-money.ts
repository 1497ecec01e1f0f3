// What an acquirer says of money that has moved, and that is not the money of the order.

/**
 * The acquirer says that money was paid, or paid back, in another amount or currency than the ordered one, or so that it cannot be counted: its amount
 * cannot be read, or nothing identifies it. The outcome is unknown, as after any other error: nothing is booked, and a reconciliation exception
 * tells a person. The message states what was said.
 */
export class OtherMoney extends Error {
  override name = "OtherMoney";
}

/** Reads what an answer says of money that has moved. An error of `read` becomes `OtherMoney`. */
export function readMoved<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new OtherMoney(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
