// Reads the raw body of a request, within the limit of one body and the limits of load shedding, or streams it.
import type { IncomingMessage } from "node:http";
import { Fault } from "../ground/fault.ts";
import type { LoadShedding } from "./load-shedding.ts";

/** The largest body that is held in memory (section 8). */
const BODY_MAX_BYTES = 262_144;
/** Time limit for a body that is held. A streamed body may take as long as `requestTimeout` of the server. */
const BODY_WITHIN_MS = 30_000;
const nothing = Buffer.alloc(0);
/** Functions that abort the reading of a body, by request. One does nothing once the body is read. */
const readings = new WeakMap<IncomingMessage, (fault: Fault) => void>();
/** Why the body of a request breaks off, by request: the rest will not come, whoever reads it later. */
const broken = new WeakMap<IncomingMessage, Fault>();

/** Refuses a body before it is parsed, where anybody may send one: to parse a large one takes the time of hundreds. Throws PAYLOAD_TOO_LARGE. */
export function refuseLarge(body: unknown, mostBytes: number): void {
  if (Buffer.isBuffer(body) && body.length > mostBytes)
    throw new Fault("PAYLOAD_TOO_LARGE", { message: `The body may have at most ${mostBytes} bytes.` });
}

/** Gives the body's bytes. Throws PAYLOAD_TOO_LARGE, MALFORMED_REQUEST, SERVICE_UNAVAILABLE without capacity, and `breakOff`'s fault. */
export function readBody(
  request: IncomingMessage,
  load: LoadShedding,
  withinMs = BODY_WITHIN_MS,
): Buffer | Promise<Buffer> {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === "0")) return nothing;
  if (request.destroyed || broken.has(request)) return Promise.reject(brokenBy(request));
  if (Number(length) > BODY_MAX_BYTES) return Promise.reject(new Fault("PAYLOAD_TOO_LARGE"));
  return new Promise((resolve, reject) => {
    // One buffer grows with the bytes that have arrived, so that neither an announced length nor tiny chunks cost memory.
    let held: Buffer = nothing;
    let size = 0;
    let refusal: Fault | undefined;
    const late = setTimeout(() => giveUp(lateFault()), withinMs);
    const stop = (): void => {
      clearTimeout(late);
      request.off("data", take).off("end", finish).off("error", fail).off("close", fail);
    };
    const giveUp = (fault: Fault): void => {
      stop();
      reject(fault);
    };
    const take = (part: Buffer): void => {
      const before = size;
      size += part.length;
      if (size > BODY_MAX_BYTES) return giveUp(new Fault("PAYLOAD_TOO_LARGE"));
      refusal ??= load.hold(request, part.length);
      // A refused body is read to its end and thrown away, because an answer before the end is lost with the connection.
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
 * Streams the bytes of a body that is too large to hold, with backpressure. When the consumer stops early, the remaining bytes are thrown
 * away, so that the answer arrives. Throws MALFORMED_REQUEST when the client goes away, and `breakOff`'s fault.
 */
export async function* streamBody(request: IncomingMessage): AsyncGenerator<Buffer> {
  if (request.destroyed || broken.has(request)) throw brokenBy(request);
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => undefined); // avoids an unhandled rejection when no read is pending
  readings.set(request, over.reject);
  const parts = request.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const next = (await Promise.race([parts.next(), over.promise])) as IteratorResult<Buffer, undefined>;
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    throw error instanceof Fault ? error : new Fault("MALFORMED_REQUEST", { internal: error });
  } finally {
    void parts.return?.().then(() => request.resume());
  }
}

/** The fault for a request that does not arrive in time: 408. */
export function lateFault(): Fault {
  return new Fault("MALFORMED_REQUEST", { status: 408, message: "The request did not arrive in time." });
}

const brokenBy = (request: IncomingMessage): Fault => broken.get(request) ?? new Fault("MALFORMED_REQUEST");

/** Aborts the reading of an incomplete body with a fault. Whoever reads it later gets the same fault. */
export function breakOff(request: IncomingMessage, fault: Fault): void {
  broken.set(request, fault);
  readings.get(request)?.(fault);
}

function grown(held: Buffer, size: number, needed: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(BODY_MAX_BYTES, Math.max(needed, 2 * size)));
  held.copy(larger, 0, 0, size);
  return larger;
}
