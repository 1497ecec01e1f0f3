// Keeps what was said about an operation, inside a command.
import type { CommandContext } from "../commands/command-context.ts";
import type { Operation } from "./operation.ts";
import { type KeptWords, type Said, WORDS_LENGTH_MAX, digestOfWords } from "./words.ts";
import { acquirerWords } from "./words.sql.ts";

/** Keeps what was said with the operation. The same words of the same call are kept once, however often they are said. */
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
    // Said twice in one batch: the later is the same.
    if (!set.get(acquirerWords, kept)) set.insert(acquirerWords, kept);
  }
}
