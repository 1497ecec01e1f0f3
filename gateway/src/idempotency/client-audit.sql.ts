// All SQL of the audit of merchants' systems: what each signed request changed. Rows are appended with the change, and never touched again.
import type { Micros } from "../ground/clock.ts";
import { uuidBytes } from "../ground/ids.ts";
import { type Book, bookColumns } from "../merchants/books.ts";
import { type Table, bulkInsert } from "../store/table.ts";

const ADDRESS_MAX = 60;

/** A request that changes something, and the credential that signed it. */
export interface SignedChange {
  clientId: string;
  /** IP address that sent the request. */
  address: string;
  /** The operation in snake case. */
  action: string;
  /** Identity of the object that the path names. */
  named: string | undefined;
}

interface AuditedChange extends Omit<SignedChange, "named"> {
  book: Book;
  requestId: string;
  /** Real time at which the request came. */
  at: Micros;
  /** The object of the answer, else of the path; undefined where there is none. */
  subject: string | undefined;
  /** Status of the object, as the answer shows it. */
  status: string | undefined;
}

export const clientAudit: Table<{ requestId: string }, AuditedChange> = {
  name: "client audit",
  keyText: ({ requestId }) => requestId,
  keyOf: (change) => change,
  insert: bulkInsert<AuditedChange>("client_audit", {
    ...bookColumns,
    subject: ["text", ({ subject }) => subject ?? ""],
    request_id: ["uuid", ({ requestId }) => uuidBytes(requestId)],
    at: ["timestamptz", ({ at }) => at],
    client_id: ["text", ({ clientId }) => clientId],
    address: ["text", ({ address }) => address.slice(0, ADDRESS_MAX)],
    action: ["text", ({ action }) => action],
    status: ["text", ({ status }) => status],
  }),
};
