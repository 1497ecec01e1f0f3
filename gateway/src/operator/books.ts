// Finds the merchant and the book that a path of /ops/v1 names.
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { type Book, environments } from "../merchants/books.ts";
import type { Directory, Merchant } from "../merchants/directory.ts";

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
