// Replay protection (section 5, rule 4): each signature is good once, in all processes together.
import type { Clock } from "../ground/clock.ts";
import { TIMESTAMP_WINDOW_SECONDS, fingerprintOf } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import type { Command } from "../store/command.ts";
import { type WorkingSet, need } from "../store/working-set.ts";
import { type Nonce, deadSlots, emptySlot, filledSlot, usedNonces } from "./nonces.sql.ts";

/**
 * The nonce of a request signed by X-Signature. A write's signature covers neither path nor idempotency key, so the signature alone is the
 * nonce, wherever it is sent. All reads of one second have the same signature, so a read's nonce includes the method and the target.
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

/** Length in seconds of the span of time that one row of a message nonce stands for. */
const SPAN_SECONDS = 300;

/**
 * The nonces of a request signed by RFC 9421. Client and nonce identify the request, whatever its method, target and time. A row's key includes
 * `valid_until`, so the same nonce with another `created` would be a new row. Each request, read or write, therefore first consumes `spanMarks`: a
 * row for each 300 s from now until the nonce may be forgotten. A repetition meets at least one of them.
 */
export function messageNonces(request: {
  merchantId: string;
  clientId: string;
  nonce: string;
  created: number;
  now: number;
}): { nonce: Nonce; spanMarks: Nonce[] } {
  const { merchantId, clientId, nonce, created, now } = request;
  // "rfc9421" is no HTTP method, so a nonce of this scheme never equals one of the other scheme.
  const digest = fingerprintOf("rfc9421", clientId, nonce).slice(0, 32);
  const validUntil = created + TIMESTAMP_WINDOW_SECONDS;
  const spanMarks: Nonce[] = [];
  for (let span = Math.floor(now / SPAN_SECONDS); span <= Math.floor(validUntil / SPAN_SECONDS); span++)
    spanMarks.push({ merchantId, validUntil: (span + 1) * SPAN_SECONDS - 1, digest });
  return { nonce: { merchantId, validUntil, digest }, spanMarks };
}

/** Consumes a nonce inside a command that needs it, even when the command is refused afterwards. Throws SIGNATURE_REPLAYED. */
export function consume(set: WorkingSet, nonce: Nonce): void {
  const found = set.get(usedNonces, nonce);
  if (!found || found.consumed) throw new Fault("SIGNATURE_REPLAYED");
  set.update(usedNonces, { ...found, consumed: true });
  set.keep();
}

/** Makes a command that only consumes a nonce, for a write that is refused before its command runs. Throws SIGNATURE_REPLAYED. */
export function consumeOnly(book: Book, nonce: Nonce): Command<void> {
  return {
    name: "consume nonce",
    book,
    needs: [need(usedNonces, nonce)],
    execute: (set) => consume(set, nonce),
  };
}

/** Empties the slots whose nonces have expired by the database's clock and the process's. */
export async function emptyDeadSlots(database: Database, clock: Clock): Promise<void> {
  for (const { slot } of await database.query<{ slot: number }>(deadSlots(clock.now()))) {
    for (const { kind } of await database.query<{ kind: "used_nonces" | "used_read_nonces" }>(filledSlot(slot)))
      await database.transaction(async (query) => {
        // A process that was paused since may find the slot in use again. A pause from here on ends the transaction.
        const dead = await query<{ slot: number }>(deadSlots(clock.now()));
        if (dead.some((one) => one.slot === slot)) await query(emptySlot(kind, slot));
      });
  }
}
