// Requests with an idempotency key for pure tests: intents, key records, nonces, and commands that give a chosen decision.
import type { Nonce } from "../src/auth/nonces.sql.ts";
import { usedNonces } from "../src/auth/nonces.sql.ts";
import { sha256 } from "../src/ground/crypto.ts";
import { type Fault } from "../src/ground/fault.ts";
import type { Reply } from "../src/ground/reply.ts";
import { type Intent, idempotently } from "../src/idempotency/idempotency.ts";
import { type KeyRecord, keyRecords } from "../src/idempotency/idempotency.sql.ts";
import { payments } from "../src/payments/payments.sql.ts";
import type { Command } from "../src/store/command.ts";
import { type GivenRow, NOW, book, row } from "./given.ts";
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

/** The key record of an answered intent. */
export function aRecord(changes: Partial<KeyRecord> = {}): GivenRow {
  const { key, endpoint, bodyDigest } = anIntent();
  const record = { book, key, endpoint, bodyDigest, firstSeenAt: NOW, status: 201, response: `{"first":true}` };
  return row(keyRecords, { ...record, ...changes });
}

/** A nonce, and the row that marks it as not consumed. */
export function aNonce(name: string): { nonce: Nonce; fresh: GivenRow } {
  const digest = sha256(name).toString("hex").slice(0, 32);
  const nonce = { merchantId: book.merchantId, validUntil: 1_800_000_300, digest };
  return { nonce, fresh: row(usedNonces, { ...nonce, consumed: false }) };
}

/** A command that writes a payment and then gives `decision`; it counts its runs. */
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

/** The command under its idempotency key, as HTTP runs it. It has no database: only `recall`, after an unknown commit, would use one. */
export function under(intent: Intent, inner: Command<Reply>): Command<Reply> {
  return idempotently(intent, inner, undefined as never);
}
