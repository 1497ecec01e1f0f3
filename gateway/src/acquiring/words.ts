// The messages exchanged with an acquirer about an operation, kept for people to read: without secrets and personal data.
import type { Words } from "../acquirers/acquirer.ts";
import type { Micros } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import type { Book } from "../merchants/books.ts";
import type { Operation } from "./operation.ts";

/** The call during which a message was exchanged; `report` for a message that the acquirer sent by itself. */
export const saidDuring = [
  "open",
  "ask",
  "cancel",
  "judge",
  "refund",
  "ask_refund",
  "submit_evidence",
  "report",
] as const;
export type SaidDuring = (typeof saidDuring)[number];

/** The messages of one call, or one message that the acquirer sent by itself. */
export interface Said {
  call: SaidDuring;
  words: readonly Words[];
}

export interface KeptWords extends Words {
  book: Book;
  operationId: string;
  operationKind: Operation["kind"];
  paymentReference: string;
  gatewayCode: string;
  attempt: number;
  call: SaidDuring;
  saidAt: Micros;
  /** Hash without the time: the same message of the same call has the same digest whenever it is exchanged. */
  digest: Buffer;
}

export function digestOfWords({ attempt, call, about, status, text }: Omit<KeptWords, "digest">): Buffer {
  return sha256(JSON.stringify([attempt, call, about, status ?? null, text]));
}

/** Longer messages are cut to this many characters: people read no further, and what decides stands at the beginning. */
export const WORDS_LENGTH_MAX = 8_192;
