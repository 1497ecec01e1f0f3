// The reply of an endpoint, and the body of an error (interface 7.1). A replayed answer has the same bytes as the first. Sending is in http/.
import type { Readable, Writable } from "node:stream";
import type { Micros } from "./clock.ts";
import type { Fault } from "./fault.ts";

/** A file that a person uploaded: browsers save it and never show it. */
export interface Attachment {
  /** The name that the uploader gave the file; it may be any text. */
  name: string;
  /** The content; an iterable of chunks for a large file. */
  bytes: Buffer | AsyncIterable<Buffer>;
  /** Length of the content; given when `bytes` is an iterable. */
  sizeBytes?: number;
  /** Gets the answer on its way, to see when it was sent to its end or its client has gone. */
  sending?: (answer: Writable) => void;
}

/** An object by its identity, with its status if it has one. */
interface Subject {
  id: string;
  status: string | undefined;
}

/** The answer of an endpoint: a status and the exact text of the body. */
export interface Reply {
  status: number;
  body: string;
  /** JSON when absent. */
  contentType?: string;
  /** A file that is sent instead of the body. */
  file?: Attachment;
  /** A stream that is sent instead of the body. It is destroyed when the client disconnects. */
  stream?: Readable;
  /** Makes browsers save the body under this name. It comes from the service: letters, digits, points and hyphens only. */
  saveAs?: string;
  /** The object that the answer shows. */
  subject?: Subject | undefined;
  /** What the audit of people keeps of the answer. It must hold no secret. */
  audited?: Readonly<Record<string, unknown>>;
  /** The book's time from which its idempotency key is kept, where that is not the present: the end of a move of the sandbox's clock. */
  keptFrom?: Micros;
  /** True for a stored answer that is replayed (interface 4.11). */
  replayed?: boolean;
  /**
   * Present when there is no answer yet: it is called after the commit, and gives the answer; the idempotency key stays in progress until then.
   * It may need several further commits. The key stays in progress when it throws.
   */
  continues?: () => Promise<Reply>;
}

/** The object `error` of an error's body. */
export function errorOf({ code, message, extras: { details } }: Fault, requestId: string): object {
  return { code, message, request_id: requestId, ...(details ? { details } : {}) };
}

export function faultReply(fault: Fault, requestId: string): Reply {
  const body = JSON.stringify({ error: errorOf(fault, requestId) });
  return { status: fault.status, body, subject: subjectOf(fault.extras.details ?? {}) };
}

export function reply(status: number, value: object): Reply {
  return { status, body: JSON.stringify(value), subject: subjectOf(value) };
}

/** Payments are named by their reference, all other objects by their uuid. */
function subjectOf(value: { reference?: unknown; uuid?: unknown; status?: unknown }): Subject | undefined {
  const { reference, uuid, status } = value;
  const id = reference ?? uuid;
  return typeof id === "string" ? { id, status: typeof status === "string" ? status : undefined } : undefined;
}
