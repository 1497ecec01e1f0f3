// Reading a request's body: whole, raw, within the limits of one and of all together.
import type { IncomingMessage } from "node:http";
import { Fault } from "../ground/fault.ts";
import type { LoadShedding } from "./load-shedding.ts";

/** The largest body, of any request. */
export const BODY_MAX_BYTES = 262_144;
/** A body that is held comes within this time; one that is taken as it arrives may take as long as the server waits for any request. */
const BODY_WITHIN_MS = 30_000;
const nothing = Buffer.alloc(0);
/** How a reading is broken off, while there is one. */
const readings = new WeakMap<IncomingMessage, (fault: Fault) => void>();

/** The bytes as sent. Throws PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE when too much is held already, and what `breakOff` says. */
export function readBody(
  request: IncomingMessage,
  load: LoadShedding,
  withinMs = BODY_WITHIN_MS,
): Buffer | Promise<Buffer> {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === "0")) return nothing;
  if (request.destroyed) return Promise.reject(new Fault("MALFORMED_REQUEST"));
  if (Number(length) > BODY_MAX_BYTES) return Promise.reject(new Fault("PAYLOAD_TOO_LARGE"));
  return new Promise((resolve, reject) => {
    // One buffer that grows with what has arrived: what was only announced costs nothing, and neither do tiny chunks.
    let held: Buffer = nothing;
    let size = 0;
    let refusal: Fault | undefined;
    const late = setTimeout(() => giveUp(lateFault()), withinMs);
    const stop = (): void => {
      clearTimeout(late);
      request.off("data", take).off("end", finish).off("error", fail).off("close", fail);
      readings.delete(request);
    };
    const giveUp = (fault: Fault): void => {
      stop();
      reject(fault);
    };
    const take = (part: Buffer): void => {
      const before = size;
      size += part.length;
      if (size > BODY_MAX_BYTES) giveUp(new Fault("PAYLOAD_TOO_LARGE"));
      if (size > BODY_MAX_BYTES || refusal) return;
      refusal = load.hold(request, part.length);
      // What is refused is still read to its end, and thrown away: an answer in the middle is lost with the connection.
      if (refusal) held = nothing;
      else {
        if (size > held.length) held = grown(held, before, size);
        part.copy(held, before);
      }
    };
    const finish = (): void => {
      stop();
      if (refusal) reject(refusal);
      else resolve(held.subarray(0, size));
    };
    const fail = (): void => giveUp(new Fault("MALFORMED_REQUEST"));
    request.on("data", take).on("end", finish).on("error", fail).on("close", fail);
    readings.set(request, giveUp);
  });
}

/**
 * The bytes of a body that is too large to hold, as they arrive: the client is read no faster than they are taken. What is left when nobody
 * takes more is thrown away, so that the answer arrives. Throws MALFORMED_REQUEST when the client goes away, and what `breakOff` says.
 */
export async function* streamBody(request: IncomingMessage): AsyncGenerator<Buffer> {
  if (request.destroyed) throw new Fault("MALFORMED_REQUEST");
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined); // nobody may be waiting
  readings.set(request, broken.reject);
  const parts = request.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const next = (await Promise.race([parts.next(), broken.promise])) as IteratorResult<Buffer, undefined>;
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    throw error instanceof Fault ? error : new Fault("MALFORMED_REQUEST", { internal: error });
  } finally {
    readings.delete(request);
    void parts.return?.().then(() => request.resume());
  }
}

/** The refusal of a request that does not come. */
export function lateFault(): Fault {
  return new Fault("MALFORMED_REQUEST", { status: 408, message: "The request did not arrive in time." });
}

/** Ends the reading of a body that will never be whole. False when nobody reads it. */
export function breakOff(request: IncomingMessage, fault: Fault): boolean {
  const giveUp = readings.get(request);
  giveUp?.(fault);
  return giveUp !== undefined;
}

function grown(held: Buffer, size: number, needed: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(BODY_MAX_BYTES, Math.max(needed, 2 * size)));
  held.copy(larger, 0, 0, size);
  return larger;
}
