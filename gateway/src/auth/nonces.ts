// Replay protection (section 5, rule 4): each signature is good once, in every process.
import { fingerprintOf } from "../ground/crypto.ts";
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
