// The views of logged requests for the portal and the merchants' API, without and with their bodies.
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import type { Reply } from "../ground/reply.ts";
import { checkCursor, limitOf, page, rangeBefore, rangeFrom } from "../http/lists.ts";
import type { Book } from "../merchants/books.ts";
import type { KeptBody } from "../requests/request-record.ts";
import {
  type LoggedRequest,
  type WholeRequest,
  requestOfRow,
  selectRequest,
  selectRequests,
  wholeRequestOfRow,
} from "../requests/requests.sql.ts";
import type { Database } from "../store/database.ts";
import type { Diagnosis } from "./diagnoses.ts";
import { explanationOf } from "./message-diagnoses.ts";
import type { RequestsQuery } from "./requests.schema.ts";

interface Reader {
  book: Book;
  scopes: ReadonlySet<string>;
}

/** A page of a book's requests, newest first. Throws VALIDATION_ERROR for an invalid time or an unknown cursor. */
export async function listRequests(database: Database, book: Book, query: RequestsQuery): Promise<Reply> {
  const after = query.starting_after;
  await checkCursor(book, after, (id) => database.first(selectRequest(book, id), () => ({ book })));
  const statement = selectRequests({
    book,
    outcome: query.outcome,
    method: query.method,
    path: query.path,
    status: query.status === undefined ? undefined : Number(query.status),
    code: query.error_code,
    clientId: query.client_id,
    idempotencyKey: query.idempotency_key,
    createdFrom: rangeFrom("created_from", query.created_from),
    createdBefore: rangeBefore("created_to", query.created_to),
    after,
    limit: limitOf(query),
  });
  const rows = await database.query(statement);
  return page(rows.map(requestOfRow), query, requestView, ({ requestId }) => requestId);
}

/** Scopes that the answers of some paths need of whoever reads them later, too. An answer with events may tell of a settlement. */
const needed: readonly [path: RegExp, scope: string][] = [
  [/^\/v1\/balances\b/, "balances:read"],
  [/^\/v1\/(?:sandbox\/)?(?:settlements|events)\b/, "settlements:read"],
  [/^\/v1\/(?:sandbox\/)?events\b/, "events:read"],
  [/^\/v1\/(?:sandbox\/)?(?:payments|payment-links)\b/, "payments:read"],
  [/^\/v1\/(?:sandbox\/)?refunds\b/, "refunds:read"],
  [/^\/v1\/(?:sandbox\/)?(?:disputes|payments\/[^/]+\/dispute)\b/, "disputes:read"],
];
/** An answer to a reading of the log holds the answer that was read, which may be any: it needs all of these scopes. */
const OF_LOG = /^\/v1\/sandbox\/requests\//;

/** The answer of a call for a reader with these scopes: without its text where they would not give it to the reader. */
export function answerView(scopes: ReadonlySet<string>, { path, response }: Pick<WholeRequest, "path" | "response">) {
  const isShown = needed.every(([of, scope]) => scopes.has(scope) || !(of.test(path) || OF_LOG.test(path)));
  return isShown ? bodyView(response) : { bytes: response.size, text: null, omitted: "needs_scope" };
}

/** Reads one request with its bodies. Throws OBJECT_NOT_FOUND. */
export async function readRequest(database: Database, { book, scopes }: Reader, id = "") {
  const [row] = isId("request", id) ? await database.query(selectRequest(book, id)) : [];
  if (!row) throw new Fault("OBJECT_NOT_FOUND", { message: "No request with this identity is in the log." });
  return wholeRequestView(scopes, wholeRequestOfRow(row));
}

export function wholeRequestView(scopes: ReadonlySet<string>, whole: WholeRequest) {
  return { ...requestView(whole), request: bodyView(whole.request), response: answerView(scopes, whole) };
}

export function requestView(request: LoggedRequest) {
  return {
    request_id: request.requestId,
    at: wireTime(request.at),
    method: request.method,
    path: request.path,
    query: request.query ?? null,
    status: request.status,
    error_code: request.code ?? null,
    duration_ms: Math.round(request.tookUs / 100) / 10,
    client_id: request.clientId,
    proven: request.isProven,
    idempotency_key: request.idempotencyKey ?? null,
    replayed: request.replayed,
    diagnosis: request.diagnosis ? diagnosisView(request.diagnosis) : null,
  };
}

function diagnosisView({ name, subject, base }: NonNullable<LoggedRequest["diagnosis"]>) {
  return {
    diagnosis: name,
    explanation: explanationOf(name as Diagnosis, subject),
    subject: subject ?? null,
    signature_base: base ?? null,
  };
}

function bodyView({ size, text, omitted }: KeptBody) {
  return { bytes: size, text: text ?? null, omitted: omitted ?? null };
}
