// The merchant and the book that a path of /ops/v1 names, and who reads the book as a download.
import type { Reader } from "../ground/downloads.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { type Book, environments } from "../merchants/books.ts";
import type { Directory, Merchant } from "../merchants/directory.ts";
import type { OperatorCall } from "./endpoint.ts";

export const OF_BOOK = "/ops/v1/merchants/{id}/books/{environment}";

/** Throws OBJECT_NOT_FOUND for an unknown merchant or book. */
export async function findBook(
  directory: Directory,
  params: Readonly<Record<string, string>>,
): Promise<{ merchant: Merchant; book: Book }> {
  const { id = "" } = params;
  const environment = environments.find((name) => name === params.environment);
  const merchant = isId("merchant", id) ? await directory.merchant(id) : undefined;
  if (!merchant || !environment) throw new Fault("OBJECT_NOT_FOUND", { message: "No such book." });
  return { merchant, book: { merchantId: id, environment } };
}

/** Who reads a download of a book, and whether they still may. */
export function readerOf({ operator, mayStill }: Pick<OperatorCall, "operator" | "mayStill">): Reader {
  return {
    whose: operator.name,
    async stillAllowed() {
      if (!(await mayStill?.())) throw new Fault("FORBIDDEN", { message: "You may not read this book any more." });
    },
  };
}
