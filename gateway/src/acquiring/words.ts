// What acquirers and we said to each other about an operation, kept for people: without secrets and without what names a person.
import type { Words } from "../acquirers/acquirer.ts";
import type { Micros } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import type { Book } from "../merchants/books.ts";
import type { Operation } from "./operation.ts";

/** During which of our calls something is said; `report` for a message of the acquirer. */
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

/** What was said during one call, or by one message. */
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
  /** Equal for the same words of the same call, whenever they are said. */
  digest: Buffer;
}

export function digestOfWords({ attempt, call, about, status, text }: Omit<KeptWords, "digest">): Buffer {
  return sha256(JSON.stringify([attempt, call, about, status ?? null, text]));
}

/** Longer words are cut: nobody reads on, and what decides stands at the beginning. */
export const WORDS_LENGTH_MAX = 8_192;
