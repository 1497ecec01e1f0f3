// Keeps the messages exchanged about an operation, inside a command.
import type { CommandContext } from "../commands/command-context.ts";
import type { Operation } from "./operation.ts";
import { type KeptWords, type Said, WORDS_LENGTH_MAX, digestOfWords } from "./words.ts";
import { acquirerWords } from "./words.sql.ts";

/** Keeps messages with their operation. The same message of the same call is kept once, however often it is exchanged. */
export function keepWords(
  { set, realNow }: Pick<CommandContext, "set" | "realNow">,
  operation: Pick<Operation, "book" | "id" | "kind" | "paymentReference" | "gatewayCode" | "attempt">,
  said: Said | undefined,
): void {
  const { book, id, kind, paymentReference, gatewayCode, attempt } = operation;
  if (said === undefined) return;
  for (const { about, status, text } of said.words) {
    const next: Omit<KeptWords, "digest"> = {
      book,
      operationId: id,
      operationKind: kind,
      paymentReference,
      gatewayCode,
      attempt,
      call: said.call,
      about: about.slice(0, 200),
      status,
      text: text.slice(0, WORDS_LENGTH_MAX).replaceAll("\0", "\ufffd"),
      saidAt: realNow,
    };
    const kept: KeptWords = { ...next, digest: digestOfWords(next) };
    // The same batch may contain the same message already.
    if (!set.get(acquirerWords, kept)) set.insert(acquirerWords, kept);
  }
}
