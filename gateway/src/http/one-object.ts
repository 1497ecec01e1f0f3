// One object of a merchant, as the path of a request names it: read in either environment, so that another environment's object is told from none.
import { Fault, type FaultCode } from "../ground/fault.ts";
import { type IdKind, isId } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import type { Database, Row, Statement } from "../store/database.ts";

/** Makes the function that reads one object of a merchant by its identity, in either environment; undefined when there is none. */
export function readerOf<Read>(
  kind: IdKind,
  select: (merchantId: string, id: string) => Statement,
  ofRow: (row: Row) => Read,
) {
  return async (database: Database, merchantId: string, id = ""): Promise<Read | undefined> =>
    isId(kind, id) ? database.first(select(merchantId, id), ofRow) : undefined;
}

/** Gives an object that was read. Throws `missing` when there is none, and ENVIRONMENT_MISMATCH when it is of the merchant's other book. */
export function ofThisBook<Read extends { book: Book }>(
  { environment }: Book,
  read: Read | undefined,
  missing: FaultCode,
  message?: string,
): Read {
  if (!read) throw new Fault(missing, message === undefined ? {} : { message });
  if (read.book.environment !== environment) throw new Fault("ENVIRONMENT_MISMATCH");
  return read;
}
