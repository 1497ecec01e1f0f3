// Replay protection (section 5, rule 4): each signature is good once, in every process.
import { TIMESTAMP_WINDOW_SECONDS, fingerprintOf } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import type { Command } from "../store/lane.ts";
import { type WorkingSet, need } from "../store/working-set.ts";

import { type Nonce, deadSlots, emptySlot, filledSlot, usedNonces } from "./nonces.sql.ts";

/**
 * The nonce of a request. Neither path nor key of a write is signed, so its signature stands for one request, wherever it is sent; a
 * signature of a read would be the same for every read of one second, so there the target belongs to it.
 */
export function nonceOf(request: {
  merchantId: string;
  method: string;
  target: string;
  signature: string;
  validUntil: number;
}): Nonce {
  const { merchantId, method, target, signature, validUntil } = request;
  const isRead = method === "GET" || method === "HEAD";
  const digest = isRead ? fingerprintOf(method, signature, target) : signature;
  return { merchantId, validUntil, digest: digest.slice(0, 32) };
}

/** Seconds of time that one row stands for, of those that keep a client's nonces apart. */
const SPAN_SECONDS = 300;

/**
 * What makes a request that is signed by RFC 9421 one request: its client and its nonce, whatever the method, the target and the time. `nonce`
 * is that of the request itself. `spans` are consumed by reads and writes alike, before anything else: rows for each span of time from now
 * until the nonce may be forgotten. Whoever uses it again meanwhile, with another `created`, meets at least one of them.
 */
export function messageNonces(request: {
  merchantId: string;
  clientId: string;
  nonce: string;
  created: number;
  now: number;
}): { nonce: Nonce; spans: Nonce[] } {
  const { merchantId, clientId, nonce, created, now } = request;
  // No method of a read is called so: a nonce of one scheme is never one of the other.
  const digest = fingerprintOf("rfc9421", clientId, nonce).slice(0, 32);
  const validUntil = created + TIMESTAMP_WINDOW_SECONDS;
  const spans: Nonce[] = [];
  for (let span = Math.floor(now / SPAN_SECONDS); span <= Math.floor(validUntil / SPAN_SECONDS); span++)
    spans.push({ merchantId, validUntil: (span + 1) * SPAN_SECONDS - 1, digest });
  return { nonce: { merchantId, validUntil, digest }, spans };
}

/** Uses a nonce up inside a command that needs it. It stays used up even if the command is refused. Throws SIGNATURE_REPLAYED. */
export function consume(set: WorkingSet, nonce: Nonce): void {
  const found = set.get(usedNonces, nonce);
  if (!found || found.consumed) throw new Fault("SIGNATURE_REPLAYED");
  set.update(usedNonces, { ...found, consumed: true });
  set.keep();
}

/** Uses a nonce up and does nothing else: for a write that is refused before it is a command. Throws SIGNATURE_REPLAYED. */
export function consumeOnly(book: Book, nonce: Nonce): Command<void> {
  return {
    name: "consume nonce",
    book,
    needs: [need(usedNonces, nonce)],
    execute: (set) => consume(set, nonce),
  };
}

/** Empties the slots whose nonces nobody can use again, by the database's clock. */
export async function emptyDeadSlots(database: Database): Promise<void> {
  for (const { slot } of await database.query<{ slot: number }>(deadSlots())) {
    for (const { kind } of await database.query<{ kind: "used_nonces" | "used_read_nonces" }>(filledSlot(slot)))
      await database.transaction((query) => query(emptySlot(kind, slot)));
  }
}
