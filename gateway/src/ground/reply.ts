// The error envelope of section 7.1: the same bytes for an answer now and for one replayed later.
import type { Readable } from "node:stream";
import type { Fault } from "./fault.ts";

/** A file that somebody else made: saved, never shown. */
export interface Attachment {
  /** As its maker calls it: any text. */
  name: string;
  /** Of a large file, as they are read. */
  bytes: Buffer | AsyncIterable<Buffer>;
  /** How many there are, where they are read. */
  sizeBytes?: number;
}

/** What an endpoint answers: a status and the body's exact text. */
export interface Reply {
  status: number;
  body: string;
  /** JSON unless said otherwise. */
  contentType?: string;
  /** A file that is sent instead of the body. */
  file?: Attachment;
  /** What is sent instead of the body, as long as it goes on. It is destroyed when whoever asked has gone. */
  stream?: Readable;
  /** The name under which it is saved instead of shown: one of ours, of letters, digits, points and hyphens. */
  saveAs?: string;
  /** True for a stored answer given again (section 4.11). */
  replayed?: boolean;
  /**
   * There is no answer yet: this gives it once the change is committed, and the key stays in progress until then. It makes everything that
   * needs more than one commit, and throws what stays in progress.
   */
  continues?: () => Promise<Reply>;
}

export function faultReply(fault: Fault, requestId: string): Reply {
  const { details } = fault.extras;
  const error = { code: fault.code, message: fault.message, request_id: requestId, ...(details ? { details } : {}) };
  return { status: fault.status, body: JSON.stringify({ error }) };
}

export function reply(status: number, value: unknown): Reply {
  return { status, body: JSON.stringify(value) };
}
