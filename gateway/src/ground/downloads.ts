// Limits of long downloads, such as a whole book: how many run at once, for how long, and only while their reader may see what they hold.
import { Readable, type Writable, finished } from "node:stream";
import { stopwatchMs } from "./clock.ts";
import { Fault } from "./fault.ts";
import type { Reply } from "./reply.ts";

/** A download that takes longer is cut off: its reader is too slow, and others wait for the place. */
const WITHIN_MS = 30 * 60_000;
/** Interval at which a download asks whether its reader may still see it. */
const ALLOWED_EVERY_MS = 5_000;

/** Downloads that may run at once. Each takes minutes, and uses a database connection now and then. */
interface DownloadLimits {
  inAll: number;
  /** Downloads at once that count for the same `whose`. */
  each: number;
}

export interface Download {
  chunks: AsyncGenerator<string>;
  contentType: string;
  /** The name under which a browser saves it. */
  saveAs: string;
}

export interface Reader {
  /** The operator's name or the merchant whose limit the download counts against. */
  whose: string;
  /** Throws when the reader may no longer see the download. */
  stillAllowed: () => Promise<void>;
}

export class Downloads {
  private readonly limits: DownloadLimits;
  /** The `whose` of each running download. */
  private readonly running: string[] = [];

  constructor(limits: DownloadLimits) {
    this.limits = limits;
  }

  /** Takes a place, and gives a function that leaves it. Throws RATE_LIMITED at the limit of `whose`, SERVICE_UNAVAILABLE at the limit of all. */
  enter(whose: string): () => void {
    const { running, limits } = this;
    const isOwn = running.filter((one) => one === whose).length >= limits.each;
    if (isOwn || running.length >= limits.inAll)
      throw new Fault(isOwn ? "RATE_LIMITED" : "SERVICE_UNAVAILABLE", {
        message: "Too many downloads like this are under way already. Try again when one is done.",
        retryAfterSeconds: 10,
      });
    running.push(whose);
    return () => void running.splice(running.indexOf(whose), 1);
  }

  /** Gives a reply that streams the download. Throws what `enter` throws. */
  begin({ chunks, contentType, saveAs }: Download, { whose, stillAllowed }: Reader): Reply {
    const hold = this.take(whose);
    const stream = Readable.from(whileAllowed(chunks, stillAllowed));
    hold(stream);
    return { status: 200, body: "", contentType, stream, saveAs };
  }

  /** Takes a place as `enter`. Gives a function that leaves it when this stream closes, and closes one that takes too long. */
  take(whose: string): (stream: Readable | Writable) => void {
    const leave = this.enter(whose);
    return (stream) => {
      const late = setTimeout(() => stream.destroy(), WITHIN_MS).unref();
      finished(stream, () => {
        clearTimeout(late);
        leave();
      });
    };
  }
}

/** Passes chunks on, and calls `stillAllowed` every `everyMs` milliseconds. Throws what `stillAllowed` throws. */
export async function* whileAllowed(
  chunks: AsyncGenerator<string>,
  stillAllowed: () => Promise<void>,
  everyMs = ALLOWED_EVERY_MS,
): AsyncGenerator<string> {
  let asked = stopwatchMs();
  for await (const chunk of chunks) {
    if (stopwatchMs() - asked >= everyMs) {
      await stillAllowed();
      asked = stopwatchMs();
    }
    yield chunk;
  }
}
