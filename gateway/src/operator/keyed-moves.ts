// Runs operators' commands once per idempotency key: the answer is stored in the book, in the transaction of the command's effect.
import type { Clock } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import type { Reply } from "../ground/reply.ts";
import { type Intent, RunningKeys, idempotently, recordedAnswer } from "../idempotency/idempotency.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import type { Command } from "../store/command.ts";
import type { Lanes } from "../store/lanes.ts";
import type { KeyedRequest, OperatorCall } from "./endpoint.ts";

export class KeyedMoves {
  private readonly parts: { database: Database; lanes: Lanes; clock: Clock };
  private readonly runningKeys = new RunningKeys();

  constructor(parts: { database: Database; lanes: Lanes; clock: Clock }) {
    this.parts = parts;
  }

  /** Runs a command, once per key if the call has one. Throws what the command throws, IDEMPOTENCY_CONFLICT and IDEMPOTENCY_IN_PROGRESS. */
  async move(book: Book, { keyed, requestId }: OperatorCall, command: Command<Reply>): Promise<Reply> {
    const { database, lanes } = this.parts;
    if (!keyed) return lanes.move(book.merchantId, command);
    const intent = this.intentOf(book, keyed, requestId);
    return this.runningKeys.alone(intent, () => lanes.move(book.merchantId, idempotently(intent, command, database)));
  }

  /** True when an answer is stored under the call's key. Throws IDEMPOTENCY_CONFLICT, IDEMPOTENCY_IN_PROGRESS. */
  async isAnswered(book: Book, { keyed, requestId }: OperatorCall): Promise<boolean> {
    if (!keyed) return false;
    const intent = this.intentOf(book, keyed, requestId);
    return (await recordedAnswer(this.parts.database, intent, intent.receivedAt)) !== undefined;
  }

  private intentOf(book: Book, keyed: KeyedRequest, requestId: string): Intent {
    return {
      ...keyed,
      // Keeps operators' keys apart from merchants' keys in the same book: merchants' are ASCII.
      key: `operator·${sha256(keyed.key).toString("hex")}`,
      book,
      requestId,
      receivedAt: this.parts.clock.now(),
    };
  }
}
