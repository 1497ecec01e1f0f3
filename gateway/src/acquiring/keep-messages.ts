// Keeps the messages exchanged about an operation, inside a command.
import type { CommandContext } from "../commands/command-context.ts";
import type { Operation } from "./operation.ts";
import {
  ABOUT_MAX,
  type KeptMessage,
  type CallMessages,
  MESSAGE_LENGTH_MAX,
  digestOfMessage,
  storable,
} from "./messages.ts";
import { acquirerMessages } from "./messages.sql.ts";

/** Keeps messages with their operation. The same message of the same call is kept once, however often it is exchanged. */
export function keepMessages(
  { set, realNow }: Pick<CommandContext, "set" | "realNow">,
  operation: Pick<Operation, "book" | "id" | "kind" | "paymentReference" | "gatewayCode" | "attempt">,
  messages: CallMessages | undefined,
): void {
  const { book, id, kind, paymentReference, gatewayCode, attempt } = operation;
  if (messages === undefined) return;
  for (const { about, status, text } of messages.messages) {
    const next: Omit<KeptMessage, "digest"> = {
      book,
      operationId: id,
      operationKind: kind,
      paymentReference,
      gatewayCode,
      attempt,
      call: messages.call,
      about: storable(about, ABOUT_MAX),
      status,
      text: storable(text, MESSAGE_LENGTH_MAX),
      exchangedAt: realNow,
    };
    const kept: KeptMessage = { ...next, digest: digestOfMessage(next) };
    // The same batch may contain the same message already.
    if (!set.get(acquirerMessages, kept)) set.insert(acquirerMessages, kept);
  }
}
