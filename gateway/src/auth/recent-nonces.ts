// The newest nonces that this process was sent. They refuse a replay early, and admit nothing: whether a nonce is new, the database alone decides.
import { type Micros, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { NewestMap } from "../ground/newest.ts";
import type { Nonce } from "./nonces.sql.ts";

const NONCES_MAX = 8_192;

export class RecentNonces {
  /** Until when each is good, in Unix seconds, by digest. */
  private readonly ends = new NewestMap<string, number>(NONCES_MAX);

  /** Throws SIGNATURE_REPLAYED for a nonce in use, before the request is counted: a burst of replays would use up the client's quota. */
  refuseRepeated({ digest, validUntil }: Nonce, now: Micros): void {
    const isRepeated = (this.ends.get(digest) ?? 0) >= Math.floor(now / SECOND);
    this.ends.set(digest, validUntil);
    if (isRepeated) throw new Fault("SIGNATURE_REPLAYED");
  }

  /** Forgets the nonce of a request that failed, because it may not have been consumed. */
  forget({ digest }: Nonce): void {
    this.ends.delete(digest);
  }
}
