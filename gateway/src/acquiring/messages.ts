// The messages exchanged with an acquirer about an operation, kept for people to read: without secrets and personal data.
import type { AcquirerMessage } from "../acquirers/acquirer.ts";
import type { Micros } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import type { Book } from "../merchants/books.ts";
import type { Operation } from "./operation.ts";

/** The call during which a message was exchanged; `report` for a message that the acquirer sent by itself. */
export const messageCalls = [
  "open",
  "inquire",
  "cancel",
  "judge",
  "refund",
  "inquire_refund",
  "submit_evidence",
  "report",
] as const;
export type MessageCall = (typeof messageCalls)[number];

/** The messages of one call, or one message that the acquirer sent by itself. */
export interface CallMessages {
  call: MessageCall;
  messages: readonly AcquirerMessage[];
}

export interface KeptMessage extends AcquirerMessage {
  book: Book;
  operationId: string;
  operationKind: Operation["kind"];
  paymentReference: string;
  gatewayCode: string;
  attempt: number;
  call: MessageCall;
  exchangedAt: Micros;
  /** Hash without the time: the same message of the same call has the same digest whenever it is exchanged. */
  digest: Buffer;
}

export function digestOfMessage({ attempt, call, about, status, text }: Omit<KeptMessage, "digest">): Buffer {
  return sha256(JSON.stringify([attempt, call, about, status ?? null, text]));
}

/** Longer messages are cut to this many characters: people read no further, and what decides stands at the beginning. */
export const MESSAGE_LENGTH_MAX = 8_192;
/** So much is kept of what a message is about. */
export const ABOUT_MAX = 200;

/** The beginning of a text, as PostgreSQL can store it. */
export function storable(text: string, length: number): string {
  return text.slice(0, length).replaceAll("\0", "\ufffd");
}
