// Requests under an idempotency key, for pure tests: what arrives, and commands that decide something.
import type { Nonce } from "../src/auth/nonces.sql.ts";
import { usedNonces } from "../src/auth/nonces.sql.ts";
import { sha256 } from "../src/ground/crypto.ts";
import { type Fault } from "../src/ground/fault.ts";
import type { Reply } from "../src/ground/reply.ts";
import { type Intent, idempotently } from "../src/idempotency/idempotency.ts";
import { type KeyRecord, keyRecords } from "../src/idempotency/idempotency.sql.ts";
import { payments } from "../src/payments/payments.sql.ts";
import type { Command } from "../src/store/lane.ts";
import { type GivenRow, NOW, book, row } from "./given.ts";
import { readsOnlyItsNeeds } from "./needs.ts";
import { aPayment } from "./payments.ts";

export function anIntent(changes: Partial<Intent> & { body?: string } = {}): Intent {
  const { body = "{}", ...rest } = changes;
  return {
    book,
    key: "key-of-order-1",
    endpoint: "POST /v1/payments",
    bodyDigest: sha256(body),
    requestId: "req_1",
    receivedAt: NOW,
    ...rest,
  };
}

/** The record of an intent that was answered so. */
export function aRecord(changes: Partial<KeyRecord> = {}): GivenRow {
  const { key, endpoint, bodyDigest } = anIntent();
  const record = { book, key, endpoint, bodyDigest, firstSeenAt: NOW, status: 201, response: `{"first":true}` };
  return row(keyRecords, { ...record, ...changes });
}

/** A signature's nonce, and the row that says that nobody has used it. */
export function aNonce(name: string): { nonce: Nonce; fresh: GivenRow } {
  const digest = sha256(name).toString("hex").slice(0, 32);
  const nonce = { merchantId: book.merchantId, validUntil: 1_800_000_300, digest };
  return { nonce, fresh: row(usedNonces, { ...nonce, consumed: false }) };
}

/** A command that writes a payment and then decides; it counts how often it ran. */
export function deciding(decision: Reply | Fault): Command<Reply> & { ran: number } {
  const command = {
    name: "decide",
    book,
    needs: [],
    ran: 0,
    execute(set: Parameters<Command<Reply>["execute"]>[0]): Reply {
      command.ran++;
      set.insert(payments, aPayment());
      if (decision instanceof Error) throw decision;
      return decision;
    },
  };
  return command;
}

/** The command under its key, as the edge runs it. Nothing in it asks a database before a commit is unknown. */
export function under(intent: Intent, inner: Command<Reply>): Command<Reply> {
  return readsOnlyItsNeeds(idempotently(intent, inner, undefined as never));
}
